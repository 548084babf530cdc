import { ApplicationFailure, type Context } from '@temporalio/activity';

const HEARTBEAT_MS = 2_000;

/**
 * Runs work in batches, each with its own transaction. Heartbeats come from a timer, since every statement and call in
 * a batch has its own deadline. When stopped, it ends after the current batch: `onBatch` throws.
 */
export async function inParts<T>(
  context: Context,
  work: (onBatch: () => void) => Promise<T>,
): Promise<T> {
  const beat = setInterval(() => context.heartbeat(), HEARTBEAT_MS);
  try {
    return await work(() => stopIfAsked(context));
  } finally {
    clearInterval(beat);
  }
}

/** Another worker continues: finished batches are counted and committed. */
function stopIfAsked(context: Context): void {
  if (!context.cancellationSignal.aborted) return;
  if (context.cancellationDetails?.workerShutdown === true) {
    throw ApplicationFailure.retryable('The worker shuts down');
  }
  throw context.cancellationSignal.reason;
}
