import { z } from 'zod';
import { type Event, type EventDetail, eventSchema } from '#shared/contract/events/event.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { decodeCursor, pageOf, toMicroseconds, toTimestamp } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { AppError, conflict, notFound } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { Actor } from '#shared/people/actor.ts';

/** An event to store. */
export interface NewEvent {
  workspaceId: string;
  name: string;
  data: Json;
  /** The caller's id, under which it is stored once. */
  givenId: string | undefined;
  /** Of whom that id is, if it is not a request or a run: the same id of another sender is another event. */
  idScope?: string;
  source: Event['source'];
  by: { id: string | null; name: string | null };
  /** The run that sends it. */
  runId?: string;
  /** What an inbound webhook received. */
  inboundEventId?: string;
}

const eventRow = eventSchema.extend({ data: storedJson() });

const eventColumns = sql.fragment`
  e.id, e.name, e.data, e.given_id, e.source, e.run_id, e.inbound_event_id, coalesce(e.created_by_name, e.created_by) AS created_by, e.created_at,
  e.depth, e.woke, (SELECT count(*) FROM event_starts s WHERE s.event_id = e.id AND s.run_id IS NOT NULL) AS started,
  (SELECT count(*) FROM event_cancels k WHERE k.event_id = e.id AND k.cancelled_at IS NOT NULL) AS cancelled,
  e.seq > (SELECT n.matched FROM event_names n WHERE n.workspace_id = e.workspace_id AND n.name = e.name) AS pending`;

/**
 * Stores an event. `created` false: one with this id was there, with the same name and data. Throws AppError
 * `idempotency_mismatch` if it was another one, and `conflict` and `rate_limited` at the limits.
 */
export async function insertEvent(
  db: Pool,
  event: NewEvent,
): Promise<{ event: Event; created: boolean }> {
  return db.transaction(async (tx) => {
    const sent = await storeEvent(tx, event);
    if (sent.created && event.source === 'api') {
      const { by, workspaceId, name } = event;
      await auditSent(tx, { ...by, workspaceId }, { id: sent.event.id, details: { name } });
    }
    return sent;
  });
}

export const auditSent = (
  tx: Tx,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  { id, details }: { id: string; details: JsonObject },
): Promise<void> =>
  recordAudit(tx, actor, { action: 'event_send', targetType: 'event', targetId: id, details });

/** Like `insertEvent`, in the caller's transaction, which has to write the audit entry. */
export async function storeEvent(
  tx: Tx,
  event: NewEvent,
): Promise<{ event: Event; created: boolean }> {
  const known = await readGiven(tx, event);
  if (known !== null) return { event: known, created: false };
  const seq = await nextNumber(tx, event);
  const { workspaceId, name, data, givenId = null, idScope = '', source, by } = event;
  const { runId = null, inboundEventId = null } = event;
  const id = newId('event');
  const { rowCount } = await tx.query(statement(z.object({}))`
    INSERT INTO events (id, workspace_id, name, seq, given_id, id_scope, data, source, created_by, created_by_name, run_id,
                        inbound_event_id, depth)
    VALUES (${id}, ${workspaceId}, ${name}, ${seq}, ${givenId}, ${idScope}, ${JSON.stringify(data)}::json, ${source}, ${by.id},
            ${by.name}, ${runId}, ${inboundEventId}, ${depthOf(runId)})
    ON CONFLICT (workspace_id, id_scope, given_id) WHERE given_id IS NOT NULL DO NOTHING
  `);
  // Another request stored it under another name in the meantime, which the lock does not exclude.
  if (rowCount === 0) {
    const stored = await readGiven(tx, event);
    if (stored === null) throw new AppError('unavailable', 'Send the event again');
    return { event: stored, created: false };
  }
  return { event: await readEvent(tx, { workspaceId, id }), created: true };
}

/** One more than the run that sends the event, or the runs above it, if an event has started one of them. */
export const depthOf = (runId: string | null) =>
  runId === null
    ? sql.fragment`0`
    : sql.fragment`(
        WITH RECURSIVE above AS (
          SELECT r.parent_run_id, r.event_depth FROM runs r WHERE r.id = ${runId}
          UNION ALL
          SELECT r.parent_run_id, r.event_depth FROM above a JOIN runs r ON r.id = a.parent_run_id
        ) SELECT coalesce(max(event_depth), 0) + 1 FROM above)`;

async function readGiven(tx: Tx, event: NewEvent): Promise<Event | null> {
  if (event.givenId === undefined) return null;
  const known = await tx.maybeOne(statement(eventRow.extend({ same: z.boolean() }))`
    SELECT ${eventColumns}, e.name = ${event.name} AND e.data::jsonb = ${JSON.stringify(event.data)}::jsonb AS same
    FROM events e
    WHERE e.workspace_id = ${event.workspaceId} AND e.id_scope = ${event.idScope ?? ''} AND e.given_id = ${event.givenId}
  `);
  if (known === null) return null;
  const { same, ...rest } = known;
  if (same) return rest;
  throw new AppError(
    'idempotency_mismatch',
    `The id '${event.givenId}' belongs to another event, ${known.id}: send this one with an id of its own`,
  );
}

/** The maximum numbers of names in a workspace, of events of one name, and of those not compared with the waits yet. */
const MAX_NAMES = 1_000;
export const MAX_KEPT = 1_000_000;
const MAX_BEHIND = 10_000;
/** When to send the event again, if too many were not compared yet. */
const BEHIND_SECONDS = 5;

const numberRow = z.object({
  seq: z.number(),
  behind: z.number(),
  kept: z.number(),
  names: z.number(),
});

/**
 * Numbers the next event of the name, and holds the name until the transaction ends. Throws AppError `conflict` and
 * `rate_limited` at the limits.
 */
async function nextNumber(tx: Tx, { workspaceId, name }: NewEvent): Promise<number> {
  const { seq, behind, kept, names } = await tx.one(statement(numberRow)`
    WITH next AS (
      INSERT INTO event_names AS n (workspace_id, name, seq) VALUES (${workspaceId}, ${name}, 1)
      ON CONFLICT (workspace_id, name) DO UPDATE SET seq = n.seq + 1
      RETURNING seq, matched, old.seq IS NULL AS new
    )
    SELECT seq, seq - matched AS behind,
           seq - coalesce((SELECT min(e.seq) FROM events e WHERE e.workspace_id = ${workspaceId} AND e.name = ${name}), seq) AS kept,
           CASE WHEN new THEN (SELECT count(*) FROM event_names o WHERE o.workspace_id = ${workspaceId}) + 1 ELSE 0 END AS names
    FROM next
  `);
  if (names > MAX_NAMES) {
    throw conflict(
      `A workspace has at most ${MAX_NAMES} names of events; put what differs into the data`,
    );
  }
  if (kept >= MAX_KEPT) {
    throw conflict(
      `At most ${MAX_KEPT} events of one name are kept; use another name, or wait until the oldest are deleted`,
    );
  }
  if (behind > MAX_BEHIND) {
    const detail = `More than ${MAX_BEHIND} events '${name}' were not compared with the waits yet`;
    throw new AppError('rate_limited', detail, { retryAfterSeconds: BEHIND_SECONDS });
  }
  return seq;
}

async function readEvent(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Event> {
  const row = await db.maybeOne(statement(eventRow)`
    SELECT ${eventColumns} FROM events e WHERE e.id = ${id} AND e.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Event');
  return row;
}

/** The maximum numbers of waits, of starts and of cancels in the detail of an event. */
const MAX_WAITS = 100;

const startRow = z.object({
  trigger_id: z.string(),
  workflow_id: z.string(),
  run_id: z.string().nullable(),
  refusal: z.string().nullable(),
});

const wokenRow = z.object({ run_id: z.string(), step_key: z.string(), workflow_id: z.string() });

const cancelRow = z.object({
  run_id: z.string(),
  workflow_id: z.string(),
  cancelled_at: z.string().nullable(),
  refusal: z.string().nullable(),
});

/**
 * An event with the waits that it has ended, and the runs that it has started and cancelled. Throws AppError
 * `not_found`.
 */
export async function readEventDetail(
  db: Db,
  ids: { workspaceId: string; id: string },
): Promise<EventDetail> {
  const event = await readEvent(db, ids);
  const waits = await db.any(statement(wokenRow)`
    SELECT w.run_id, w.step_key, r.workflow_id FROM run_waits w JOIN runs r ON r.id = w.run_id
    WHERE w.workspace_id = ${ids.workspaceId} AND w.event_id = ${ids.id} ORDER BY w.ended_at, w.run_id LIMIT ${MAX_WAITS}
  `);
  const starts = await db.any(statement(startRow)`
    SELECT s.trigger_id, t.workflow_id, s.run_id, s.refusal
    FROM event_starts s JOIN event_triggers t ON t.id = s.trigger_id
    WHERE s.event_id = ${ids.id} AND s.workspace_id = ${ids.workspaceId} ORDER BY s.created_at, s.trigger_id LIMIT ${MAX_WAITS}
  `);
  const cancels = await db.any(statement(cancelRow)`
    SELECT run_id, workflow_id, cancelled_at, refusal FROM event_cancels
    WHERE event_id = ${ids.id} AND workspace_id = ${ids.workspaceId} ORDER BY created_at, run_id LIMIT ${MAX_WAITS}
  `);
  return { ...event, waits: [...waits], starts: [...starts], cancels: [...cancels] };
}

/** The events of a workspace, newest first. Throws AppError `invalid` for a cursor of another list. */
export async function listEvents(
  db: Db,
  { workspaceId, name = null }: { workspaceId: string; name?: string | null | undefined },
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ events: Event[]; next_cursor: string | null }> {
  const end = cursor === undefined ? undefined : decodeCursor(cursor);
  const rows = await db.any(sql.type(eventRow.extend({ at: z.number() }))`
    SELECT ${eventColumns}, ${toMicroseconds(sql.fragment`e.created_at`)} AS at FROM events e
    WHERE e.workspace_id = ${workspaceId} AND (${name}::text IS NULL OR e.name = ${name})
      AND ${end === undefined ? sql.fragment`true` : sql.fragment`(e.created_at, e.id) < (${toTimestamp(end.at)}, ${end.id})`}
    ORDER BY e.created_at DESC, e.id DESC LIMIT ${limit + 1}
  `);
  const page = pageOf(rows, limit);
  return {
    events: page.rows.map(({ at: _at, ...event }) => event),
    next_cursor: page.next_cursor,
  };
}

/** Events deleted per statement. */
const DELETED_AT_ONCE = 1_000;

/** Deletes some of the events past the window, if they were compared with the waits. Returns how many. */
export async function deleteOldEvents(
  db: Pool,
  { workspaceId, days }: { workspaceId: string; days: number },
): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM events WHERE id IN (
      SELECT e.id FROM events e JOIN event_names n ON n.workspace_id = e.workspace_id AND n.name = e.name
      WHERE e.workspace_id = ${workspaceId} AND e.created_at < now() - ${days}::int * interval '1 day' AND e.seq <= n.matched
      ORDER BY e.created_at LIMIT ${DELETED_AT_ONCE})
  `);
  return rowCount;
}
