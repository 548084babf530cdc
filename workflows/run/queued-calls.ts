import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  log,
  sleep,
} from '@temporalio/workflow';
import { FAILURE_NO_SLOT, type WaitForCall } from '#shared/execution.ts';
import { causeOf } from '#workflows/cause.ts';
import { handleResult, type Run, wake } from './state.ts';
import { summaryOf } from './step-call.ts';
import type { Work } from './work.ts';

/**
 * Steps that wait for a free call of their tool or model, or for a sign-in. The queue is in Postgres: the execution tries again when a signal
 * says that a call is free, or when its timer ends. A waiting step occupies neither a worker nor one of the run's places
 * for steps in flight, and makes no attempt.
 */

/** How long a step waits; undefined if it has failed for another reason. */
function waitOf(error: unknown): WaitForCall | undefined {
  const cause = causeOf(error);
  if (!(cause instanceof ApplicationFailure) || cause.type !== FAILURE_NO_SLOT) return undefined;
  return { wait_ms: 1_000, ...(cause.details?.[0] as Partial<WaitForCall> | undefined) };
}

/** Lets a step wait if that is what its result says. Returns whether it does. */
export function queueCall(run: Run, work: Work, error: unknown): boolean {
  const wait = waitOf(error);
  if (wait === undefined) return false;
  const { wait_ms: ms, begun = false } = wait;
  const stepKey = work.step.step_key;
  run.inFlight.delete(stepKey);
  if (begun) run.atRest = false;
  if (run.queued.early.delete(stepKey) || work.wanted?.() === false) {
    run.queued.open.set(stepKey, { work, timer: undefined });
    run.waits.stale.add(stepKey);
    wake(run);
    return true;
  }
  const timer = startTimer(run, { stepKey, label: work.prepared.label, ms });
  run.queued.open.set(stepKey, { work, timer });
  return true;
}

/** Takes a step out of the queue to try it again, and returns its work. Undefined if it does not wait. */
export function takeQueued(run: Run, stepKey: string): Work | undefined {
  const { open, early } = run.queued;
  const queued = open.get(stepKey);
  if (queued === undefined) {
    if (run.inFlight.has(stepKey)) early.add(stepKey);
    return undefined;
  }
  cancelTimer(run, queued.timer);
  open.delete(stepKey);
  run.inFlight.add(stepKey);
  return queued.work.wanted?.() === false ? withdrawn(queued.work) : again(run, queued.work);
}

/** Takes steps out of the queue whose agent has failed, so that they neither begin nor hold up others. */
export function withdrawUnwanted({ queued, waits }: Run): void {
  for (const [stepKey, { work }] of queued.open) {
    if (work.wanted?.() === false) waits.stale.add(stepKey);
  }
}

const withdrawn = (work: Work): Work => ({
  ...work,
  call: { ...work.call, withdrawn: true },
  succeeded: () => undefined,
  failed: () => undefined,
});

/** The work of a step that has waited. Work that follows may have ended a pause. */
const again = (run: Run, work: Work): Work => {
  const ended = (): void => {
    run.atRest = false;
    run.queued.early.delete(work.step.step_key);
  };
  if (work.call.waited === true) return work;
  return {
    ...work,
    call: { ...work.call, waited: true },
    succeeded: (output) => {
      ended();
      work.succeeded(output);
    },
    failed: (reason, error) => {
      ended();
      work.failed(reason, error);
    },
  };
};

/** Starts the timer of a step that waits: when it ends, the step is tried again. Returns what cancels it. */
function startTimer(
  run: Run,
  { stepKey, label, ms }: { stepKey: string; label: string; ms: number },
): CancellationScope {
  const timer = new CancellationScope();
  timer
    .run(() => sleep(Math.max(1, ms), { summary: summaryOf(label) }))
    .then(
      () => {
        run.pace.arrived();
        handleResult(run, () => {
          run.waits.stale.add(stepKey);
        });
      },
      (error: unknown) => {
        if (isCancellation(error)) return;
        log.warn('a step that waits has no timer', { error: String(error) });
      },
    );
  return timer;
}

/** Cancels a timer as a consequence of a result. */
function cancelTimer(run: Run, timer: CancellationScope | undefined): void {
  if (timer === undefined) return;
  timer.cancel();
  run.cancelledTimer = true;
}
