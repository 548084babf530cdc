import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const secretsKey = ['secrets'] as const;

/** The secrets of the workspace, by name. Their values are not readable. */
export const secretsQuery = queryOptions({
  queryKey: secretsKey,
  queryFn: ({ signal }) => api().listSecrets({}, { signal }),
});
