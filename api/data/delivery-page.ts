import type { z } from 'zod';
import type {
  Delivery,
  deliveryPageQuery,
  EndpointEvent,
  endpointEventQuery,
} from '#shared/contract/data/outbound.ts';
import { listDeliveries } from '#shared/db/webhooks/deliveries.ts';
import { listEndpointEvents } from '#shared/db/webhooks/endpoint-events.ts';
import type { EndpointCaller } from '#shared/db/webhooks/endpoints.ts';
import { openPage } from './page.ts';
import type { RouteContext } from '#api/deps.ts';

/**
 * A page of an endpoint's deliveries, for a key or a member. Throws AppError `not_found`, and `invalid` for a cursor of
 * another list.
 */
export async function deliveryPage(
  { db, dataCursors }: Pick<RouteContext, 'db' | 'dataCursors'>,
  caller: EndpointCaller,
  endpointId: string,
  query: z.infer<typeof deliveryPageQuery>,
): Promise<{ deliveries: Delivery[]; next_cursor: string | null }> {
  const list = `deliveries of ${endpointId}`;
  const { filter, page, next } = openPage(dataCursors, caller, list, query);
  const { rows, end } = await listDeliveries(db, caller, { endpointId, ...filter }, page);
  return { deliveries: rows, next_cursor: next(end) };
}

/**
 * A page of an endpoint's events, oldest first. Throws AppError `not_found`, and `invalid` for a cursor of another list.
 */
export async function eventPage(
  { db, dataCursors }: Pick<RouteContext, 'db' | 'dataCursors'>,
  caller: EndpointCaller,
  endpointId: string,
  query: z.infer<typeof endpointEventQuery>,
): Promise<{ events: EndpointEvent[]; next_cursor: string | null }> {
  const list = `events of ${endpointId}`;
  const { filter, page, next } = openPage(dataCursors, caller, list, query);
  const { since, event_id: eventId } = filter;
  const { rows, end } = await listEndpointEvents(db, caller, { endpointId, since, eventId }, page);
  return { events: rows, next_cursor: next(end) };
}
