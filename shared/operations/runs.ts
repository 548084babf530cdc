import type { Actor } from '../actor.ts';
import { admitRun, type CheckRunnable, type RunRequest } from '../db/admission.ts';
import * as gates from '../db/gates.ts';
import * as ends from '../db/run-ends.ts';
import { notifyFrames } from '../db/frames.ts';
import type { JsonObject } from '../json.ts';
import { dispatch, type DispatchDeps, dispatchInOrder } from './dispatch.ts';

/**
 * What people and programs do to runs. Each operation commits first and tells Temporal right after; when Temporal
 * cannot be reached the operation still holds, and the reconciler tells it later.
 */
export interface RunDeps extends DispatchDeps {
  checkRunnable: CheckRunnable;
}

/**
 * Starts a run of a workflow's current version, or finds the one this idempotency key started. Throws AppError
 * `not_found`, `idempotency_mismatch`, `graph_invalid`.
 */
export async function triggerRun(
  deps: RunDeps,
  request: RunRequest,
): Promise<{ runId: string; replayed: boolean }> {
  const admission = await admitRun(deps.db, request, deps.checkRunnable);
  if (admission.outcome === 'replayed') return { runId: admission.runId, replayed: true };
  await dispatch(deps, admission.outbox, admission.run);
  return { runId: admission.run.runId, replayed: false };
}

/** Answers an open gate, the oldest or that of `nodeId`. Throws AppError `not_found`, `conflict`. */
export async function decideGate(
  deps: DispatchDeps,
  decision: { actor: Actor; runId: string; approved: boolean; input?: JsonObject; nodeId?: string },
): Promise<void> {
  const row = await gates.decideGate(deps.db, decision);
  await dispatchInOrder(deps, row);
  await notifyFrames(deps.db, [decision.runId]);
}

/** Lets a failed run go on from its last checkpoint. Throws AppError `not_found`, `conflict`. */
export async function resumeRun(
  deps: DispatchDeps,
  resume: { actor: Actor; runId: string },
): Promise<void> {
  await dispatchInOrder(deps, await ends.resumeRun(deps.db, resume));
}

/** Ends a pending, running or paused run. Throws AppError `not_found`, `conflict`. */
export async function cancelRun(
  deps: DispatchDeps,
  cancel: { actor: Actor; runId: string },
): Promise<void> {
  const row = await ends.cancelRun(deps.db, cancel);
  await notifyFrames(deps.db, [cancel.runId]);
  await dispatchInOrder(deps, row);
}
