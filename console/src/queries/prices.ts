import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

export const pricesKey = ['prices'] as const;

/** The workspace's own model prices, which override the built-in ones. */
export const pricesQuery = queryOptions({
  queryKey: pricesKey,
  queryFn: ({ signal }) => api().getPrices({ signal }),
});
