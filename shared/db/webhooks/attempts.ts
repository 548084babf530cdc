import { z } from 'zod';
import {
  FAILING_AFTER,
  MAX_DELIVERY_ATTEMPTS,
  outboundEventTypes,
} from '#shared/contract/data/outbound.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { thisMonth } from '#shared/db/month.ts';

/** Identifies one cycle of a delivery. */
export interface DeliveryRound {
  workspaceId: string;
  deliveryId: string;
  round: number;
}

/** Lease of a slot, longer than an attempt can take. The slot of a dead worker expires. */
const SLOT_MS = 30_000;
/** Delay before a delivery that got no slot, or could not be sent, is checked again. */
const BACK_SECONDS = 60;

const claimedRow = z.object({
  /** Time until the retry is due; 0 if it is due now. */
  due_in_ms: z.number(),
  permitted: z.boolean(),
  waits: z.number(),
  faults: z.number(),
  attempts: z.number(),
  endpoint_id: z.string(),
  url: z.string(),
  secret: z.string(),
  previous_secret: z.string().nullable(),
  event_id: z.string(),
  type: z.enum(outboundEventTypes),
  /** JSON text. */
  data: z.string(),
  created_at: z.string(),
  started_at: z.string(),
});
/** A delivery to send now. Secrets are sealed. The previous secret is included while it still signs. */
export type ClaimedDelivery = z.infer<typeof claimedRow>;

/**
 * Takes a slot of the endpoint, the reserved one if there is one, and makes `claim` the current attempt. Do not send
 * without a slot (`permitted` false) or before the retry is due (`due_in_ms` above 0, `permitted` false). Undefined
 * when the delivery is no longer wanted: it has ended, was restarted, or its endpoint was deleted.
 *
 * The locked row determines whether the retry is due. Temporal alone cannot, because it may have timed out an attempt
 * and scheduled the next one from its own count, before that attempt recorded its failure.
 */
export async function claimDelivery(
  db: Db,
  { workspaceId, deliveryId, round }: DeliveryRound,
  claim: string,
): Promise<ClaimedDelivery | undefined> {
  const row = await db.maybeOne(statement(claimedRow)`
    WITH wanted AS MATERIALIZED (
      SELECT id, endpoint_id, event_id, CASE
        -- As a recorded failure leaves it; only then does next_attempt_at say when the retry is due.
        WHEN attempts > 0 AND claim IS NULL AND waits = 0 AND faults = 0
        THEN greatest(0, ceil(extract(epoch FROM next_attempt_at - clock_timestamp()) * 1000)) ELSE 0 END AS due_in_ms
      FROM data_deliveries
      WHERE id = ${deliveryId} AND workspace_id = ${workspaceId} AND round = ${round}::int AND status = 'pending'
      FOR NO KEY UPDATE
    ), free AS MATERIALIZED (
      SELECT p.endpoint_id, p.slot FROM wanted w JOIN data_permits p ON p.endpoint_id = w.endpoint_id
      WHERE w.due_in_ms = 0 AND (p.until < clock_timestamp() OR p.delivery_id = w.id)
      ORDER BY p.delivery_id = w.id DESC NULLS LAST, p.slot LIMIT 1 FOR UPDATE OF p SKIP LOCKED
    ), permit AS (
      UPDATE data_permits p
      SET delivery_id = ${deliveryId}, until = clock_timestamp() + ${SLOT_MS}::int * interval '1 ms'
      FROM free f WHERE p.endpoint_id = f.endpoint_id AND p.slot = f.slot
      RETURNING p.slot
    ), claimed AS (
      UPDATE data_deliveries d
      SET started = true,
          claim = CASE WHEN t.permitted THEN ${claim}::text ELSE d.claim END,
          waits = CASE WHEN t.permitted THEN 0 ELSE d.waits + 1 END,
          next_attempt_at = now() + CASE WHEN t.permitted THEN 0 ELSE ${BACK_SECONDS}::int END * interval '1 second'
      FROM wanted w, (SELECT count(*) > 0 AS permitted FROM permit) t
      WHERE d.id = w.id AND w.due_in_ms = 0 AND d.round = ${round}::int AND d.status = 'pending'
      RETURNING d.id, d.waits, d.faults, d.attempts, t.permitted
    )
    SELECT w.due_in_ms::int, coalesce(c.permitted, false) AS permitted, coalesce(c.waits, 0) AS waits,
           coalesce(c.faults, 0) AS faults, coalesce(c.attempts, 0) AS attempts, w.endpoint_id, p.url, p.secret,
           CASE WHEN p.previous_secret_until > now() THEN p.previous_secret END AS previous_secret,
           w.event_id, e.type, e.data::text AS data, e.created_at, clock_timestamp() AS started_at
    FROM wanted w LEFT JOIN claimed c ON c.id = w.id
    JOIN data_endpoints p ON p.id = w.endpoint_id AND p.workspace_id = ${workspaceId}
    JOIN outbound_events e ON e.id = w.event_id
    WHERE c.id IS NOT NULL OR w.due_in_ms > 0
  `);
  return row ?? undefined;
}

/** The result of an attempt. */
export interface AttemptEnd {
  claim: string;
  startedAt: string;
  durationMs: number;
  /** Null without a response. */
  statusCode: number | null;
  /** Null if it was delivered. */
  error: string | null;
  /** When the next attempt would be due, in ms from now. */
  nextInMs: number;
}

const recordedRow = z.object({
  status: z.enum(['pending', 'delivered', 'dead']),
  attempts: z.number(),
});

/**
 * Records an attempt: the delivery's attempts and status, the endpoint's status, the count of the month, and the
 * released slot. A failure whose attempt started before the endpoint's last success does not affect the endpoint.
 * Undefined when the attempt does not count, because a later one has taken over or the delivery is no longer wanted.
 */
export async function recordAttempt(
  db: Db,
  { workspaceId, deliveryId, round }: DeliveryRound,
  end: AttemptEnd,
): Promise<z.infer<typeof recordedRow> | undefined> {
  const delivered = end.error === null;
  const row = await db.maybeOne(statement(recordedRow)`
    WITH endpoint AS MATERIALIZED (
      -- First, in the order of a deletion.
      SELECT p.id FROM data_endpoints p
      WHERE p.id = (SELECT endpoint_id FROM data_deliveries WHERE id = ${deliveryId})
        AND p.workspace_id = ${workspaceId}
      FOR NO KEY UPDATE
    ), attempt AS (
      UPDATE data_deliveries d
      SET attempts = attempts + 1, claim = NULL, waits = 0, faults = 0,
          status = CASE WHEN ${delivered} THEN 'delivered'
                        WHEN attempts + 1 >= ${MAX_DELIVERY_ATTEMPTS}::int THEN 'dead' ELSE 'pending' END,
          ended_at = CASE WHEN ${delivered} OR attempts + 1 >= ${MAX_DELIVERY_ATTEMPTS}::int THEN now() END,
          next_attempt_at = now() + ${end.nextInMs}::int * interval '1 ms'
      FROM endpoint p
      WHERE d.id = ${deliveryId} AND d.endpoint_id = p.id AND d.workspace_id = ${workspaceId}
        AND d.round = ${round}::int AND d.status = 'pending' AND d.claim = ${end.claim}
      RETURNING d.id, d.endpoint_id, d.status, d.attempts
    ), log AS (
      INSERT INTO data_delivery_attempts (delivery_id, round, attempt, started_at, duration_ms, status_code, error)
      SELECT id, ${round}::int, attempts, ${end.startedAt}::timestamptz, ${end.durationMs}::int,
             ${end.statusCode}::int, ${end.error}::text
      FROM attempt
    ), place AS (
      UPDATE data_permits p SET delivery_id = NULL, until = '-infinity'
      FROM attempt a WHERE p.endpoint_id = a.endpoint_id AND p.delivery_id = a.id
    ), judged AS (
      UPDATE data_endpoints p
      SET consecutive_failures = CASE WHEN ${delivered} THEN 0 ELSE p.consecutive_failures + 1 END,
          status = CASE WHEN ${delivered} THEN 'active'
                        WHEN p.consecutive_failures + 1 >= ${FAILING_AFTER}::int THEN 'failing' ELSE p.status END,
          last_delivery_at = CASE WHEN ${delivered} THEN clock_timestamp() ELSE p.last_delivery_at END
      FROM attempt a
      WHERE p.id = a.endpoint_id AND p.workspace_id = ${workspaceId}
        AND (${delivered} OR p.last_delivery_at IS NULL OR p.last_delivery_at < ${end.startedAt}::timestamptz)
    ), month AS (
      INSERT INTO data_months AS m (workspace_id, month, deliveries)
      SELECT ${workspaceId}, ${thisMonth}, 1
      FROM attempt WHERE status = 'delivered'
      ON CONFLICT (workspace_id, month) DO UPDATE SET deliveries = m.deliveries + 1
    )
    SELECT status, attempts FROM attempt
  `);
  return row ?? undefined;
}

/** Releases the slot of an attempt that ended with an internal error. */
export async function releaseAttempt(
  db: Db,
  { workspaceId, deliveryId, round }: DeliveryRound,
  claim: string,
): Promise<void> {
  await db.query(statement(z.object({}))`
    WITH attempt AS (
      UPDATE data_deliveries
      SET claim = NULL, faults = faults + 1, next_attempt_at = now() + ${BACK_SECONDS}::int * interval '1 second'
      WHERE id = ${deliveryId} AND workspace_id = ${workspaceId} AND round = ${round}::int AND claim = ${claim}
      RETURNING id, endpoint_id
    )
    UPDATE data_permits p SET delivery_id = NULL, until = '-infinity'
    FROM attempt a WHERE p.endpoint_id = a.endpoint_id AND p.delivery_id = a.id
  `);
}
