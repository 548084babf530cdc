import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const toolsKey = ['tools'] as const;

/** The custom tools of the workspace. */
export const toolsQuery = queryOptions({
  queryKey: toolsKey,
  queryFn: ({ signal }) => api().listTools({}, { signal }),
});
