import { type Cancel, cancelByEvents, takeCancels } from '#shared/db/events/cancels.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { afterCancel } from '#shared/operations/limits/queues.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';

/** Cancels the runs that events cancel. */

const CANCELLED_AT_ONCE = 10;
const TAKEN_AT_ONCE = 50;

/** Cancels the runs that are still open. What fails is tried again by a worker, when its lease has expired. */
export async function cancelRuns(deps: DispatchDeps, cancels: readonly Cancel[]): Promise<void> {
  const runIds = [...new Set(cancels.map(({ run_id }) => run_id))];
  const alerts = deps.config.alerts.channels.length > 0;
  await eachOf(runIds, CANCELLED_AT_ONCE, async (runId) => {
    try {
      const ended = await cancelByEvents(deps.db, { runId, alerts });
      if (ended !== undefined) await afterCancel(deps, runId, ended);
    } catch (error) {
      deps.log.warn({ err: error, runId }, 'could not cancel a run for an event');
    }
  });
}

/** Carries out what a process that was killed left behind. */
export const startEventCancels = (deps: DispatchDeps): Loop =>
  startLoop({ name: 'event cancels', ...deps }, async () => {
    const due = await takeCancels(deps.db, TAKEN_AT_ONCE);
    await cancelRuns(deps, due);
    return due.length === TAKEN_AT_ONCE;
  });
