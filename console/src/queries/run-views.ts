import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

/** The saved views of the list of runs. */
export const runViewsQuery = queryOptions({
  queryKey: ['run-views'],
  queryFn: ({ signal }) => api().listRunViews({ signal }),
});
