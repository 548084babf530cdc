import type { Policies } from '#shared/contract/policies/policy.ts';
import { AppError } from '#shared/errors.ts';
import { type CheckedGraph, checkGraph } from '#shared/graph/graph-check.ts';
import { diffGraphs, type GraphDiff } from '#shared/graph/diff.ts';
import type {
  GatesConsequences,
  GatesInSituation,
} from '#shared/graph/consequences/gate-consequences.ts';
import type { DryRunAnalysis, DryRunRequest } from '#shared/graph/dry-run/request.ts';
import type { GateReads, ReadsRequest } from '#shared/graph/gates/repeated-reads.ts';
import type { NodeState, NodeStateTexts } from '#shared/graph/forks/node-state.ts';
import type { DigestedPlan, ForkTexts } from '#shared/graph/forks/plan.ts';
import type { RehearsalPlan, RehearsalTexts } from '#shared/graph/forks/rehearsal.ts';
import { type WeakenedWrite, unknownWrites } from '#shared/graph/guards/weakened-writes.ts';
import { evaluateExpression, ExpressionError } from '#shared/graph/expression/expression.ts';
import { weighJson } from '#shared/graph/json-value.ts';
import { hasCode } from '#shared/graph/validate/code.ts';
import type { ValidationContext } from '#shared/graph/validate/context.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import {
  type CompiledPolicies,
  fallbackVerdictOf,
  type Judgment,
  judgeStep,
  type StepToJudge,
  unjudged,
} from '#shared/policies/judge.ts';
import { policyPatternProblem } from '#shared/policies/patterns.ts';
import {
  type ComparedTexts,
  type GuardedTexts,
  jobs,
  type Outcome,
  type SchemaOutcome,
  type SchemaToCheck,
} from './jobs.ts';
import { isQuickInput } from './quick-input.ts';
import { WorkLimitError, workThreads } from './threads.ts';

/**
 * Evaluates tenants' texts. Up to 20 ms of work run directly. If that is not enough, a thread starts again from the
 * beginning, with the same result. Only the caller waits.
 */

/**
 * Where a step's texts are evaluated: first here, and on a thread if that is not enough (the default); only here; or
 * directly on a thread, for texts known to be costly.
 */
export type Place = 'here-first' | 'here' | 'thread';

/** How a step's texts are evaluated. */
export interface Evaluating {
  signal?: AbortSignal;
  place?: Place | undefined;
  /**
   * Waits for a thread without a limit, for work after a response that is already paid for, or an effect that has
   * already happened.
   */
  patient?: boolean;
}

/** An evaluation that must not leave this thread exceeds the limit here. */
export class CostlyError extends Error {
  override readonly name = 'CostlyError';

  constructor() {
    super('It takes longer to compute than allowed here');
  }
}

/** The limit of an expression if only direct evaluation is allowed: at most 2 ms. */
const TINY_WORK = SMALL_WORK / 10;

/**
 * An expression's value over a scope, or its error. Throws WorkBusyError, CostlyError, and the signal's reason on
 * abort.
 */
export async function evaluateUntrusted(
  workspaceId: string,
  expression: string,
  scope: JsonObject,
  { place = 'here-first', ...waiting }: Evaluating = {},
): Promise<Outcome<Json>> {
  if (place !== 'thread') {
    const budget = { work: place === 'here' ? TINY_WORK : SMALL_WORK };
    try {
      return { value: evaluateExpression(expression, scope, budget) };
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      if (budget.work >= 0) return { problem: error.message };
    }
    if (place === 'here') throw new CostlyError();
  }
  try {
    return await workThreads.run(workspaceId, 'evaluate', { expression, scope }, waiting);
  } catch (error) {
    if (error instanceof WorkLimitError) return { problem: `The expression: ${error.message}` };
    throw error;
  }
}

/** A workspace's compiled policies, and the JSON that identifies them on threads. */
export interface JudgingPolicies {
  compiled: CompiledPolicies;
  json: string;
}

/**
 * The policy verdicts of a step; see `judgeStep`. A step that cannot be judged in time is refused. Throws
 * WorkBusyError, CostlyError, and the signal's reason on abort.
 */
export async function judgeUntrusted(
  workspaceId: string,
  { compiled, json }: JudgingPolicies,
  step: StepToJudge,
  { place = 'here-first', ...waiting }: Evaluating = {},
): Promise<Judgment> {
  if (place !== 'thread') {
    const budget = { work: SMALL_WORK };
    const judgment = judgeStep(compiled, step, { budget });
    if (budget.work >= 0) return judgment;
    if (place === 'here') throw new CostlyError();
  }
  try {
    const there = await workThreads.run(workspaceId, 'judge', { policies: json, step }, waiting);
    return { ...there, fallbackVerdict: fallbackVerdictOf(compiled) };
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    return unjudged(
      compiled,
      `looking through it by the workspace's policies failed: ${error.message}`,
    );
  }
}

/** Policy patterns that are compiled directly: the few short ones that most policies have. */
const FEW_PATTERNS = { count: 20, length: 40 };

/** Throws AppError `invalid` for a pattern that is invalid in RE2 or takes too long to compile, and WorkBusyError. */
export async function checkPolicyPatterns(workspaceId: string, policies: Policies): Promise<void> {
  const patterns = patternsOf(policies);
  const few =
    patterns.length <= FEW_PATTERNS.count &&
    patterns.every(({ length }) => length <= FEW_PATTERNS.length);
  let problem;
  try {
    problem = few
      ? policyPatternProblem(policies)
      : await workThreads.run(workspaceId, 'policyPatterns', { policies });
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    const path = error.at === '' ? 'patterns' : error.at;
    problem = {
      path,
      message: 'and the patterns before it take too long to compile: use fewer or simpler ones',
    };
  }
  if (problem !== undefined) {
    throw new AppError('invalid', `Invalid body: ${problem.path} ${problem.message}`);
  }
}

const patternsOf = ({ tools, redaction }: Policies): string[] => [
  ...tools.flatMap(({ blocked_arguments: rules = [] }) =>
    rules.flatMap(({ pattern }) => (pattern === undefined ? [] : [pattern])),
  ),
  ...redaction.patterns.map(({ regex }) => regex),
];

/** The problem with a schema for arguments. Throws WorkBusyError. */
export async function schemaProblem(
  workspaceId: string,
  schema: JsonObject,
): Promise<string | undefined> {
  return (await bySchema(() => workThreads.run(workspaceId, 'schema', { schema }))).schemaProblem;
}

/**
 * Why arguments do not match a schema, or the schema's problem. Most are compared directly. Throws WorkBusyError and
 * CostlyError.
 */
export async function argumentsUntrusted(
  workspaceId: string,
  schema: JsonObject,
  args: JsonObject,
  { place, ...waiting }: Omit<Evaluating, 'signal'> = {},
): Promise<SchemaOutcome> {
  if (isQuickInput(schema, args, 'first')) return jobs.arguments({ schema, args });
  if (place === 'here') throw new CostlyError();
  return bySchema(() => workThreads.run(workspaceId, 'arguments', { schema, args }, waiting));
}

/**
 * The problems of schemas, by position. All share the time of one job, so that a graph of many nodes cannot bypass its
 * limit: the schema that exceeds it has a problem, and those after it are not checked. Throws WorkBusyError.
 */
export async function schemaProblems(
  workspaceId: string,
  schemas: readonly SchemaToCheck[],
): Promise<{ at: number; problem: string }[]> {
  try {
    const outcomes = await workThreads.run(workspaceId, 'schemas', { schemas });
    return outcomes.flatMap(({ schemaProblem: problem }, at) =>
      problem === undefined ? [] : [{ at, problem }],
    );
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    const at = Number(error.at);
    const also = at === 0 ? '' : ', with those before it';
    return [{ at, problem: `takes more than ${error.limit} to check${also}: use a simpler one` }];
  }
}

/** The problem of a schema for input from people, for runs or decisions. Throws WorkBusyError. */
export async function formSchemaProblem(
  workspaceId: string,
  schema: JsonObject,
): Promise<string | undefined> {
  const [found] = await schemaProblems(workspaceId, [{ schema, isForm: true }]);
  return found?.problem;
}

/**
 * Why an input does not match a schema, with the path of each problem, or the schema's problem. Most inputs are
 * compared directly, so that many runs can start at once. Throws WorkBusyError.
 */
export async function inputUntrusted(
  workspaceId: string,
  schema: JsonObject,
  value: JsonObject,
): Promise<SchemaOutcome> {
  if (isQuickInput(schema, value, 'all')) return jobs.input({ schema, value });
  return bySchema(() => workThreads.run(workspaceId, 'input', { schema, value }));
}

/**
 * Why a model's response does not match its node's schema. Waits without a limit, because the response is already paid
 * for.
 */
export async function answerUntrusted(
  workspaceId: string,
  schema: JsonObject,
  answer: Json,
): Promise<SchemaOutcome> {
  if (isQuickInput(schema, answer, 'all')) return jobs.answer({ schema, answer });
  return bySchema(() =>
    workThreads.run(workspaceId, 'answer', { schema, answer }, { patient: true }),
  );
}

async function bySchema(work: () => Promise<SchemaOutcome>): Promise<SchemaOutcome> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    return { schemaProblem: `cannot be used: ${error.message}` };
  }
}

/** The size of a graph that is checked directly, in values and characters. */
const SMALL_GRAPH = { values: 2_000, length: 50_000 };

function isSmall(graph: unknown): boolean {
  const { values, length } = weighJson((graph ?? null) as Json, SMALL_GRAPH.values);
  return values <= SMALL_GRAPH.values && length <= SMALL_GRAPH.length;
}

/** Checks a graph; see `checkGraph`. Throws AppError `invalid` when it takes too long, and WorkBusyError. */
export async function checkGraphUntrusted(
  workspaceId: string,
  graph: unknown,
  context: ValidationContext,
): Promise<CheckedGraph> {
  if (isSmall(graph) && !hasCode(graph)) return checkGraph(graph, context);
  return withinLimits('The graph cannot be checked', () =>
    workThreads.run(workspaceId, 'checkGraph', { graph, context }),
  );
}

/**
 * The differences between two graphs; see `diffGraphs`. Throws AppError `invalid` when it takes too long, and
 * WorkBusyError.
 */
export async function diffGraphsUntrusted(
  workspaceId: string,
  from: unknown,
  to: unknown,
): Promise<GraphDiff> {
  if (isSmall(from) && isSmall(to)) return diffGraphs(from, to);
  return withinLimits('The versions cannot be compared', () =>
    workThreads.run(workspaceId, 'diffGraphs', { from, to }),
  );
}

/** What a fork takes over; see `planFork`. Throws AppError `invalid` when it takes too long, and WorkBusyError. */
export const planForkUntrusted = (workspaceId: string, request: ForkTexts): Promise<DigestedPlan> =>
  withinLimits('The fork cannot be planned', () =>
    workThreads.run(workspaceId, 'planFork', request),
  );

/** What a rehearsal takes over; see `planRehearsal`. Throws like `planForkUntrusted`. */
export const planRehearsalUntrusted = (
  workspaceId: string,
  request: RehearsalTexts,
): Promise<RehearsalPlan> =>
  withinLimits('The rehearsal cannot be planned', () =>
    workThreads.run(workspaceId, 'planRehearsal', request),
  );

/** The guards before the nodes of a graph; see `guardedNodes`. Throws like `planForkUntrusted`. */
export async function guardedNodesUntrusted(
  workspaceId: string,
  request: GuardedTexts,
): Promise<Record<string, string>> {
  const alone = Object.keys(request.children).length === 0;
  if (alone && isSmall(request.graph)) return jobs.guardedNodes(request);
  return withinLimits('The gates of the graph cannot be found', () =>
    workThreads.run(workspaceId, 'guardedNodes', request),
  );
}

/**
 * The writes for which a graph requires less approval than the current one; see `weakenedWrites`. All of its writes if the
 * two cannot be compared. Throws WorkBusyError.
 */
export async function weakenedWritesUntrusted(
  workspaceId: string,
  request: ComparedTexts,
): Promise<WeakenedWrite[]> {
  const alone = Object.keys(request.children).length === 0;
  const here = alone && isSmall(request.graph) && isSmall(request.current);
  try {
    const less = here
      ? await jobs.weakenedWrites(request)
      : await workThreads.run(workspaceId, 'weakenedWrites', request);
    return less ?? unknownWrites(request.graph);
  } catch (error) {
    if (error instanceof WorkLimitError) return unknownWrites(request.graph);
    throw error;
  }
}

/** The initial state of a step; see `nodeState`. Throws like `planForkUntrusted`. */
export const nodeStateUntrusted = (
  workspaceId: string,
  request: NodeStateTexts,
): Promise<NodeState> =>
  withinLimits('The state of the step cannot be computed', () =>
    workThreads.run(workspaceId, 'nodeState', request),
  );

/** What a gate depends on; see `gateReads`. Throws like `planForkUntrusted`. */
export const readsUntrusted = (workspaceId: string, request: ReadsRequest): Promise<GateReads> =>
  withinLimits('What the gate depends on cannot be found', () =>
    workThreads.run(workspaceId, 'gateReads', request),
  );

/** What a run can do; see `dryRun`. Throws AppError `invalid` when it takes too long, and WorkBusyError. */
export const dryRunUntrusted = (
  workspaceId: string,
  request: DryRunRequest,
): Promise<DryRunAnalysis> =>
  withinLimits('The dry run cannot be computed', () =>
    workThreads.run(workspaceId, 'dryRun', request),
  );

/** What each answer to gates sets in motion; see `gatesConsequences`. Throws like `dryRunUntrusted`. */
export const consequencesUntrusted = (
  workspaceId: string,
  request: GatesInSituation,
): Promise<GatesConsequences | undefined> =>
  withinLimits('What follows the gate cannot be computed', () =>
    // Without it, a gate would open without showing anything.
    workThreads.run(workspaceId, 'consequences', request, { patient: true }),
  );

/** The size of texts whose digests are computed directly, in characters. */
const SMALL_TEXTS = 50_000;

/** The digests of JSON texts; see `jsonDigest`. Throws like `dryRunUntrusted`. */
export async function digestsUntrusted(
  workspaceId: string,
  texts: readonly string[],
): Promise<string[]> {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= SMALL_TEXTS) return jobs.digests({ texts });
  return withinLimits('The digests cannot be computed', () =>
    workThreads.run(workspaceId, 'digests', { texts }, { patient: true }),
  );
}

async function withinLimits<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof WorkLimitError) throw new AppError('invalid', `${what}: ${error.message}`);
    throw error;
  }
}
