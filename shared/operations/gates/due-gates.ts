import { isGrpcServiceError } from '@temporalio/client';
import { runsDueWithin } from '#shared/db/gates/clock.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import type { TemporalLink } from '#shared/platform/temporal.ts';
import { GRPC_NOT_FOUND } from '#shared/operations/runs/resumption.ts';

/**
 * How long the Temporal server assumes that a killed worker still polls, in seconds, plus a margin. Until then, it
 * offers a run's tasks for two seconds each to the worker that last had the run.
 */
const BELIEVED_ALIVE_SECONDS = 12;

/**
 * Called when a worker starts: lets any worker take the next task of runs whose gate is due soon. Their previous worker
 * may just have been killed, and then their deadlines would be noticed two seconds late.
 */
export async function releaseDueRuns({
  db,
  temporal,
  log,
}: {
  db: Pool;
  temporal: TemporalLink;
  log: Logger;
}): Promise<void> {
  try {
    const runIds = await runsDueWithin(db, BELIEVED_ALIVE_SECONDS);
    const { namespace, client } = temporal;
    for (const workflowId of runIds) {
      await client.workflowService
        .resetStickyTaskQueue({ namespace, execution: { workflowId } })
        .catch(ignoreClosed);
    }
    log.debug({ runs: runIds.length }, 'any worker may take the runs whose gates are due');
  } catch (error) {
    // The deadlines are still noticed, but a little later.
    log.warn({ err: error }, 'the runs whose gates are due could not be released');
  }
}

function ignoreClosed(error: unknown): void {
  const code: number | undefined = isGrpcServiceError(error) ? error.code : undefined;
  if (code !== GRPC_NOT_FOUND) throw error;
}
