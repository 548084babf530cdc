import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const keysKey = ['keys'] as const;

/** API keys, newest first, including revoked ones. */
export const keysQuery = queryOptions({
  queryKey: keysKey,
  queryFn: ({ signal }) => api().listApiKeys({}, { signal }),
});
