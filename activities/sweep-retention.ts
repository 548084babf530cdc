import { ApplicationFailure, Context } from '@temporalio/activity';
import type { BackgroundActivities } from '../shared/execution.ts';
import type { DispatchDeps } from '../shared/operations/runs/executions.ts';
import { sweepPart } from '../shared/operations/sweep.ts';

const HEARTBEAT_MS = 2_000;

/**
 * One part of a sweep. Heartbeats on a timer, since every statement and call in it has its own deadline. When stopped,
 * it ends after the current batch.
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

/** Another worker continues: the removed rows are counted and stay removed. */
function stopIfAsked(context: Context): void {
  if (!context.cancellationSignal.aborted) return;
  if (context.cancellationDetails?.workerShutdown === true) {
    throw ApplicationFailure.retryable('The worker shuts down');
  }
  throw context.cancellationSignal.reason;
}
