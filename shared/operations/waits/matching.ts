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
import { truthy } from '#shared/graph/expression/expression.ts';
import { EVENT } from '#shared/graph/waits/wait-call.ts';
import { valueAt } from '#shared/graph/waits/equality.ts';
import { evaluateUntrusted } from '#shared/platform/threads/untrusted.ts';
import type { JsonObject } from '#shared/json.ts';
import { MAX_EVENT_DEPTH } from '#shared/limits.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { cancelRuns } from '#shared/operations/events/cancels.ts';
import { startRuns } from '#shared/operations/events/starts.ts';
import { type Cancel, insertCancels, type NewCancel } from '#shared/db/events/cancels.ts';
import { insertStarts, type NewStart, type Start } from '#shared/db/events/starts.ts';

/** Compares stored events with open waits, runs and triggers, in the order of the events of each name. */

/** The maximum numbers of events and of waits in one transaction, which holds its waits. */
const EVENTS_AT_ONCE = 50;
const WAITS_AT_ONCE = 200;
const NAMES_AT_ONCE = 20;
/** How long one process waits while another compares the events of a name. */
const BUSY_MS = 50;

/** Whether an event is one that a step or trigger waits for. An expression that fails does not match. */
export async function matches(
  workspaceId: string,
  condition: { match: string | null | undefined; state: JsonObject },
  event: StoredEvent,
): Promise<boolean> {
  return (await compare(workspaceId, condition, event)) === true;
}

/** Like `matches`, or why the expression fails. */
async function compare(
  workspaceId: string,
  { match, state }: { match: string | null | undefined; state: JsonObject },
  event: StoredEvent,
): Promise<boolean | { problem: string }> {
  if (match === null || match === undefined) return true;
  const scope = { ...state, [EVENT]: shownEvent(event) };
  const outcome = await evaluateUntrusted(workspaceId, match, scope);
  return 'value' in outcome ? truthy(outcome.value) : { problem: outcome.problem };
}

/** The names whose events this process compares now, and whether another event came meanwhile. */
const running = new Map<string, { again: boolean }>();

/** Compares the events of a name with the waits until all were. Each transaction can be repeated. */
export async function matchEvents(deps: RunDeps, name: EventName): Promise<void> {
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

async function matchAll(deps: RunDeps, name: EventName): Promise<void> {
  for (;;) {
    const { state, starts = [], cancels = [] } = await matchSome(deps, name);
    // First, so that no step of these runs begins because of the event.
    await cancelRuns(deps, cancels);
    await startRuns(deps, starts);
    if (state === 'done') return;
    // The other process may have ended just before it could see the last event.
    if (state === 'busy') await sleep(BUSY_MS);
  }
}

async function matchSome(
  { db }: RunDeps,
  name: EventName,
): Promise<{
  state: 'done' | 'busy' | 'more';
  starts?: readonly Start[];
  cancels?: readonly Cancel[];
}> {
  return db.transaction(async (tx) => {
    const turn = await lockEvents(tx, name);
    if (turn === 'busy') return { state: 'busy' };
    if (turn === undefined) return { state: 'done' };
    const events = await nextEvents(tx, name, {
      after: turn.matched,
      upTo: turn.seq,
      limit: EVENTS_AT_ONCE,
    });
    const [first] = events;
    const newest = events.at(-1);
    if (first === undefined || newest === undefined) {
      // Numbers can be missing: an event can turn out to be stored already.
      await noteMatched(tx, name, { matched: turn.seq, matched_after: 0 });
      return { state: 'done' };
    }
    const found = await candidates(tx, name, {
      values: events.flatMap((event) => valuesOf(event, turn.paths)),
      first: first.seq,
      afterId: turn.matched_after,
      limit: WAITS_AT_ONCE,
    });
    const { ends, starting, cancelling } = await effectsOf(name.workspace_id, events, found);
    const cancels = await insertCancels(tx, name.workspace_id, cancelling);
    await endWaits(tx, ends);
    const starts = await insertStarts(tx, name.workspace_id, starting);
    const last = found.at(-1);
    const isCut = found.length === WAITS_AT_ONCE && last !== undefined;
    await noteMatched(
      tx,
      name,
      isCut
        ? { matched: last.seq - 1, matched_after: last.id }
        : { matched: newest.seq, matched_after: 0 },
    );
    return { state: 'more', starts, cancels };
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

/** The first event for each wait and each run that it cancels, and every event for each trigger. */
async function effectsOf(
  workspaceId: string,
  events: readonly StoredEvent[],
  found: readonly Candidate[],
): Promise<{ ends: Ending[]; starting: NewStart[]; cancelling: NewCancel[] }> {
  const bySeq = new Map(events.map((event) => [event.seq, event]));
  const ends = new Map<string, Ending>();
  const starting: NewStart[] = [];
  const cancelled = new Set<string>();
  const cancelling: NewCancel[] = [];
  for (const candidate of found) {
    const { run_id, step_key, trigger_id, workflow_id, epoch, seq } = candidate;
    const key = `${run_id} ${step_key}`;
    const event = bySeq.get(seq);
    if (event === undefined || ends.has(key) || cancelled.has(key)) continue;
    const compared = await compare(workspaceId, candidate, event);
    if (trigger_id !== null) {
      if (compared !== false) starting.push(startOf(trigger_id, event, compared));
    } else if (run_id !== null && step_key !== null) {
      if (compared === true) ends.set(key, { run_id, step_key, event });
    } else if (run_id !== null && workflow_id !== null && epoch !== null && compared !== false) {
      const cancel = { run_id, workflow_id, epoch, event_id: event.id };
      cancelling.push(compared === true ? cancel : { ...cancel, refusal: refusalOf(compared) });
      if (compared === true) cancelled.add(key);
    }
  }
  return { ends: [...ends.values()], starting, cancelling };
}

const refusalOf = ({ problem }: { problem: string }): string => `The match failed: ${problem}`;

const startOf = (
  trigger_id: string,
  { id, depth }: StoredEvent,
  compared: true | { problem: string },
): NewStart => {
  const start = { trigger_id, event_id: id };
  if (compared !== true) return { ...start, refusal: refusalOf(compared) };
  if (depth <= MAX_EVENT_DEPTH) return start;
  return {
    ...start,
    refusal:
      `${depth} runs, each started by an event of the one before, led to this event, and at most ${MAX_EVENT_DEPTH} can: ` +
      'change a match so that the events do not start each other',
  };
};

/** Compares what a process that was killed left behind. */
export const startMatching = (deps: RunDeps): Loop =>
  startLoop({ name: 'event matching', ...deps }, async () => {
    const names = await namesBehind(deps.db, NAMES_AT_ONCE);
    await Promise.all(names.map((name) => matchEvents(deps, name)));
    return false;
  });
