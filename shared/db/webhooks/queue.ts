import { z } from 'zod';
import { outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/**
 * Deliveries wait here until their execution starts. Deliveries of an endpoint are taken oldest first, at most as many
 * as it has free slots. Endpoints take turns.
 */

/** Lease of a delivery. After it expires, another process takes over. */
const LEASE_MS = 10_000;
/**
 * How long a slot is held until an execution starts. Longer than the lease, so that a backlog waits here and not in the
 * task queue.
 */
const PLACE_MS = 30_000;
/** Delay before a delivery that could not be started is taken again. */
const RETURN_MS = 1_000;
/** Slots of an endpoint that are reserved for retries. */
const KEPT_FOR_RETRIES = 2;
/** An execution counts as lost when its attempt is overdue by this long. */
const LOST_MINUTES = 15;

const queuedDelivery = z.object({
  id: z.string(),
  workspace_id: z.string(),
  round: z.number(),
  type: z.enum(outboundEventTypes),
  url: z.string(),
});
export type QueuedDelivery = z.infer<typeof queuedDelivery>;

/**
 * Leases up to `limit` deliveries, each with a slot of its endpoint. An endpoint whose retries wait for slots gets no
 * new deliveries, so that retries do not accumulate. Skips rows that another process has locked.
 */
export async function takeQueued(db: Db, limit: number): Promise<readonly QueuedDelivery[]> {
  return db.any(statement(queuedDelivery)`
    WITH RECURSIVE waiting AS (
      -- From one endpoint to the next in the index, however many deliveries each has.
      (SELECT endpoint_id FROM data_deliveries WHERE status = 'pending' AND NOT started
       ORDER BY endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT d.endpoint_id FROM data_deliveries d
              WHERE d.status = 'pending' AND NOT d.started AND d.endpoint_id > w.endpoint_id
              ORDER BY d.endpoint_id LIMIT 1)
      FROM waiting w WHERE w.endpoint_id IS NOT NULL
    ), free AS MATERIALIZED (
      SELECT p.endpoint_id, p.slot FROM waiting w JOIN data_permits p ON p.endpoint_id = w.endpoint_id
      WHERE p.until < clock_timestamp() AND p.slot > ${KEPT_FOR_RETRIES}::int
        AND NOT EXISTS (SELECT FROM data_deliveries d
                        WHERE d.endpoint_id = w.endpoint_id AND d.status = 'pending' AND d.waits > 0)
      FOR UPDATE OF p SKIP LOCKED
    ), due AS MATERIALIZED (
      SELECT d.* FROM (SELECT endpoint_id, count(*) AS places FROM free GROUP BY endpoint_id) f
      CROSS JOIN LATERAL (
        SELECT id, endpoint_id, queued_at FROM data_deliveries
        WHERE endpoint_id = f.endpoint_id AND status = 'pending' AND NOT started
          AND (leased_until IS NULL OR leased_until < clock_timestamp())
        ORDER BY queued_at, id LIMIT f.places FOR UPDATE SKIP LOCKED
      ) d
    ), taken AS MATERIALIZED (
      SELECT d.id, d.endpoint_id, f.slot
      FROM (SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY queued_at, id) AS n FROM due) d
      JOIN (SELECT *, row_number() OVER (PARTITION BY endpoint_id ORDER BY slot) AS n FROM free) f
        USING (endpoint_id, n)
      ORDER BY n, d.queued_at LIMIT ${limit}
    ), placed AS (
      UPDATE data_permits p SET delivery_id = t.id, until = clock_timestamp() + ${PLACE_MS}::int * interval '1 ms'
      FROM taken t WHERE p.endpoint_id = t.endpoint_id AND p.slot = t.slot
    ), leased AS (
      UPDATE data_deliveries d SET leased_until = clock_timestamp() + ${LEASE_MS}::int * interval '1 ms'
      FROM taken t WHERE d.id = t.id
      RETURNING d.id, d.workspace_id, d.round, d.event_id, d.endpoint_id
    )
    SELECT l.id, l.workspace_id, l.round, e.type, p.url
    FROM leased l JOIN outbound_events e ON e.id = l.event_id JOIN data_endpoints p ON p.id = l.endpoint_id
  `);
}

/** Marks deliveries whose executions exist. A delivery restarted in the meantime stays queued. */
export async function markDispatched(
  db: Db,
  deliveries: readonly Pick<QueuedDelivery, 'id' | 'round'>[],
): Promise<void> {
  const rows = JSON.stringify(deliveries.map(({ id, round }) => ({ id, round })));
  await db.query(statement(z.object({}))`
    UPDATE data_deliveries d
    SET started = true, leased_until = NULL, next_attempt_at = coalesce(next_attempt_at, now())
    FROM json_to_recordset(${rows}::json) AS t (id text, round int)
    WHERE d.id = t.id AND d.round = t.round AND d.status = 'pending'
  `);
}

/** Releases deliveries that could not be started, and their slots, to be taken again soon. */
export async function releaseDeliveries(db: Db, deliveryIds: readonly string[]): Promise<void> {
  await db.query(statement(z.object({}))`
    WITH given AS (
      UPDATE data_deliveries SET leased_until = clock_timestamp() + ${RETURN_MS}::int * interval '1 ms'
      WHERE id = ANY(${sql.array([...deliveryIds], 'text')}) AND status = 'pending' AND NOT started
      RETURNING id, endpoint_id
    )
    UPDATE data_permits p SET delivery_id = NULL, until = '-infinity'
    FROM given g WHERE p.endpoint_id = g.endpoint_id AND p.delivery_id = g.id
  `);
}

/**
 * Requeues deliveries whose executions were terminated in Temporal or lost. An execution that was only late finds that
 * its cycle is over. Returns how many, at most `limit`.
 */
export async function requeueLost(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    UPDATE data_deliveries
    SET started = false, leased_until = NULL, round = round + 1, claim = NULL, waits = 0, next_attempt_at = NULL
    WHERE id IN (
      SELECT id FROM data_deliveries
      WHERE status = 'pending' AND started
        AND next_attempt_at < now() - ${LOST_MINUTES}::int * interval '1 minute'
      ORDER BY next_attempt_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}
