import { z } from 'zod';
import {
  type Delivery,
  deliverySchema,
  type DeliveryStatus,
  deliveryStatuses,
  type Redelivered,
  type RedeliverRange,
} from '#shared/contract/data/outbound.ts';
import { conflict, notFound } from '#shared/errors.ts';
import { storedTime } from '#shared/time.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import {
  auditEndpoint,
  type EndpointCaller,
  lockEndpoint,
  readEndpoint,
  refuseListener,
} from './endpoints.ts';
import { type Page, pageOf, type PageRequest } from '#shared/db/data/lists.ts';
import { MAX_PENDING, queuePing } from './outbound-events.ts';

const deliveryColumns = sql.fragment`
  d.id, d.event_id, e.type, d.status, d.reason, d.attempts, d.created_at, d.ended_at,
  CASE WHEN d.status = 'pending' THEN coalesce(d.next_attempt_at, d.queued_at) END AS next_attempt_at,
  (SELECT coalesce(json_agg(json_build_object(
            'round', a.round, 'attempt', a.attempt, 'started_at', a.started_at,
            'duration_ms', a.duration_ms, 'status_code', a.status_code, 'error', a.error)
            ORDER BY a.started_at, a.round, a.attempt), '[]')
   FROM data_delivery_attempts a WHERE a.delivery_id = d.id) AS log`;

const attempt = deliverySchema.shape.log.element.extend({
  started_at: z.string().transform(storedTime),
});
const deliveryRow = deliverySchema.extend({ log: z.array(attempt) });
const listed = deliveryRow.extend({ at: z.number(), tie: z.string() });

/** The deliveries of an endpoint, newest first, with their attempts. Throws AppError `not_found`. */
export async function listDeliveries(
  db: Db,
  caller: EndpointCaller,
  { endpointId, status }: { endpointId: string; status?: DeliveryStatus | undefined },
  page: PageRequest,
): Promise<Page<Delivery>> {
  await readEndpoint(db, caller, endpointId);
  const statuses = status === undefined ? [...deliveryStatuses] : [status];
  const { at, tie } = page.after ?? { at: null, tie: null };
  // Reads a page per status, since the index separates statuses, then keeps the first rows.
  const found = await db.any(statement(listed)`
    SELECT ${deliveryColumns}, (extract(epoch FROM d.created_at) * 1000000)::bigint AS at, d.id AS tie
    FROM (
      SELECT p.* FROM unnest(${sql.array(statuses, 'text')}) s (status) CROSS JOIN LATERAL (
        SELECT * FROM data_deliveries
        WHERE endpoint_id = ${endpointId} AND workspace_id = ${caller.workspaceId} AND status = s.status
          AND (${at}::bigint IS NULL
               OR (created_at, id) < ('epoch'::timestamptz + ${at}::bigint * interval '1 microsecond', ${tie}::text))
        ORDER BY created_at DESC, id DESC LIMIT ${page.limit + 1}
      ) p
      ORDER BY p.created_at DESC, p.id DESC LIMIT ${page.limit + 1}
    ) d
    JOIN outbound_events e ON e.id = d.event_id
    ORDER BY d.created_at DESC, d.id DESC
  `);
  return pageOf(found, page);
}

/** Throws AppError `not_found`. */
export async function readDeliveryOf(
  db: Db,
  caller: EndpointCaller,
  { endpointId, deliveryId }: { endpointId: string; deliveryId: string },
): Promise<Delivery> {
  await readEndpoint(db, caller, endpointId);
  return readDelivery(db, { workspaceId: caller.workspaceId, endpointId, deliveryId });
}

async function readDelivery(
  db: Db,
  scope: { workspaceId: string; endpointId: string; deliveryId: string },
): Promise<Delivery> {
  const delivery = await db.maybeOne(statement(deliveryRow)`
    SELECT ${deliveryColumns} FROM data_deliveries d JOIN outbound_events e ON e.id = d.event_id
    WHERE d.id = ${scope.deliveryId} AND d.endpoint_id = ${scope.endpointId}
      AND d.workspace_id = ${scope.workspaceId}
  `);
  if (delivery === null) throw notFound('Delivery');
  return delivery;
}

/** Queues a ping to an endpoint, regardless of its subscriptions. Throws AppError `not_found`. */
export async function pingEndpoint(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
): Promise<Delivery> {
  const { workspaceId } = caller;
  return db.transaction(async (tx) => {
    await lockEndpoint(tx, caller, endpointId);
    const deliveryId = await queuePing(tx, { workspaceId, endpointId });
    if (deliveryId === null) throw notFound('Webhook endpoint');
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_ping', { delivery: deliveryId });
    return readDelivery(tx, { workspaceId, endpointId, deliveryId });
  });
}

/** Where events of a listener are sent again. */
const REPLAY = '`ops listen --replay <event>` forwards its events again';

/** The columns of a restarted delivery. */
const restarted = sql.fragment`
  status = 'pending', reason = NULL, attempts = 0, round = round + 1, queued_at = now(), leased_until = NULL,
  started = false, next_attempt_at = NULL, claim = NULL, waits = 0, faults = 0, ended_at = NULL`;

/**
 * Restarts a delivery that has ended, with all its attempts. Throws AppError `not_found`, and `conflict` for a pending
 * delivery and for a listener.
 */
export async function redeliver(
  db: Pool,
  caller: EndpointCaller,
  { endpointId, deliveryId }: { endpointId: string; deliveryId: string },
): Promise<Delivery> {
  const { workspaceId } = caller;
  const scope = { workspaceId, endpointId, deliveryId };
  return db.transaction(async (tx) => {
    refuseListener(await lockEndpoint(tx, caller, endpointId), REPLAY);
    const { rowCount } = await tx.query(statement(z.object({}))`
      UPDATE data_deliveries SET ${restarted}
      WHERE id = ${deliveryId} AND endpoint_id = ${endpointId} AND workspace_id = ${workspaceId}
        AND status <> 'pending'
    `);
    const delivery = await readDelivery(tx, scope);
    if (rowCount === 0) throw conflict('The delivery is pending: it is already being retried');
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_redeliver', { delivery: deliveryId });
    return delivery;
  });
}

/**
 * Restarts the dead letters, or all deliveries that have ended, of events from `since` on and before `until`, oldest
 * first, up to the limit of pending deliveries. Throws AppError `not_found`, and `conflict` for a listener.
 */
export async function redeliverRange(
  db: Pool,
  caller: EndpointCaller,
  endpointId: string,
  range: RedeliverRange = { status: 'dead' },
): Promise<Redelivered> {
  return db.transaction(async (tx) => {
    refuseListener(await lockEndpoint(tx, caller, endpointId), REPLAY);
    const done = await restart(tx, { workspaceId: caller.workspaceId, endpointId, ...range });
    const { since, until, status } = range;
    const details = {
      ...(since === undefined ? {} : { since }),
      ...(until === undefined ? {} : { until }),
      ...(status === 'all' ? { status } : {}),
      redelivered: done.redelivered,
    };
    await auditEndpoint(tx, caller, endpointId, 'data_webhook_redeliver_all', details);
    return done;
  });
}

async function restart(
  tx: Tx,
  {
    workspaceId,
    endpointId,
    since,
    until,
    status,
  }: RedeliverRange & { workspaceId: string; endpointId: string },
): Promise<Redelivered> {
  const counts = z.object({ redelivered: z.number(), left: z.number() });
  return tx.one(statement(counts)`
    WITH ended AS MATERIALIZED (
      SELECT id, created_at FROM data_deliveries
      WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId}
        AND status = ANY (${sql.array(status === 'all' ? ['dead', 'delivered'] : ['dead'], 'text')})
        AND created_at >= ${since ?? '-infinity'}::timestamptz AND created_at < ${until ?? 'infinity'}::timestamptz
    ), chosen AS (
      SELECT id FROM ended ORDER BY created_at, id
      LIMIT greatest(0, ${MAX_PENDING}::int - (
        SELECT count(*) FROM data_deliveries
        WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND status = 'pending'))
    ), begun AS (
      UPDATE data_deliveries SET ${restarted} WHERE id IN (SELECT id FROM chosen) AND status <> 'pending' RETURNING 1
    )
    SELECT (SELECT count(*) FROM begun) AS redelivered,
           (SELECT count(*) FROM ended) - (SELECT count(*) FROM begun) AS left
  `);
}
