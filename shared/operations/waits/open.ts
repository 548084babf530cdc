import {
  type AwaitedRow,
  endWithEvent,
  eventsFor,
  insertAwaited,
  lockName,
  type StoredEvent,
} from '#shared/db/waits/awaited-events.ts';
import { takeCallback } from '#shared/db/waits/callbacks.ts';
import type { Db, Pool, Tx } from '#shared/db/pool.ts';
import { writePending } from '#shared/db/runs/log.ts';
import {
  type Caller,
  type HeldRun,
  insertWait,
  lockRun,
  lookAtWait,
  remindOfWait,
  noteExecution,
  reopenWait,
  type WaitLook,
} from '#shared/db/waits/waits.ts';
import { equalityOf } from '#shared/graph/waits/equality.ts';
import type { AwaitedEvent, WaitCall, WaitPlace } from '#shared/graph/waits/wait-call.ts';
import { matches } from './matching.ts';

/** How many events are read at once. */
const PAGE = 200;

/** Opens the wait of a step, and takes an event or a callback that came before. Repeating the call changes nothing. */
export async function openWait(db: Pool, call: Caller<WaitCall>): Promise<WaitLook> {
  const { waits_for: awaited, workspace_id: workspaceId, series } = call;
  const wait = { workspaceId, runId: call.run_id, stepKey: call.step_key, series };
  const events = awaited.for === 'event' ? awaited.events : [];
  // Most events are compared without a lock, so that they do not hold up others.
  const before = await findEvent(db, wait, events);
  return db.transaction(async (tx) => {
    const run = await lockRun(tx, call);
    if (run !== null) {
      await noteExecution(tx, call);
      await writePending(tx, call);
      if (await insertWait(tx, call, run)) {
        await takeEvent(tx, wait, events, before);
        if (awaited.for === 'callback') await takeCallback(tx, wait);
      }
    }
    return lookAtWait(tx, call, run);
  });
}

/** Reads the wait of a step, opens it again if its run was resumed, ends it if its time is up, and sends its alert. */
export async function checkWait(
  db: Pool,
  call: Caller<WaitPlace> & { alerts: boolean },
): Promise<WaitLook> {
  return db.transaction(async (tx) => {
    const run = await lockRun(tx, call);
    const look = await lookAtWait(tx, call, run);
    const { state } = look.report;
    if (run === null || state === 'came' || state === 'late') return look;
    const changed =
      state === 'open' ? await remindOfWait(tx, call, call) : await openAgain(tx, call, run);
    return changed ? lookAtWait(tx, call, run) : look;
  });
}

/** Opens a wait again that the end of its run had cancelled. Returns whether it was cancelled. */
async function openAgain(tx: Tx, call: WaitPlace, run: HeldRun): Promise<boolean> {
  const cancelled = await reopenWait(tx, call, run);
  if (cancelled === null) return false;
  const { waits_for: awaited, series } = cancelled;
  const wait = { workspaceId: run.workspace_id, runId: call.run_id, stepKey: call.step_key };
  if (awaited.for === 'event') await takeEvent(tx, { ...wait, series }, awaited.events);
  if (awaited.for === 'callback') await takeCallback(tx, wait);
  return true;
}

interface Wait {
  workspaceId: string;
  runId: string;
  stepKey: string;
  series: string;
}

interface Search {
  /** The first event that matches. */
  found: StoredEvent | undefined;
  /** For each awaited event: the number of the last one that was compared. */
  seen: number[];
}

/** The first event that came before and matches. Events up to `seen` were compared already. */
async function findEvent(
  db: Db,
  wait: Wait,
  awaited: readonly AwaitedEvent[],
  seen: readonly number[] = [],
): Promise<Search> {
  const search: Search = { found: undefined, seen: [] };
  for (const [place, each] of awaited.entries()) {
    const { found, last } = await findOne(db, wait, each, seen[place] ?? 0);
    search.seen.push(last);
    if (found === undefined) continue;
    const isFirst = search.found === undefined || found.created_at < search.found.created_at;
    if (isFirst) search.found = found;
  }
  return search;
}

async function findOne(
  db: Db,
  wait: Wait,
  { name, match, state = {} }: AwaitedEvent,
  after: number,
): Promise<{ found?: StoredEvent; last: number }> {
  let last = after;
  for (;;) {
    const events = await eventsFor(db, { ...wait, name }, last, PAGE);
    for (const event of events) {
      last = event.seq;
      if (await matches(wait.workspaceId, { match, state }, event)) return { found: event, last };
    }
    if (events.length < PAGE) return { last };
  }
}

/** Ends the wait with an event that came before, or lets later ones find it. */
async function takeEvent(
  tx: Tx,
  wait: Wait,
  awaited: readonly AwaitedEvent[],
  before: Search = { found: undefined, seen: [] },
): Promise<void> {
  if (awaited.length === 0) return;
  const rows = awaited.map(({ name, match, state = {} }): AwaitedRow => {
    const equality = match === undefined ? undefined : equalityOf(match, state);
    return { name, match, state, equality };
  });
  // Always in the same order, so that two waits never wait for each other.
  for (const { name, equality } of rows.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    await lockName(tx, { workspaceId: wait.workspaceId, name, path: equality?.path });
  }
  const found = before.found ?? (await findEvent(tx, wait, awaited, before.seen)).found;
  if (found === undefined) await insertAwaited(tx, wait, rows);
  else await endWithEvent(tx, wait, found);
}
