import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

export const toolsKey = ['tools'] as const;

/** The custom tools of the workspace. */
export const toolsQuery = queryOptions({
  queryKey: toolsKey,
  queryFn: ({ signal }) => api().listTools({}, { signal }),
});
