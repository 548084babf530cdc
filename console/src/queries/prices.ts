import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { tagged } from './tagged.ts';

export const pricesKey = ['prices'] as const;

/** The workspace's own model prices, which override the built-in ones. */
export const pricesQuery = queryOptions({
  queryKey: pricesKey,
  queryFn: async ({ signal }) => tagged(await api().getPrices({ signal })),
});
