import type { RecordedStep } from '#shared/db/forks/recorded.ts';
import type { Pool } from '#shared/db/pool.ts';
import { beginStep } from '#shared/db/steps/steps.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import type { Done } from '#shared/db/steps/done.ts';
import { type StepCall, UNKNOWN_GUARD } from '#shared/execution.ts';
import type { RehearsalRules } from '#shared/graph/call-parts.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json } from '#shared/json.ts';
import type { Effects } from '#shared/platform/egress/effects.ts';
import { isPureTool, isTimer, workflowOf, writes } from '#shared/tools.ts';
import { CLAIM_MS } from '#activities/step-context.ts';

/**
 * Steps of a rehearsal, and those of a fork behind a gate that is asked again. A step takes its result from the other
 * run's record of the step with the same node and input. Without a record, a fork executes it. A rehearsal executes it
 * if it only computes, or if the request allows it by name; otherwise the rehearsal ends. Policies and budgets apply to
 * what is executed.
 */

/** What a step would do. */
export interface Effect {
  /** What the request must allow. */
  name: string;
  /** Why no request can allow it. */
  refusal?: string;
}

/** What a step would do outside the service; undefined for a step that only computes. */
export function effectOf({
  node,
  params,
  secrets = [],
  rehearsal,
}: Pick<StepCall, 'node' | 'params' | 'secrets' | 'rehearsal'>): Effect | undefined {
  if (node.kind === 'agent') return { name: 'agent' };
  if (node.kind === 'code') return undefined;
  const { tool_name: tool } = node;
  if (isPureTool(tool) || isTimer(tool)) return undefined;
  if (workflowOf(tool) !== undefined) return { name: 'workflow' };
  const method = methodOf(params);
  const name = tool === 'http_request' ? `${tool}:${method}` : tool;
  const sent = secrets.find(({ depth }) => depth !== undefined);
  if (sent !== undefined) {
    const refusal = `it tells somebody the address of the callback '${sent.name}', and no rehearsal waits for one: start an ordinary run`;
    return { name, refusal };
  }
  const guard = rehearsal?.guard === undefined ? UNKNOWN_GUARD : rehearsal.guard;
  return guard === null || !writes(tool, method) ? { name } : { name, refusal: refusedBy(guard) };
}

const refusedBy = (guard: string): string =>
  `${guard} stands before it, and no one decides that in a rehearsal: start an ordinary run`;

const methodOf = (params: StepCall['params']): string => {
  const { method } = params;
  return typeof method === 'string' ? method.toUpperCase() : 'GET';
};

const allows = ({ allow }: RehearsalRules, effect: Effect | undefined): boolean =>
  effect === undefined || (effect.refusal === undefined && allow.includes(effect.name));

/** The effects that a step may have; undefined for a step of an ordinary run, which may have any. */
export function effectsOf(call: StepCall): Effects | undefined {
  if (call.rehearsal === undefined) return undefined;
  const effect = effectOf(call);
  const requests = effect !== undefined && allows(call.rehearsal, effect);
  const isRequest = call.node.kind === 'tool' && call.node.tool_name === 'http_request';
  return isRequest ? { requests, method: methodOf(call.params) } : { requests };
}

/**
 * The end of a step that is not executed; undefined when it must be executed. `inputOf` returns the input as stored.
 * Without rules, it is a step of a fork.
 */
export async function endOf(
  { step_key: stepKey, inputOf }: { step_key: string; inputOf: () => Promise<Json> },
  record: RecordedStep | undefined,
  rules: RehearsalRules | undefined,
  effect: Effect | undefined,
): Promise<(Done & { input: Json }) | undefined> {
  if (record !== undefined && (record.status === 'success' || rules?.failures !== 'execute')) {
    const { input, output, ...recorded } = record;
    return { input, output, recorded };
  }
  if (rules === undefined || allows(rules, effect)) return undefined;
  const hint = effect?.refusal ?? `allow '${effect?.name}' to execute it`;
  const error = `Step '${stepKey}' has no record with this input: ${hint}`;
  const end = { status: 'unrecorded', error, kind: null, errors: 0, model: null } as const;
  return { output: null, input: await inputOf(), recorded: { ...end, reusedFrom: null } };
}

/** A call that a person must approve. */
export const approvedCall = (effect: Effect | undefined): Effect => ({
  name: effect?.name ?? '',
  refusal: 'it needs approval, so no rehearsal executes it',
});

/** The initial fields of a step of a rehearsal that is not executed. */
export const notExecuted = (workspaceId: string) => ({
  claim: '',
  claimMs: CLAIM_MS,
  judged: { workspaceId, revision: 0, verdicts: [] },
});

/** The state of a step that is not executed. */
type Rehearsed =
  | { state: 'success'; output: Json }
  | { state: 'failed' | 'unrecorded'; error: string; kind: ErrorKind; attempts: number }
  /** The run does not accept work from this execution. */
  | { state: 'gone' };

export async function endStep(db: Pool, step: StepBeginning, done: Done): Promise<Rehearsed> {
  const begun = await beginStep(db, step, done);
  if (begun.outcome === 'finished') return { state: 'success', output: begun.output };
  if (begun.outcome !== 'begun' && begun.outcome !== 'failed') return { state: 'gone' };
  const { recorded } = done;
  if (recorded === undefined || recorded.status === 'success') {
    return { state: 'success', output: done.output };
  }
  const { status: state, error, kind, errors } = recorded;
  return { state, error: error ?? 'failed', kind: kind ?? 'node', attempts: Math.max(1, errors) };
}
