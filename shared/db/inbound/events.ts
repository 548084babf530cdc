import { z } from 'zod';
import {
  eventOutcomes,
  type EventOutcome,
  type InboundEvent,
  KEPT_BODY_BYTES,
  type ListedInboundEvent,
  refusalReasons,
} from '#shared/contract/inbound/inbound-event.ts';
import { notFound } from '#shared/errors.ts';
import { storedTime } from '#shared/time.ts';
import { decodeCursor, pageOf } from '#shared/db/cursor.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import type { WorkflowScope } from '#shared/db/workflows/workflows.ts';

/** The columns of an entry `e` in a list. */
const listedColumns = sql.fragment`
  e.id, e.workflow_id, e.received_at, e.outcome, e.status, e.reason, e.detail, e.run_id, e.sent_event_id, e.event_id, e.source,
  e.size, e.times,
  CASE WHEN e.outcome = 'duplicate' THEN coalesce((SELECT r.inbound_event_id FROM runs r WHERE r.id = e.run_id),
    (SELECT s.inbound_event_id FROM events s WHERE s.id = e.sent_event_id)) END AS duplicate_of,
  (SELECT count(*) FROM inbound_event_replays p WHERE p.event_id = e.id) AS replays`;

const listedRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  received_at: z.string(),
  outcome: z.enum(eventOutcomes),
  status: z.number(),
  reason: z.enum(refusalReasons).nullable(),
  detail: z.string().nullable(),
  run_id: z.string().nullable(),
  sent_event_id: z.string().nullable(),
  event_id: z.string().nullable(),
  source: z.string(),
  size: z.number().nullable(),
  times: z.number(),
  duplicate_of: z.string().nullable(),
  replays: z.number(),
});

/** Which log entries to list: those received at or after `since` and before `until` (ISO 8601). */
export interface EventFilter {
  outcome?: EventOutcome | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

/** A page of the log of a workflow, newest first. Throws AppError `invalid` for a cursor of another list. */
export async function listEvents(
  db: Db,
  { workflowId }: WorkflowScope,
  { outcome, since, until }: EventFilter,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ events: ListedInboundEvent[]; next_cursor: string | null }> {
  const outcomes = outcome === undefined ? [...eventOutcomes] : [outcome];
  const after = cursor === undefined ? { at: null, id: null } : decodeCursor(cursor);
  // Reads a page per outcome, since the index separates outcomes, then keeps the first rows.
  const rows = await db.any(statement(listedRow.extend({ at: z.number() }))`
    SELECT ${listedColumns}, (extract(epoch FROM e.received_at) * 1000000)::bigint AS at
    FROM (
      SELECT p.* FROM unnest(${sql.array(outcomes, 'text')}) o (outcome) CROSS JOIN LATERAL (
        SELECT * FROM inbound_events
        WHERE workflow_id = ${workflowId} AND outcome = o.outcome
          AND received_at >= ${since ?? '-infinity'}::timestamptz AND received_at < ${until ?? 'infinity'}::timestamptz
          AND (${after.at}::bigint IS NULL
               OR (received_at, id) < ('epoch'::timestamptz + ${after.at}::bigint * interval '1 microsecond', ${after.id}::text))
        ORDER BY received_at DESC, id DESC LIMIT ${limit + 1}::int
      ) p
      ORDER BY p.received_at DESC, p.id DESC LIMIT ${limit + 1}::int
    ) e
    ORDER BY e.received_at DESC, e.id DESC
  `);
  const page = pageOf(rows, limit);
  return {
    events: page.rows.map(({ at: _at, ...event }) => event),
    next_cursor: page.next_cursor,
  };
}

const replayRow = z.object({
  run_id: z.string().nullable(),
  sent_event_id: z.string().nullable(),
  created_at: z.string().transform(storedTime),
});
const shownRow = listedRow.extend({
  headers: z.record(z.string(), z.string()),
  body: z.string().nullable(),
  replayed_by: z.array(replayRow),
});

/** The maximum number of runs that are shown for the replays of an event. */
const SHOWN_REPLAYS = 50;
// A body may not be UTF-8, or may be cut within a character.
const utf8 = new TextDecoder('utf-8');

/** Throws AppError `not_found`. */
export async function readEvent(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<InboundEvent> {
  const row = await db.maybeOne(statement(shownRow)`
    SELECT ${listedColumns}, e.headers, encode(e.body, 'base64') AS body,
           (SELECT coalesce(json_agg(json_build_object('run_id', p.run_id, 'sent_event_id', p.sent_event_id, 'created_at', p.created_at)
                                     ORDER BY p.created_at DESC, p.run_id DESC, p.sent_event_id DESC), '[]')
            FROM (SELECT * FROM inbound_event_replays WHERE event_id = e.id
                  ORDER BY created_at DESC, run_id DESC, sent_event_id DESC LIMIT ${SHOWN_REPLAYS}::int) p) AS replayed_by
    FROM inbound_events e JOIN workflows w ON w.id = e.workflow_id
    WHERE e.id = ${id} AND w.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Event');
  const { body, ...event } = row;
  return {
    ...event,
    body: body === null ? null : utf8.decode(Buffer.from(body, 'base64')),
    body_truncated: (event.size ?? 0) > KEPT_BODY_BYTES,
  };
}

/** Entries deleted per batch; each has up to 64 kB. */
const EXPIRED_BATCH = 200;

/** Deletes a batch of entries that were received this many days ago. Returns how many. */
export async function deleteExpiredEvents(
  db: Db,
  { workspaceId, days }: { workspaceId: string; days: number },
): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM inbound_events WHERE id IN (
      SELECT e.id FROM workflows w CROSS JOIN unnest(${sql.array([...eventOutcomes], 'text')}) o (outcome)
      CROSS JOIN LATERAL (
        SELECT id FROM inbound_events
        WHERE workflow_id = w.id AND outcome = o.outcome AND received_at < now() - ${days}::int * interval '1 day'
        ORDER BY received_at, id LIMIT ${EXPIRED_BATCH}::int FOR UPDATE SKIP LOCKED
      ) e
      WHERE w.workspace_id = ${workspaceId} LIMIT ${EXPIRED_BATCH}::int)
  `);
  return rowCount;
}
