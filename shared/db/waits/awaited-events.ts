import { z } from 'zod';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import type { Equality } from '#shared/graph/waits/equality.ts';
import type { JsonObject } from '#shared/json.ts';

/**
 * Events and the waits that they end. A caller that opens a wait locks the names of its events, as one that stores an
 * event does: a wait sees the earlier events itself, and the later ones are compared with it.
 */

export const storedEvent = z.object({
  id: z.string(),
  seq: z.number(),
  name: z.string(),
  data: storedJson(),
  created_at: z.string(),
  depth: z.number(),
});
export type StoredEvent = z.infer<typeof storedEvent>;

/** The event as `match` and the output of a wait have it. */
export const shownEvent = ({ id, name, data, created_at }: StoredEvent): JsonObject => ({
  id,
  name,
  data,
  created_at,
});

/**
 * Locks the name until the transaction ends, and notes what a wait or trigger requires of its events. Returns the number
 * of the last event.
 */
export async function lockName(
  tx: Tx,
  { workspaceId, name, path }: { workspaceId: string; name: string; path: string | undefined },
): Promise<number> {
  const paths = sql.array(path === undefined ? [] : [path], 'text');
  return tx.oneFirst(statement(z.object({ seq: z.number() }))`
    INSERT INTO event_names AS n (workspace_id, name, paths) VALUES (${workspaceId}, ${name}, ${paths})
    ON CONFLICT (workspace_id, name) DO UPDATE
    SET paths = CASE WHEN n.paths @> excluded.paths THEN n.paths ELSE n.paths || excluded.paths END
    RETURNING n.seq
  `);
}

/**
 * Events of a name after a number, which came after the run was created, and which no earlier execution of the node took;
 * in order.
 */
export const eventsFor = (
  db: Db,
  {
    workspaceId,
    ...wait
  }: { workspaceId: string; runId: string; stepKey: string; series: string; name: string },
  after: number,
  limit: number,
): Promise<readonly StoredEvent[]> =>
  db.any(statement(storedEvent)`
    SELECT e.id, e.seq, e.name, e.data, e.created_at, e.depth FROM events e JOIN runs r ON r.id = ${wait.runId}
    WHERE e.workspace_id = ${workspaceId} AND e.name = ${wait.name} AND e.seq > ${after} AND e.created_at >= r.created_at
      AND NOT EXISTS (SELECT FROM run_waits o WHERE o.run_id = ${wait.runId} AND o.series = ${wait.series}
                        AND o.event_id = e.id AND o.step_key <> ${wait.stepKey})
    ORDER BY e.seq LIMIT ${limit}
  `);

/** An event that a step waits for, as it is found by value. */
export interface AwaitedRow {
  name: string;
  match: string | undefined;
  state: JsonObject;
  equality: Equality | undefined;
}

/** Lets events find the wait. */
export async function insertAwaited(
  tx: Tx,
  { workspaceId, runId, stepKey }: { workspaceId: string; runId: string; stepKey: string },
  awaited: readonly AwaitedRow[],
): Promise<void> {
  const rows = awaited.map(({ name, match, state, equality }, place) => ({
    ...{ place, name, match, state, path: equality?.path ?? '', value: equality?.value ?? '' },
  }));
  await tx.query(statement(z.object({}))`
    INSERT INTO awaited_events (run_id, step_key, place, workspace_id, name, path, value, match, state)
    SELECT ${runId}, ${stepKey}, a.place, ${workspaceId}, a.name, a.path, a.value, a.match, a.state
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS a (place int, name text, path text, value text, match text, state json)
    ON CONFLICT (run_id, step_key, place) DO NOTHING
  `);
}

/** Ends an open wait with an event. */
export async function endWithEvent(
  tx: Tx,
  { runId, stepKey }: { runId: string; stepKey: string },
  event: StoredEvent,
): Promise<void> {
  await tx.query(statement(z.object({}))`
    WITH ended AS (
      UPDATE run_waits SET status = 'came', ended_at = clock_timestamp(), event_id = ${event.id},
        output = ${JSON.stringify(shownEvent(event))}::json
      WHERE run_id = ${runId} AND step_key = ${stepKey} AND status = 'open' RETURNING event_id
    )
    UPDATE events e SET woke = e.woke + 1 FROM ended WHERE e.id = ended.event_id
  `);
}

const nameRow = z.object({ workspace_id: z.string(), name: z.string() });
export type EventName = z.infer<typeof nameRow>;

/** Names with events that were not compared with the waits yet. */
export const namesBehind = (db: Pool, limit: number): Promise<readonly EventName[]> =>
  db.any(statement(nameRow)`
    SELECT workspace_id, name FROM event_names WHERE matched < seq LIMIT ${limit}
  `);

const turnRow = z.object({
  seq: z.number(),
  matched: z.number(),
  matched_after: z.number(),
  paths: z.array(z.string()),
});
export type MatchState = z.infer<typeof turnRow>;

const lockOf = ({ workspace_id, name }: EventName): string => `events ${workspace_id} ${name}`;

/** Waits until no process compares the events of the name, and keeps it so until the transaction ends. */
export const excludeMatching = (tx: Tx, name: EventName): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    SELECT FROM pg_advisory_xact_lock(hashtextextended(${lockOf(name)}, 0))
  `);

/** `busy`: another process compares the events of the name. Undefined: all of them were compared. */
export async function lockEvents(tx: Tx, of: EventName): Promise<MatchState | 'busy' | undefined> {
  const { workspace_id, name } = of;
  const taken = await tx.oneFirst(statement(z.object({ taken: z.boolean() }))`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${lockOf(of)}, 0)) AS taken
  `);
  if (!taken) return 'busy';
  const turn = await tx.maybeOne(statement(turnRow)`
    SELECT seq, matched, matched_after, paths FROM event_names
    WHERE workspace_id = ${workspace_id} AND name = ${name} AND matched < seq
  `);
  return turn ?? undefined;
}

/** `upTo`: the last event that was there when the paths were read, which later ones may need more of. */
export const nextEvents = (
  tx: Tx,
  { workspace_id, name }: EventName,
  { after, upTo, limit }: { after: number; upTo: number; limit: number },
): Promise<readonly StoredEvent[]> =>
  tx.any(statement(storedEvent)`
    SELECT id, seq, name, data, created_at, depth FROM events
    WHERE workspace_id = ${workspace_id} AND name = ${name} AND seq > ${after} AND seq <= ${upTo} ORDER BY seq LIMIT ${limit}
  `);

const candidateRow = z.object({
  id: z.number(),
  seq: z.number(),
  run_id: z.string().nullable(),
  step_key: z.string().nullable(),
  trigger_id: z.string().nullable(),
  match: z.string().nullable(),
  state: storedJson<JsonObject>(),
  workflow_id: z.string().nullable(),
  epoch: z.number().nullable(),
});
/** What may wait for an event: a step of a run, a run that it cancels (without `step_key`), or a trigger. */
export type Candidate = z.infer<typeof candidateRow>;

/** A value that an event has at one of the paths. */
export interface ValueOfEvent extends Equality {
  seq: number;
}

/**
 * The open waits, runs and triggers that may wait for events, by the values of the events, in order. Of the first event,
 * only those after `afterId`.
 */
export const candidates = (
  tx: Tx,
  { workspace_id, name }: EventName,
  {
    values,
    first,
    afterId,
    limit,
  }: { values: readonly ValueOfEvent[]; first: number; afterId: number; limit: number },
): Promise<readonly Candidate[]> =>
  tx.any(statement(candidateRow)`
    SELECT v.seq, a.id, a.run_id, a.step_key, a.trigger_id, a.match, r.workflow_id, r.resumed_count AS epoch,
           CASE WHEN a.run_id IS NOT NULL AND a.step_key IS NULL THEN r.cancel_on -> 'state' ELSE a.state END AS state
    FROM json_to_recordset(${JSON.stringify(values)}::json) AS v (seq bigint, path text, value text)
    JOIN awaited_events a ON a.workspace_id = ${workspace_id} AND a.name = ${name} AND a.path = v.path AND a.value = v.value
    JOIN events e ON e.workspace_id = ${workspace_id} AND e.name = ${name} AND e.seq = v.seq
    LEFT JOIN run_waits w ON w.run_id = a.run_id AND w.step_key = a.step_key
    LEFT JOIN runs r ON r.id = a.run_id
    WHERE (v.seq > ${first} OR a.id > ${afterId}) AND v.seq > a.after_seq
      AND (a.step_key IS NULL OR r.created_at <= e.created_at AND w.status = 'open'
             AND NOT EXISTS (SELECT FROM run_waits o WHERE o.run_id = a.run_id AND o.series = w.series AND o.event_id = e.id))
    ORDER BY v.seq, a.id LIMIT ${limit}
  `);

/** Which event ends which wait. */
export interface Ending {
  run_id: string;
  step_key: string;
  event: StoredEvent;
}

/** Ends the waits that are still open. Their executions are woken. */
export async function endWaits(tx: Tx, endings: readonly Ending[]): Promise<void> {
  if (endings.length === 0) return;
  const rows = endings.map(({ run_id, step_key, event }) => ({
    ...{ run_id, step_key, event_id: event.id, output: shownEvent(event) },
  }));
  await tx.query(statement(z.object({}))`
    WITH given AS MATERIALIZED (
      SELECT w.run_id, w.step_key, g.event_id, g.output
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS g (run_id text, step_key text, event_id text, output json)
      JOIN run_waits w ON w.run_id = g.run_id AND w.step_key = g.step_key AND w.status = 'open'
      ORDER BY w.run_id, w.step_key FOR UPDATE OF w
    ), ended AS (
      UPDATE run_waits w SET status = 'came', ended_at = clock_timestamp(), wake_at = clock_timestamp(), event_id = g.event_id, output = g.output
      FROM given g WHERE w.run_id = g.run_id AND w.step_key = g.step_key AND w.status = 'open'
      RETURNING w.event_id
    )
    UPDATE events e SET woke = e.woke + c.count
    FROM (SELECT event_id, count(*) AS count FROM ended GROUP BY event_id) AS c WHERE e.id = c.event_id
  `);
}

/** Notes how far the events of a name were compared. */
export async function noteMatched(
  tx: Tx,
  { workspace_id, name }: EventName,
  { matched, matched_after }: Pick<MatchState, 'matched' | 'matched_after'>,
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE event_names SET matched = ${matched}, matched_after = ${matched_after}
    WHERE workspace_id = ${workspace_id} AND name = ${name}
  `);
}
