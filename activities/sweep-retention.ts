import { ApplicationFailure, Context } from '@temporalio/activity';
import type { BackgroundActivities } from '../shared/execution.ts';
import type { DispatchDeps } from '../shared/operations/runs/executions.ts';
import { sweepPart } from '../shared/operations/sweep.ts';

const HEARTBEAT_MS = 2_000;

/**
 * One part of a sweep. Beats by the clock, since every statement and call in it has a deadline of its own; told to
 * stop, it ends after the batch under way.
 */
export function createSweepRetention(deps: DispatchDeps): BackgroundActivities['sweepRetention'] {
  return async (call) => {
    const context = Context.current();
    const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
    try {
      return await sweepPart(deps, { after: call.after, onBatch: () => stopIfAsked(context) });
    } finally {
      clearInterval(beat);
    }
  };
}

/** Another worker goes on: what was removed is counted and stays removed. */
function stopIfAsked(context: Context): void {
  if (!context.cancellationSignal.aborted) return;
  if (context.cancellationDetails?.workerShutdown === true) {
    throw ApplicationFailure.retryable('The worker shuts down');
  }
  throw context.cancellationSignal.reason;
}
