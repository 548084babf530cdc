import type { Actor } from '#shared/people/actor.ts';
import { allowsEffect, type Rehearsal } from '#shared/contract/forks/fork.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { readPolicies } from '#shared/db/policies/policies.ts';
import { readRehearsedChild } from '#shared/db/forks/recorded.ts';
import {
  type ForkPlace,
  type ForkSource,
  readForkSource,
  readResults,
} from '#shared/db/forks/source.ts';
import type { Fork, RehearsalRequest, RunRequest } from '#shared/db/runs/run-request.ts';
import { findCalled } from '#shared/db/children/called-workflows.ts';
import { findCustomTool } from '#shared/db/tools/custom-tools.ts';
import { AppError } from '#shared/errors.ts';
import { UNKNOWN_GUARD } from '#shared/execution.ts';
import type { RehearsalRules } from '#shared/graph/call-parts.ts';
import type { DigestedPlan } from '#shared/graph/forks/plan.ts';
import type { RehearsalPlan } from '#shared/graph/forks/rehearsal.ts';
import { calledIn, callKey } from '#shared/graph/children/called-workflows.ts';
import { isWaiting } from '#shared/graph/kinds.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Pool } from '#shared/db/pool.ts';
import { planRehearsalUntrusted } from '#shared/platform/threads/untrusted.ts';
import { compilePolicies, judgeStep } from '#shared/policies/judge.ts';
import { customToolName } from '#shared/tools.ts';
import { guardedNodesOf } from '#shared/operations/guards/guarded-nodes.ts';
import type { RunDeps } from './runs.ts';

/**
 * Rehearsals: runs that take the results of their steps from another run's record. Results that are known before the
 * start are copied when the run is admitted; the workers look up the others when they reach the step.
 */

/** How a request rehearses, with defaults. */
export const rehearsalOf = ({ allow = [], failures, decisions }: RehearsalFields): Rehearsal => ({
  allow: [...new Set(allow)],
  failures: failures ?? 'recorded',
  decisions: decisions ?? {},
});

export interface RehearsalFields {
  mode?: 'recorded' | undefined;
  allow?: readonly string[] | undefined;
  failures?: Rehearsal['failures'] | undefined;
  decisions?: Rehearsal['decisions'] | undefined;
  /** Whether the member's pinned outputs are used. */
  pins?: boolean | undefined;
}

/** A run to rehearse, and the differences. */
interface Rehearsed {
  workspaceId: string;
  runId: string;
  source: ForkSource;
  graph: Graph;
  input: JsonObject;
  place?: ForkPlace | undefined;
  state?: JsonObject | undefined;
  /** Nodes with pinned outputs. */
  pinned?: string[] | undefined;
  guarded: RehearsalRequest['guarded'];
}

/** Reads the record of a run and plans its rehearsal. Throws AppError `unprocessable`, `invalid`. */
export async function planRehearsal(
  db: Pool,
  { workspaceId, runId, source, graph, input, place, state, pinned, guarded }: Rehearsed,
  rehearsal: Rehearsal,
): Promise<{ plan: RehearsalPlan; request: RehearsalRequest }> {
  const results = await readResults(db, runId);
  const plan = await planRehearsalUntrusted(workspaceId, {
    recorded: { ...source, ...results },
    graph,
    input,
    from: place?.stepKey,
    turn: place?.turn,
    state,
    decided: Object.keys(rehearsal.decisions),
    effects: allowsEffect(rehearsal.allow),
    pinned: pinned ?? [],
    retries: rehearsal.failures === 'execute',
  });
  const request = { ...rehearsal, failed: plan.failed, digests: plan.digests, guarded };
  return { plan, request: pinned === undefined ? request : { ...request, pinned } };
}

/** A step of a rehearsal that starts a run. */
interface RehearsedCall {
  workspaceId: string;
  workflowId: string;
  version?: number | undefined;
  run_id: string;
  step_key: string;
  input: JsonObject;
  rules: RehearsalRules;
}

/** Appended to the guard before the step that starts the run. */
const ABOVE = ' in a run above';

/**
 * The rehearsal of a child that a step of a rehearsal starts: it rehearses the child that this step started in the
 * recorded run, if there is one, with the same rules and decisions.
 */
export async function rehearsalOfChild(
  { db, findRunnable }: Pick<RunDeps, 'db' | 'findRunnable'>,
  {
    workspaceId,
    workflowId,
    version,
    run_id: runId,
    step_key: stepKey,
    input,
    rules,
  }: RehearsedCall,
): Promise<Pick<RunRequest, 'fork' | 'rehearsal'>> {
  const { child, decisions } = await readRehearsedChild(db, { runId, stepKey });
  const { allow, failures, guard = UNKNOWN_GUARD } = rules;
  const rehearsal: Rehearsal = { allow, failures, decisions };
  const wanted = { workspaceId, workflowId, version };
  const { graph } = (await findRunnable(db, wanted, true)) ?? {};
  const above = guard === null || guard.endsWith(ABOVE) ? (guard ?? undefined) : guard + ABOVE;
  // One that cannot run is refused at admission.
  const guarded =
    graph === undefined ? {} : await guardedNodesOf(db, { workspaceId, graph, above });
  if (child === null || graph === undefined) {
    return { rehearsal: { ...rehearsal, failed: [], digests: {}, guarded } };
  }
  const source = await readForkSource(db, { workspaceId, runId: child });
  const from = { workspaceId, runId: child, source, graph, input, guarded };
  const { plan, request } = await planRehearsal(db, from, rehearsal);
  return { fork: forkOf(child, undefined, plan), rehearsal: request };
}

/** What a run takes over from the run it starts from, according to the plan. */
export function forkOf(
  sourceId: string,
  from: { fromStep: string; place: ForkPlace } | undefined,
  { laid, kept, begun, digests }: DigestedPlan,
): Fork {
  const { stepKey = '', turn = 1 } = from?.place ?? {};
  // Behind a gate that is asked again, the turns are looked up when they are reached.
  const continues = turn > 1 && !Object.hasOwn(digests, stepKey);
  const turns = continues ? [{ agent: stepKey, before: turn }] : [];
  return {
    sourceId,
    fromStep: from?.fromStep,
    laid,
    copies: { sourceId, kept, turns, begun },
    ...(Object.keys(digests).length === 0 ? {} : { digests }),
  };
}

/** Throws AppError `unprocessable` for a tool that does not exist or that the policies forbid in this workflow. */
export async function requireAllowed(
  db: Pool,
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  workflowId: string,
  allow: readonly string[],
): Promise<void> {
  if (allow.length === 0) return;
  const { policies } = await readPolicies(db, workspaceId);
  const compiled = compilePolicies({ ...policies, redaction: unrestricted.redaction });
  for (const name of allow) {
    const custom = customToolName(name);
    if (
      custom !== undefined &&
      (await findCustomTool(db, { workspaceId, name: custom })) === undefined
    ) {
      throw refused(name, 'there is no such tool');
    }
    const [tool_name = '', method] = custom === undefined ? name.split(':') : [name];
    const params: JsonObject = method === undefined ? {} : { method };
    const node = { id: '', kind: 'tool', tool_name, params } as const;
    const { refusal } = judgeStep(compiled, { workflowId, node, params, state: {} });
    if (refusal !== undefined) throw refused(name, `a policy forbids it: ${refusal}`);
  }
}

/** The maximum number of graphs in which gates are searched. Runs beyond them are stopped by their depth. */
const MAX_GRAPHS = 100;

/**
 * Throws AppError `unprocessable` for a decision about a gate that no graph of the rehearsal has: its own and, with
 * `workflow` in `allow`, those of the workflows that it calls. An agent with tools also counts as a gate.
 */
export async function requireGates(
  { db, findRunnable }: Pick<RunDeps, 'db' | 'findRunnable'>,
  workspaceId: string,
  graph: Graph,
  { decisions, allow }: Pick<Rehearsal, 'decisions' | 'allow'>,
): Promise<void> {
  const gates = new Set(gatesIn(graph));
  const unknown = () => Object.keys(decisions).find((key) => !gates.has(key.split(/[#/]/, 1)[0]!));
  const called = allow.includes('workflow') ? calledIn(graph as unknown as Json) : [];
  const seen = new Set<string>();
  for (const call of called) {
    if (unknown() === undefined || seen.size >= MAX_GRAPHS) break;
    if (seen.has(callKey(call))) continue;
    seen.add(callKey(call));
    const { id: workflowId } = await findCalled(db, { workspaceId, ...call });
    const { version } = call;
    const wanted = { workspaceId, workflowId, version };
    const inner = (await findRunnable(db, wanted, false))?.graph;
    if (inner === undefined) continue;
    for (const id of gatesIn(inner)) gates.add(id);
    called.push(...calledIn(inner as unknown as Json));
  }
  const key = unknown();
  if (key === undefined) return;
  const named = [...gates].map((id) => `'${id}'`).join(', ');
  const hint =
    gates.size === 0 ? 'there is no gate to decide' : `name ${named}, or a step key of one`;
  throw new AppError('unprocessable', `decisions: '${key}' is no gate of this rehearsal: ${hint}`);
}

const gatesIn = ({ nodes }: Graph): string[] =>
  nodes
    .filter((node) => isWaiting(node) || (node.kind === 'agent' && node.tools !== undefined))
    .map(({ id }) => id);

const refused = (name: string, why: string): AppError =>
  new AppError(
    'unprocessable',
    `'${name}' cannot be allowed, because ${why}; leave it out of allow`,
  );
