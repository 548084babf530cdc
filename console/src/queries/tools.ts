import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

export const toolsKey = ['tools'] as const;

/** The tools that the workspace has registered itself. */
export const toolsQuery = queryOptions({
  queryKey: toolsKey,
  queryFn: ({ signal }) => api().listTools({}, { signal }),
});
