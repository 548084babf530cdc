import {
  releaseDeliveries,
  markDispatched,
  type QueuedDelivery,
  requeueLost,
  takeQueued,
} from '#shared/db/webhooks/queue.ts';
import { DELIVERY_WORKFLOW, type DeliverWebhookInput } from '#shared/execution.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { startOnce } from '#shared/operations/start-once.ts';

/** Executions started per iteration, concurrently. */
const BATCH = 50;
/**
 * A poll costs a fraction of a millisecond when nothing waits. A NOTIFY in the transaction would instead serialize the
 * commits of all transactions that queue deliveries.
 */
const LOOK_EVERY_MS = 100;
const LOST_BATCH = 200;
const LOST_EVERY_MS = 60_000;

/** One iteration: starts executions of queued deliveries. Returns how many it took. */
async function dispatchDeliveries(deps: DispatchDeps): Promise<number> {
  const queued = await takeQueued(deps.db, BATCH);
  const started = await Promise.all(queued.map((delivery) => start(deps, delivery)));
  const there = queued.filter((_delivery, index) => started[index]);
  if (there.length > 0) await markDispatched(deps.db, there);
  const failed = queued.filter((_delivery, index) => !started[index]).map(({ id }) => id);
  if (failed.length > 0) await releaseDeliveries(deps.db, failed);
  return queued.length;
}

/** Returns whether the execution exists, no matter which process started it. */
async function start(deps: DispatchDeps, delivery: QueuedDelivery): Promise<boolean> {
  const { temporal, config, log } = deps;
  const { id, round, workspace_id, type, url } = delivery;
  const input: DeliverWebhookInput = {
    workspace_id,
    delivery_id: id,
    round,
    task_queue: temporal.queues.deliveries,
    backoff_ms: config.deliveries.backoffMs,
  };
  try {
    await temporal.withTimeout(() =>
      startOnce(temporal, {
        workflow: DELIVERY_WORKFLOW,
        id: `delivery-${id}-${round}`,
        workspaceId: workspace_id,
        input,
        summary: `${type} → ${new URL(url).host}`,
      }),
    );
    return true;
  } catch (error) {
    log.warn({ err: error, deliveryId: id }, 'could not start a delivery; will try again');
    return false;
  }
}

/** Starts executions of queued deliveries, and restarts lost ones, until stopped. */
export function startDeliveryDispatch(deps: DispatchDeps): Loop {
  const loops = [
    startLoop(
      { name: 'delivery dispatch', ...deps, everyMs: LOOK_EVERY_MS },
      async () => (await dispatchDeliveries(deps)) > 0,
    ),
    startLoop({ name: 'lost deliveries', ...deps, everyMs: LOST_EVERY_MS }, async () => {
      const lost = await requeueLost(deps.db, LOST_BATCH);
      if (lost > 0) deps.log.warn({ deliveries: lost }, 'deliveries had lost their executions');
      return lost === LOST_BATCH;
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
