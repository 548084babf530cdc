import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

/** Over which channels people are told of runs that failed or wait. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => api().getAlerts({ signal }),
});
