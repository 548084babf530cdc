import { z } from 'zod';
import type { OutboundEventType } from '#shared/contract/data/outbound.ts';
import type { JsonObject } from '#shared/json.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, type FragmentSqlToken, sql } from '#shared/db/pool.ts';

/** An event for the subscribed webhook endpoints of a workspace. */
export interface OutboundEvent {
  type: OutboundEventType;
  /** Endpoints of test keys receive demo events, those of live keys receive live ones; null: both receive it. */
  isDemo: boolean | null;
  data: JsonObject;
}

/** Maximum pending deliveries of one endpoint; further ones become dead letters. */
export const MAX_PENDING = 10_000;

/**
 * Queues an event for every subscribed endpoint, in the transaction of the change. Writes nothing without a subscribed
 * endpoint. Returns the number of deliveries.
 */
export async function queueEvents(
  db: Db,
  workspaceId: string,
  events: readonly OutboundEvent[],
): Promise<number> {
  if (events.length === 0) return 0;
  return (await promise(db, { workspaceId, events })).deliveries;
}

/** Queues a `ping` to one endpoint, regardless of its subscriptions. Returns the delivery's id. */
export async function queuePing(
  db: Db,
  { workspaceId, endpointId }: { workspaceId: string; endpointId: string },
): Promise<string | null> {
  const ping: OutboundEvent = { type: 'ping', isDemo: null, data: {} };
  return (await promise(db, { workspaceId, events: [ping], endpointId })).delivery_id;
}

/**
 * CTEs that queue the events of a CTE `happened (at, id, type, is_demo, data)` in the order of `at`: one row of
 * `outbound_events` for each event that an endpoint wants, and `promised`, the deliveries. `endpointId` sends them to
 * this endpoint only, regardless of its subscriptions. Only committed pending deliveries are counted: concurrent
 * transactions may each fill the remaining room.
 */
export const queueCtes = (workspaceId: FragmentSqlToken, endpointId: string | null = null) =>
  sql.fragment`
    endpoints AS MATERIALIZED (
      -- Locked, so that a deletion finds what was queued.
      SELECT p.id, p.events, p.is_demo FROM data_endpoints p
      WHERE p.workspace_id = ${workspaceId}
        AND (p.id = ${endpointId}::text
             OR ${endpointId}::text IS NULL AND p.events && ARRAY(SELECT type FROM happened))
      FOR KEY SHARE
    ), wanted AS MATERIALIZED (
      SELECT h.at, h.id, h.type, h.data, p.id AS endpoint_id,
             row_number() OVER (PARTITION BY h.id ORDER BY p.id) AS n,
             row_number() OVER (PARTITION BY p.id ORDER BY h.at) AS place
      FROM happened h
      JOIN endpoints p ON ${endpointId}::text IS NOT NULL
        OR h.type = ANY (p.events) AND (h.is_demo IS NULL OR p.is_demo = h.is_demo)
    ), queued AS MATERIALIZED (
      SELECT p.id AS endpoint_id,
             (SELECT count(*) FROM (SELECT FROM data_deliveries d
                                    WHERE d.endpoint_id = p.id AND d.status = 'pending' LIMIT ${MAX_PENDING}) d) AS waiting
      FROM endpoints p
    ), queued_events AS (
      INSERT INTO outbound_events (id, workspace_id, type, data)
      SELECT DISTINCT ON (at) id, ${workspaceId}, type, data FROM wanted ORDER BY at
    ), promised AS (
      INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, status, reason, ended_at)
      SELECT 'dlv_' || substr(w.id, 6) || '_' || w.n, ${workspaceId}, w.endpoint_id, w.id,
             CASE WHEN crowded THEN 'dead' ELSE 'pending' END,
             CASE WHEN crowded THEN 'More than ' || ${MAX_PENDING}::int || ' deliveries of this endpoint are pending' END,
             CASE WHEN crowded THEN now() END
      FROM wanted w JOIN queued q USING (endpoint_id)
      CROSS JOIN LATERAL (SELECT q.waiting + w.place > ${MAX_PENDING}::int AS crowded) c
      ORDER BY w.at
      RETURNING id
    )`;

const promised = z.object({ deliveries: z.number(), delivery_id: z.string().nullable() });

async function promise(
  db: Db,
  {
    workspaceId,
    events,
    endpointId = null,
  }: { workspaceId: string; events: readonly OutboundEvent[]; endpointId?: string | null },
): Promise<z.infer<typeof promised>> {
  const rows = events.map(({ type, isDemo, data }) => ({
    id: newId('outboundEvent'),
    type,
    is_demo: isDemo,
    data,
  }));
  return db.one(sql.prepared('outbound_queue', promised)`
    WITH happened AS (
      SELECT * FROM ROWS FROM (
        json_to_recordset(${JSON.stringify(rows)}::json) AS (id text, type text, is_demo boolean, data json)
      ) WITH ORDINALITY AS e (id, type, is_demo, data, at)
    ), ${queueCtes(sql.fragment`${workspaceId}`, endpointId)}
    SELECT count(*) AS deliveries, min(id) AS delivery_id FROM promised
  `);
}
