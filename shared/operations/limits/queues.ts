import {
  advanceQueue,
  deleteOldTokens,
  dueQueues,
  leftQueue,
  type Queue,
  stuckQueues,
  supersededRuns,
} from '#shared/db/limits/queues.ts';
import { startDueRuns } from './debounces.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { cancelSuperseded, type EndedRun } from '#shared/db/runs/ends.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';
import { notifyParent } from '#shared/operations/children/notices.ts';
import { dispatch, dispatchInOrder } from '#shared/operations/runs/dispatch.ts';
import { recordRunSpan } from '#shared/operations/runs/run-span.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';

/**
 * Starts the runs that wait because of a limit of their workflow. A run that ends leaves its slot in the same transaction; the
 * process that ended it then starts the next. This loop does what such a process left behind, and starts the runs for which no
 * further trigger has come.
 */

const BATCH = 50;
const AT_ONCE = 10;
/** A look costs a fraction of a millisecond while no slot was left. */
const LOOK_EVERY_MS = 50;
/** How many looks pass between two searches for queues in which a slot is free. */
const SEARCH_EVERY = 10;
/** How many pass between two deletions of starts that no longer count for a rate. */
const DELETE_EVERY = 10_000;

async function startNext(deps: DispatchDeps, queue: Queue): Promise<void> {
  const started = await advanceQueue(deps.db, queue);
  for (const { waited_seconds } of started) deps.queueWaited?.(waited_seconds);
  await Promise.all(
    started.map(({ waited_seconds: _waited, ...message }) => dispatch(deps, message)),
  );
}

/** Starts the next run after one that has ended. Never rejects: if it fails, the loop takes over. */
export async function startNextAfter(deps: DispatchDeps, runId: string): Promise<void> {
  try {
    const queue = await leftQueue(deps.db, runId);
    if (queue !== null) await startNext(deps, queue);
  } catch (error) {
    deps.log.warn({ err: error, runId }, 'could not start the next run of a queue');
  }
}

/**
 * Cancels the runs that have to give way to newer ones, of a queue or of all. Never rejects: if it fails, the loop takes
 * over.
 */
export async function makeWay(
  deps: DispatchDeps,
  queue?: Pick<Queue, 'workflow_id' | 'key'>,
): Promise<void> {
  try {
    const superseded = await supersededRuns(deps.db, BATCH, queue);
    await eachOf(superseded, AT_ONCE, (run) => cancelOne(deps, run));
  } catch (error) {
    deps.log.warn({ err: error, ...queue }, 'could not cancel the older runs of a key');
  }
}

async function cancelOne(
  deps: DispatchDeps,
  { id: runId, workspace_id: workspaceId }: { id: string; workspace_id: string },
): Promise<void> {
  const alerts = deps.config.alerts.channels.length > 0;
  const ended = await cancelSuperseded(deps.db, { runId, workspaceId, alerts });
  if (ended !== undefined) await afterCancel(deps, runId, ended);
}

/** What follows the end of a run that the service has cancelled. */
export async function afterCancel(
  deps: DispatchDeps,
  runId: string,
  ended: EndedRun & { row: OutboxRow },
): Promise<void> {
  await recordRunSpan(deps, runId);
  if (ended.hasParent) void notifyParent(deps, runId);
  await Promise.all([
    dispatchInOrder(deps, ended.row),
    notifyFrames(deps.db, [runId]),
    startNextAfter(deps, runId),
  ]);
}

/** Starts what can start in queues in which a slot may be free. Returns how many queues it looked at. */
async function advanceQueues(deps: DispatchDeps, search: boolean): Promise<number> {
  const due = await dueQueues(deps.db, BATCH);
  if (search) await makeWay(deps);
  const stuck = search ? await stuckQueues(deps.db, BATCH) : [];
  const queues = [...due, ...stuck];
  await eachOf(queues, AT_ONCE, (queue) => startNext(deps, queue));
  return queues.length;
}

export function startQueues(deps: DispatchDeps): Loop {
  let look = 0;
  return startLoop({ name: 'queues', ...deps, everyMs: LOOK_EVERY_MS }, async () => {
    const due = await startDueRuns(deps);
    const looked = due + (await advanceQueues(deps, look % SEARCH_EVERY === 0));
    if (look % DELETE_EVERY === 0) await deleteOldTokens(deps.db);
    look += 1;
    return looked >= BATCH;
  });
}
