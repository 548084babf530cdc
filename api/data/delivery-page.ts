import type { z } from 'zod';
import type { Delivery, deliveryPageQuery } from '#shared/contract/data/outbound.ts';
import { listDeliveries } from '#shared/db/webhooks/deliveries.ts';
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
