import { setTimeout as sleep } from 'node:timers/promises';
import {
  candidates,
  type Candidate,
  type Ending,
  endWaits,
  type EventName,
  namesBehind,
  nextEvents,
  noteMatched,
  shownEvent,
  type StoredEvent,
  lockEvents,
  type ValueOfEvent,
} from '#shared/db/waits/awaited-events.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import { valueAt } from '#shared/graph/waits/equality.ts';
import { evaluateUntrusted } from '#shared/platform/threads/untrusted.ts';
import type { JsonObject } from '#shared/json.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';

/** Compares stored events with open waits, in the order of the events of each name. */

/** The maximum numbers of events and of waits in one transaction, which holds its waits. */
const EVENTS_AT_ONCE = 50;
const WAITS_AT_ONCE = 200;
const NAMES_AT_ONCE = 20;
const SIGNALS_AT_ONCE = 20;
/** How long one process waits while another compares the events of a name. */
const BUSY_MS = 50;

/** Whether an event is one that a step waits for. An expression that fails does not match. */
export async function matches(
  workspaceId: string,
  { match, state }: { match: string | null | undefined; state: JsonObject },
  event: StoredEvent,
): Promise<boolean> {
  if (match === null || match === undefined) return true;
  const scope = { ...state, [EVENT]: shownEvent(event) };
  const outcome = await evaluateUntrusted(workspaceId, match, scope);
  return 'value' in outcome && truthy(outcome.value);
}

/** The names whose events this process compares now, and whether another event came meanwhile. */
const running = new Map<string, { again: boolean }>();

/** Compares the events of a name with the waits until all were. Each transaction can be repeated. */
export async function matchEvents(deps: DispatchDeps, name: EventName): Promise<void> {
  const key = `${name.workspace_id} ${name.name}`;
  const known = running.get(key);
  if (known !== undefined) {
    known.again = true;
    return;
  }
  const own = { again: true };
  running.set(key, own);
  try {
    while (own.again) {
      own.again = false;
      await matchAll(deps, name);
    }
  } finally {
    running.delete(key);
  }
}

async function matchAll(deps: DispatchDeps, name: EventName): Promise<void> {
  for (;;) {
    const { state, signals = [] } = await matchSome(deps, name);
    await eachOf(signals, SIGNALS_AT_ONCE, (row) => dispatch(deps, row));
    if (state === 'done') return;
    // The other process may have ended just before it could see the last event.
    if (state === 'busy') await sleep(BUSY_MS);
  }
}

async function matchSome(
  { db }: DispatchDeps,
  name: EventName,
): Promise<{ state: 'done' | 'busy' | 'more'; signals?: readonly OutboxRow[] }> {
  return db.transaction(async (tx) => {
    const turn = await lockEvents(tx, name);
    if (turn === 'busy') return { state: 'busy' };
    if (turn === undefined) return { state: 'done' };
    const events = await nextEvents(tx, name, { after: turn.matched, limit: EVENTS_AT_ONCE });
    const [first] = events;
    const newest = events.at(-1);
    if (first === undefined || newest === undefined) {
      // Numbers can be missing: an event can turn out to be stored already.
      await noteMatched(tx, name, { matched: turn.seq, matched_after: '' });
      return { state: 'done' };
    }
    const found = await candidates(tx, name, {
      values: events.flatMap((event) => valuesOf(event, turn.paths)),
      first: first.seq,
      afterPlace: turn.matched_after,
      limit: WAITS_AT_ONCE,
    });
    const signals = await endWaits(tx, await endings(name.workspace_id, events, found));
    const last = found.at(-1);
    const isCut = found.length === WAITS_AT_ONCE && last !== undefined;
    await noteMatched(
      tx,
      name,
      isCut
        ? { matched: last.seq - 1, matched_after: last.place }
        : { matched: newest.seq, matched_after: '' },
    );
    return { state: 'more', signals };
  });
}

/** The values by which waits can find the event. */
function valuesOf(event: StoredEvent, paths: readonly string[]): ValueOfEvent[] {
  const shown = shownEvent(event);
  const values = paths.flatMap((path) => {
    const value = valueAt(shown, path);
    return value === undefined ? [] : [{ seq: event.seq, path, value }];
  });
  return [{ seq: event.seq, path: '', value: '' }, ...values];
}

/** The first event for each wait. */
async function endings(
  workspaceId: string,
  events: readonly StoredEvent[],
  found: readonly Candidate[],
): Promise<Ending[]> {
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  const ends = new Map<string, Ending>();
  for (const candidate of found) {
    const { run_id, step_key, seq } = candidate;
    const key = `${run_id} ${step_key}`;
    const event = bySeq.get(seq);
    if (event === undefined || ends.has(key)) continue;
    if (await matches(workspaceId, candidate, event)) ends.set(key, { run_id, step_key, event });
  }
  return [...ends.values()];
}

/** Compares what a process that was killed left behind. */
export const startMatching = (deps: DispatchDeps): Loop =>
  startLoop({ name: 'event matching', ...deps }, async () => {
    const names = await namesBehind(deps.db, NAMES_AT_ONCE);
    await Promise.all(names.map((name) => matchEvents(deps, name)));
    return false;
  });
