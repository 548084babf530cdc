import { z } from 'zod';
import {
  deliveryStatuses,
  type EndpointEvent,
  outboundEventTypes,
} from '#shared/contract/data/outbound.ts';
import { bodyOf } from '#shared/webhooks/delivery-request.ts';
import { type Page, pageOf, type PageRequest } from '#shared/db/data/lists.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { type EndpointCaller, noteReading, readEndpoint } from './endpoints.ts';

interface EventFilter {
  endpointId: string;
  /** ISO 8601. */
  since?: string | undefined;
  eventId?: string | undefined;
}

const eventRow = z.object({
  delivery_id: z.string(),
  event_id: z.string(),
  type: z.enum(outboundEventTypes),
  created_at: z.string(),
  data: z.string(),
  at: z.number(),
  tie: z.string(),
});

const columns = sql.fragment`
  d.id AS delivery_id, d.event_id, e.type, e.created_at, e.data::text AS data,
  (extract(epoch FROM d.created_at) * 1000000)::bigint AS at, d.id AS tie`;

/**
 * The events of an endpoint with the bodies of their deliveries, oldest first. Their times are when their transactions
 * began: a page can lack an earlier event whose transaction has not ended. Records that a listener was read. Throws
 * AppError `not_found`.
 */
export async function listEndpointEvents(
  db: Db,
  caller: EndpointCaller,
  { endpointId, since, eventId }: EventFilter,
  page: PageRequest,
): Promise<Page<EndpointEvent>> {
  const { workspaceId } = caller;
  await readEndpoint(db, caller, endpointId);
  await noteReading(db, { workspaceId, endpointId });
  const scope = { workspaceId, endpointId };
  const rows = await (eventId === undefined
    ? readEvents(db, { ...scope, since }, page)
    : readEvent(db, { ...scope, eventId }));
  const { rows: found, end } = pageOf(rows, page);
  return {
    rows: found.map(({ data, ...event }) => ({ ...event, body: bodyOf({ ...event, data }) })),
    end,
  };
}

function readEvents(
  db: Db,
  { workspaceId, endpointId, since }: { workspaceId: string } & EventFilter,
  { after, limit }: PageRequest,
): Promise<readonly z.infer<typeof eventRow>[]> {
  const { at, tie } = after ?? { at: null, tie: null };
  // Reads a page per status, since the index separates statuses, then keeps the first rows.
  return db.any(statement(eventRow)`
    SELECT ${columns}
    FROM (
      SELECT p.* FROM unnest(${sql.array([...deliveryStatuses], 'text')}) s (status) CROSS JOIN LATERAL (
        SELECT id, event_id, created_at FROM data_deliveries
        WHERE endpoint_id = ${endpointId} AND workspace_id = ${workspaceId} AND status = s.status
          AND created_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
          AND (created_at, id) > (coalesce('epoch'::timestamptz + ${at}::bigint * interval '1 microsecond', '-infinity'),
                                  coalesce(${tie}::text, ''))
        ORDER BY created_at, id LIMIT ${limit + 1}
      ) p
      ORDER BY p.created_at, p.id LIMIT ${limit + 1}
    ) d
    JOIN outbound_events e ON e.id = d.event_id
    ORDER BY d.created_at, d.id
  `);
}

function readEvent(
  db: Db,
  {
    workspaceId,
    endpointId,
    eventId,
  }: { workspaceId: string; endpointId: string; eventId: string },
): Promise<readonly z.infer<typeof eventRow>[]> {
  return db.any(statement(eventRow)`
    SELECT ${columns} FROM data_deliveries d JOIN outbound_events e ON e.id = d.event_id
    WHERE d.event_id = ${eventId} AND d.endpoint_id = ${endpointId} AND d.workspace_id = ${workspaceId}
  `);
}
