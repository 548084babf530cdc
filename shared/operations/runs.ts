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

export interface Triggered {
  runId: string;
  replayed: boolean;
  /** Resolves, never rejects, once Temporal has been told or could not be reached. */
  told: Promise<boolean>;
}

/**
 * Starts a run of a workflow's current version, or finds the one this idempotency key started. When it returns the
 * run is committed and will execute. Throws AppError `not_found`, `idempotency_mismatch`, `graph_invalid`.
 */
export async function triggerRun(deps: RunDeps, request: RunRequest): Promise<Triggered> {
  const admission = await admitRun(deps.db, request, deps.checkRunnable);
  if (admission.outcome === 'replayed') {
    return { runId: admission.runId, replayed: true, told: Promise.resolve(true) };
  }
  const { run, outbox } = admission;
  return { runId: run.runId, replayed: false, told: dispatch(deps, outbox, run) };
}

/** Answers an open gate, the oldest or that of `nodeId`. Throws AppError `not_found`, `conflict`. */
export async function decideGate(
  deps: DispatchDeps,
  decision: { actor: Actor; runId: string; approved: boolean; input?: JsonObject; nodeId?: string },
): Promise<void> {
  const { row, first } = await gates.decideGate(deps.db, decision);
  await Promise.all([dispatchInOrder(deps, row, first), wakeStreams(deps, decision.runId)]);
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
  await Promise.all([dispatchInOrder(deps, row), wakeStreams(deps, cancel.runId)]);
}

/** The act is committed: a stream that is not woken looks by itself within a second. */
async function wakeStreams(deps: DispatchDeps, runId: string): Promise<void> {
  try {
    await notifyFrames(deps.db, [runId]);
  } catch (error) {
    deps.log.warn({ err: error, runId }, 'could not wake run streams');
  }
}
