import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { EvaluationCheck, Evals } from '#shared/contract/workflows/evaluation-check.ts';
import type { Policies } from '#shared/contract/policies/policy.ts';
import { createBoundedCache } from '#shared/values/bounded-cache.ts';
import type { CheckedRun, StoredRun } from '#shared/graph/checks.ts';
import type {
  GatesConsequences,
  GatesInSituation,
} from '#shared/graph/consequences/gate-consequences.ts';
import type { DryRunAnalysis, DryRunRequest } from '#shared/graph/dry-run/request.ts';
import type { NodeState, NodeStateTexts } from '#shared/graph/forks/node-state.ts';
import type { DigestedPlan, ForkTexts, PlannedFork } from '#shared/graph/forks/plan.ts';
import type { RehearsalPlan, RehearsalTexts } from '#shared/graph/forks/rehearsal.ts';
import type { GateReads, ReadsRequest } from '#shared/graph/gates/repeated-reads.ts';
import type { GraphDiff } from '#shared/graph/diff.ts';
import type { WeakenedWrite } from '#shared/graph/guards/weakened-writes.ts';
import type { CheckedGraph } from '#shared/graph/graph-check.ts';
import type { ValidationContext } from '#shared/graph/validate/context.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { ImportedDocument, ImportOptions } from '#shared/openapi/imported.ts';
import type { Comparison, RecordedStep } from '#shared/policies/backtest.ts';
import type { CompiledPolicies, Judgment, StepToJudge } from '#shared/policies/judge.ts';
import type { PolicyPatternProblem } from '#shared/policies/patterns.ts';
import type { CodeLanguage } from '#shared/platform/code/source.ts';
import type { DrawnChildren } from './drawn-children.ts';

/** The processor time for all checks of a run. After it, no further check starts. */
const MAX_CHECKS_MS = 1_000;
/** Enough for many searches; the limit of a single search applies first. */
const AMPLE_WORK = 1_000_000_000;
/** For judging one step. */
const JUDGING_WORK = 100_000_000;
/** Workspaces whose compiled policies a thread caches. */
const MAX_POLICIES = 20;

/** A result, or the error for invalid input. */
export type Outcome<Value> = { value: Value } | { problem: string };
/** An invalid schema, or a value that does not match it; neither if it matches. */
export interface SchemaOutcome {
  schemaProblem?: string;
  problem?: string;
}

/** A graph, and the workflows that it calls as stored; see `guardedNodes`. */
export interface GuardedTexts {
  graph: Graph;
  children: DrawnChildren;
  above?: string | undefined;
}

/** `isForm`: by the rules for input from people; see `checkInputSchema`. */
export interface SchemaToCheck {
  schema: JsonObject;
  isForm: boolean;
}

/** A graph, the stored current graph of its workflow, and the workflows that both call; see `weakenedWrites`. */
export interface ComparedTexts {
  graph: Graph;
  current: Json;
  children: DrawnChildren;
}

/** The text of an OpenAPI document, and what to import from it. */
export interface OpenApiText {
  text: string;
  options: ImportOptions;
}

export type OpenApiOutcome =
  | { problem: string }
  | { document: Omit<ImportedDocument, 'operations'>; operations: string[] };

type Report = (what: string) => void;

/**
 * The jobs of threads, by name. Arguments and results can be sent between threads, and modules are loaded on first use:
 * a thread that only evaluates expressions is ready in a tenth of a second.
 */
export const jobs = {
  /** The value of an expression over a scope. */
  evaluate: async (input: { expression: string; scope: JsonObject }): Promise<Outcome<Json>> => {
    const { evaluateExpression, ExpressionError } =
      await import('#shared/graph/expression/expression.ts');
    try {
      return { value: evaluateExpression(input.expression, input.scope) };
    } catch (error) {
      if (error instanceof ExpressionError) return { problem: error.message };
      throw error;
    }
  },

  checks: async (
    input: { checks: EvaluationCheck[]; run: CheckedRun | StoredRun },
    report: Report,
  ): Promise<Evals> => {
    const { evaluateChecks, parseChecked } = await import('#shared/graph/checks.ts');
    const spent = stopwatch();
    const run =
      typeof input.run.state === 'string'
        ? parseChecked(input.run as StoredRun)
        : (input.run as CheckedRun);
    return evaluateChecks(input.checks, run, {
      budget: { work: AMPLE_WORK },
      outOfTime: () => spent() > MAX_CHECKS_MS,
      onCheck: (name) => report(`check '${name}'`),
    });
  },

  /** `policies` is JSON text: it is sent quickly, and is the key of the compiled policies. */
  judge: async (
    input: { policies: string; step: StepToJudge },
    report: Report,
  ): Promise<Omit<Judgment, 'fallbackVerdict'>> => {
    const { judgeStep } = await import('#shared/policies/judge.ts');
    const policies = await compiledFrom(input.policies);
    const { fallbackVerdict: _here, ...judgment } = judgeStep(policies, input.step, {
      budget: { work: JUDGING_WORK },
      onRule: report,
    });
    return judgment;
  },

  /** A large JSON body: what is in `field` becomes text, so that the rest is small. */
  largeBody: async (input: {
    bytes: Uint8Array;
    field: string;
  }): Promise<Outcome<{ rest: Json; text: string | undefined }>> => {
    const { splitBody } = await import('./large-body.ts');
    return splitBody(input.bytes, input.field);
  },

  /** Compares recorded steps, each a JSON text, with how these policies judge them. `inForce`: see `toTest`. */
  compareSteps: async (
    input: { policies: string; inForce: readonly string[]; steps: readonly string[] },
    report: Report,
  ): Promise<Comparison[]> => {
    const { compilePolicies } = await import('#shared/policies/judge.ts');
    const { compareStep, toTest } = await import('#shared/policies/backtest.ts');
    const policies = JSON.parse(input.policies) as Policies;
    const compiled = policiesToTest(input.policies, () =>
      compilePolicies(policies, { keepMarks: true }),
    );
    const tested = toTest(policies, compiled, input.inForce);
    return input.steps.map((text) =>
      compareStep(tested, JSON.parse(text) as RecordedStep, {
        budget: { work: JUDGING_WORK },
        onRule: report,
      }),
    );
  },

  /** The first invalid RE2 pattern of the policies. */
  policyPatterns: async (
    input: { policies: Policies },
    report: Report,
  ): Promise<PolicyPatternProblem | undefined> => {
    const { policyPatternProblem } = await import('#shared/policies/patterns.ts');
    return policyPatternProblem(input.policies, report);
  },

  /** Whether a schema can be used to validate arguments. */
  schema: async (input: { schema: JsonObject }): Promise<SchemaOutcome> => {
    const { checkArgumentSchema } = await import('#shared/platform/calls/argument-schema.ts');
    return judgedBySchema(() => {
      checkArgumentSchema(input.schema);
      return undefined;
    });
  },

  arguments: async (input: { schema: JsonObject; args: JsonObject }): Promise<SchemaOutcome> => {
    const { argumentsProblem } = await import('#shared/platform/calls/argument-schema.ts');
    return judgedBySchema(() => argumentsProblem(input.schema, input.args));
  },

  /** Whether each schema can be used for validation, of input from people if it is a form, or else of any value. */
  schemas: async (
    input: { schemas: readonly SchemaToCheck[] },
    report: Report,
  ): Promise<SchemaOutcome[]> => {
    const { checkArgumentSchema } = await import('#shared/platform/calls/argument-schema.ts');
    const { checkInputSchema } = await import('#shared/platform/calls/input-schema.ts');
    const outcomes: SchemaOutcome[] = [];
    for (const [at, { schema, isForm }] of input.schemas.entries()) {
      report(String(at));
      outcomes.push(
        await judgedBySchema(() => {
          (isForm ? checkInputSchema : checkArgumentSchema)(schema);
          return undefined;
        }),
      );
    }
    return outcomes;
  },

  input: async (input: { schema: JsonObject; value: JsonObject }): Promise<SchemaOutcome> => {
    const { inputProblem } = await import('#shared/platform/calls/input-schema.ts');
    return judgedBySchema(() => inputProblem(input.schema, input.value));
  },

  /** Validates a model's response against the node's response schema. */
  answer: async (input: { schema: JsonObject; answer: Json }): Promise<SchemaOutcome> => {
    const { inputProblem } = await import('#shared/platform/calls/input-schema.ts');
    return judgedBySchema(() => inputProblem(input.schema, input.answer, ''));
  },

  checkGraph: async (input: {
    graph: unknown;
    context: ValidationContext;
  }): Promise<CheckedGraph> => {
    const { checkGraph } = await import('#shared/graph/graph-check.ts');
    const { sourceProblem } = await import('#shared/platform/code/source.ts');
    return checkGraph(input.graph, input.context, sourceProblem);
  },

  planFork: async (request: ForkTexts): Promise<DigestedPlan> => {
    const { planFork, recordedOf } = await import('#shared/graph/forks/plan.ts');
    const { recorded, unusable } = recordedOf(request.recorded);
    return digested(planFork({ ...request, recorded }), unusable);
  },

  planRehearsal: async (request: RehearsalTexts): Promise<RehearsalPlan> => {
    const { recordedOf } = await import('#shared/graph/forks/plan.ts');
    const { planRehearsal } = await import('#shared/graph/forks/rehearsal.ts');
    const { recorded, unusable } = recordedOf(request.recorded);
    return digested(planRehearsal({ ...request, recorded }), unusable);
  },

  guardedNodes: async (input: GuardedTexts): Promise<Record<string, string>> => {
    const { guardedNodes, sightOf } = await import('#shared/graph/guards.ts');
    const { childrenOf } = await import('./drawn-children.ts');
    return guardedNodes(input.graph, sightOf(childrenOf(input.children)), input.above);
  },

  /** Undefined when the current graph cannot run, so that nothing is known about it. */
  weakenedWrites: async (input: ComparedTexts): Promise<WeakenedWrite[] | undefined> => {
    const { graphSchema } = await import('#shared/contract/workflows/graph.ts');
    const { weakenedWrites } = await import('#shared/graph/guards/weakened-writes.ts');
    const { childrenOf } = await import('./drawn-children.ts');
    const current = graphSchema.safeParse(input.current);
    return current.success
      ? weakenedWrites(input.graph, current.data, childrenOf(input.children))
      : undefined;
  },

  /** What a gate depends on. */
  gateReads: async (request: ReadsRequest): Promise<GateReads> => {
    const { gateReads } = await import('#shared/graph/gates/repeated-reads.ts');
    return gateReads(request);
  },

  nodeState: async ({ recorded, pins, ...rest }: NodeStateTexts): Promise<NodeState> => {
    const { recordedOf } = await import('#shared/graph/forks/plan.ts');
    const { nodeState } = await import('#shared/graph/forks/node-state.ts');
    const { recorded: run, unusable } = recordedOf(recorded);
    const [problem] = unusable.values();
    if (problem !== undefined) return { problem };
    const { JsonText } = await import('#shared/values/json-text.ts');
    const outputs = Object.entries(pins).map(([id, text]) => [id, new JsonText(text)] as const);
    return nodeState({ ...rest, recorded: run, pins: Object.fromEntries(outputs) });
  },

  dryRun: async (request: DryRunRequest): Promise<DryRunAnalysis> => {
    const { dryRun } = await import('#shared/graph/dry-run/plan.ts');
    const { judgeStep } = await import('#shared/policies/judge.ts');
    return dryRun(request, { policies: await compiledFrom(request.policies), judgeStep });
  },

  consequences: async (request: GatesInSituation): Promise<GatesConsequences | undefined> => {
    const { gatesConsequences } = await import('#shared/graph/consequences/gate-consequences.ts');
    const { judgeStep } = await import('#shared/policies/judge.ts');
    const policies = await compiledFrom(request.facts.policies);
    const { jsonDigest } = await import('#shared/crypto/json-digest.ts');
    return gatesConsequences(request, { policies, judgeStep }, jsonDigest);
  },

  /** The digests of JSON texts. */
  digests: async (input: { texts: readonly string[] }): Promise<string[]> => {
    const { jsonDigest } = await import('#shared/crypto/json-digest.ts');
    return input.texts.map((text) => jsonDigest(JSON.parse(text) as Json));
  },

  /** Why a source cannot be code. */
  source: async (code: { source: string; language: CodeLanguage }) => {
    const { sourceProblem } = await import('#shared/platform/code/source.ts');
    return sourceProblem(code.source, code.language);
  },

  /** The operations of an OpenAPI document, each as JSON: a text is received faster than thousands of objects. */
  openapi: async ({ text, options }: OpenApiText): Promise<OpenApiOutcome> => {
    const { readDocument } = await import('#shared/openapi/document.ts');
    const { operationsOf } = await import('#shared/openapi/operations.ts');
    const { pinnedParts } = await import('#shared/openapi/imported.ts');
    const { jsonDigest } = await import('#shared/crypto/json-digest.ts');
    const read = readDocument(text);
    if ('problem' in read) return read;
    const imported = operationsOf(read.document, options);
    if ('problem' in imported) return imported;
    const { operations, ...document } = imported;
    const digested = operations.map((each) => ({ ...each, digest: jsonDigest(pinnedParts(each)) }));
    return { document, operations: digested.map((each) => JSON.stringify(each)) };
  },

  diffGraphs: async (input: { from: unknown; to: unknown }): Promise<GraphDiff> => {
    const { diffGraphs } = await import('#shared/graph/diff.ts');
    return diffGraphs(input.from, input.to);
  },
};

/** A plan with the digests of what other steps were executed with, without steps whose results cannot be used. */
async function digested<Plan extends PlannedFork>(
  { others, ...plan }: Plan,
  unusable: ReadonlyMap<string, string>,
) {
  const { withoutUnusable } = await import('#shared/graph/forks/plan.ts');
  const { stepDigest } = await import('#shared/crypto/step-digest.ts');
  const digests = Object.entries(others).flatMap(([key, texts]) =>
    unusable.has(key) ? [] : [[key, stepDigest(texts)]],
  );
  return {
    ...withoutUnusable(plan, unusable),
    digests: Object.fromEntries(digests) as Record<string, string>,
  };
}

const compiledPolicies = createBoundedCache<string, CompiledPolicies>(MAX_POLICIES);
const policiesToTest = createBoundedCache<string, CompiledPolicies>(MAX_POLICIES);

async function compiledFrom(json: string): Promise<CompiledPolicies> {
  const { compilePolicies } = await import('#shared/policies/judge.ts');
  return compiledPolicies(json, () => compilePolicies(JSON.parse(json) as Policies));
}

async function judgedBySchema(judge: () => string | undefined): Promise<SchemaOutcome> {
  const { ArgumentSchemaError } = await import('#shared/platform/calls/argument-schema.ts');
  try {
    const problem = judge();
    return problem === undefined ? {} : { problem };
  } catch (error) {
    if (error instanceof ArgumentSchemaError) return { schemaProblem: error.message };
    throw error;
  }
}

/** Processor time of this thread from now on, in ms; wall-clock time where Node does not report it (before 23.9). */
function stopwatch(): () => number {
  const used = (): number => {
    if (!('threadCpuUsage' in process)) return performance.now();
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  const began = used();
  return () => used() - began;
}
