import { CancellationScope, isCancellation, log, sleep } from '@temporalio/workflow';
import { handleResult, type Run } from './state.ts';
import { summaryOf } from './step-call.ts';

/** Starts the timer of a step that waits: when it ends, the row of the step is read. Returns what cancels it. */
export function startTimer(
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
export function cancelTimer(run: Run, timer: CancellationScope | undefined): void {
  if (timer === undefined) return;
  timer.cancel();
  run.cancelledTimer = true;
}
