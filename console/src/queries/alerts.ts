import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

/** The channels for alerts about failed and waiting runs. */
export const alertsQuery = queryOptions({
  queryKey: ['alerts'],
  queryFn: ({ signal }) => api().getAlerts({ signal }),
});
