import { z } from 'zod';
import type { OutboundEventType } from '#shared/contract/data/outbound.ts';
import type { JsonObject } from '#shared/json.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type Db, statement } from '#shared/db/pool.ts';

/** An event for the subscribed webhook endpoints of a workspace. */
export interface OutboundEvent {
  type: OutboundEventType;
  /** Endpoints of test keys receive demo events, endpoints of live keys receive live events; null: both receive it. */
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
  return (await queue(db, { workspaceId, events })).deliveries;
}

/** Queues a `ping` to one endpoint, regardless of its subscriptions. Returns the delivery's id. */
export async function queuePing(
  db: Db,
  { workspaceId, endpointId }: { workspaceId: string; endpointId: string },
): Promise<string | null> {
  const ping: OutboundEvent = { type: 'ping', isDemo: null, data: {} };
  return (await queue(db, { workspaceId, events: [ping], endpointId })).first_delivery;
}

const queued = z.object({ deliveries: z.number(), first_delivery: z.string().nullable() });

async function queue(
  db: Db,
  {
    workspaceId,
    events,
    endpointId = null,
  }: { workspaceId: string; events: readonly OutboundEvent[]; endpointId?: string | null },
): Promise<z.infer<typeof queued>> {
  const rows = events.map(({ type, isDemo, data }) => ({
    id: newId('outboundEvent'),
    type,
    is_demo: isDemo,
    data,
  }));
  return db.one(statement(queued)`
    SELECT * FROM queue_events_1(${workspaceId}, ${JSON.stringify(rows)}, ${endpointId}, ${MAX_PENDING})
  `);
}
