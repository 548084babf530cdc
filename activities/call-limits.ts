import { ApplicationFailure } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';
import { leaveQueue } from '#shared/db/steps/call-limits.ts';
import { withdrawSignInWait } from '#shared/db/waits/sign-ins.ts';
import type { LimitedCall } from '#shared/db/steps/beginning.ts';
import { FAILURE_NO_SLOT, type StepCall, type WaitForCall } from '#shared/execution.ts';
import type { JsonObject } from '#shared/json.ts';
import type { CallLimit } from '#shared/contract/policies/policy.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import type { StepMetrics } from './step-context.ts';
import { type CountedCall, countedCalls, countedModel, scopeOf } from '#shared/policies/limits.ts';

/** Limits of calls: which of them count a step, and how a step without a free call waits. */

const NOTICES_AT_ONCE = 20;
/** How much of a key is shown. */
const SHOWN_KEY = 200;

/** What a step is called with, and the same as it is stored, redacted by the policies. */
interface Called {
  call: StepCall;
  stored: JsonObject;
}

/**
 * The limits that count a step. Undefined if there are none, except for a step that has waited for one: that does not
 * wait any more.
 */
export function limitedCalls(
  limits: readonly CallLimit[],
  { call, stored }: Called,
): LimitedCall[] | undefined {
  if (limits.length === 0) return call.waited === true ? [] : undefined;
  const find = (args: JsonObject) =>
    countedCalls(limits, call.node, { workflowId: call.workflow_id, args });
  const calls = toCalls(call, find(call.params), find(stored));
  return calls.length > 0 || call.waited === true ? calls : undefined;
}

/** The limits that count a fallback model. */
export function limitedFallback(
  limits: readonly CallLimit[],
  { call, stored }: Called,
  model: string,
): LimitedCall[] {
  const find = (args: JsonObject) =>
    countedModel(limits, model, { workflowId: call.workflow_id, args });
  return toCalls(call, find(call.params), find(stored));
}

/** Calls are counted by the values that are sent, and shown with those that are stored. */
const toCalls = (
  { workspace_id: workspace }: StepCall,
  counted: readonly CountedCall[],
  shown: readonly CountedCall[],
): LimitedCall[] =>
  counted.map((each, at) => ({
    scope: jsonDigest({ workspace, ...scopeOf(each) }),
    target: each.target,
    key: shown[at]?.key?.slice(0, SHOWN_KEY) ?? null,
    concurrency: each.limit.concurrency ?? null,
    per_minute: each.limit.per_minute ?? null,
  }));

/** Notifies executions whose steps have waited for a free call. Not awaited: the reconciler sends what remains. */
export const notifyWaiting =
  (deps: DispatchDeps) =>
  (woken: readonly OutboxRow[] = []): void => {
    void eachOf(woken, NOTICES_AT_ONCE, (row) => dispatch(deps, row));
  };

/** Takes a step out of its queue, and ends its wait for a sign-in. */
export async function withdrawCall(
  deps: DispatchDeps,
  { run_id: runId, step_key: stepKey }: StepCall,
): Promise<null> {
  await withdrawSignInWait(deps.db, { run_id: runId, step_key: stepKey });
  notifyWaiting(deps)(await leaveQueue(deps.db, { runId, stepKey }));
  return null;
}

/** For a step that begins, and may have waited for a free call. */
export function endWait(
  deps: DispatchDeps & { metrics?: StepMetrics },
  { woken, waitedMs }: { woken: readonly OutboxRow[] | undefined; waitedMs: number | undefined },
): void {
  notifyWaiting(deps)(woken);
  if (waitedMs !== undefined) deps.metrics?.waitedForCall(waitedMs / 1_000);
}

/** For a step that waits for a free call. Benign, since nothing has failed. */
export function noSlot(
  deps: DispatchDeps,
  { target, waitMs, woken }: { target: string; waitMs: number; woken: readonly OutboxRow[] },
): ApplicationFailure {
  notifyWaiting(deps)(woken);
  const detail: WaitForCall = { wait_ms: waitMs };
  return ApplicationFailure.create({
    message: `Waiting for a free call of ${target}`,
    type: FAILURE_NO_SLOT,
    nonRetryable: true,
    details: [detail],
    category: ApplicationFailureCategory.BENIGN,
  });
}
