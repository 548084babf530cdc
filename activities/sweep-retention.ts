import { ApplicationFailure, Context } from '@temporalio/activity';
import type { BackgroundActivities } from '../shared/execution.ts';
import type { DispatchDeps } from '../shared/operations/dispatch.ts';
import { sweepPart } from '../shared/operations/sweep.ts';

/** One part of a sweep. Beats after every batch; told to stop, it ends after the batch under way. */
export function createSweepRetention(deps: DispatchDeps): BackgroundActivities['sweepRetention'] {
  return async (call) => {
    const context = Context.current();
    return sweepPart(deps, {
      after: call.after,
      onBatch: () => {
        context.heartbeat();
        if (!context.cancellationSignal.aborted) return;
        // Another worker goes on: what was removed is counted and stays removed.
        if (context.cancellationDetails?.workerShutdown === true) {
          throw ApplicationFailure.retryable('The worker shuts down');
        }
        throw context.cancellationSignal.reason;
      },
    });
  };
}
