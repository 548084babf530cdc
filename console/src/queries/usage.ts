import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

/** Runs and cost of the last `days` days by workflow, model and day. */
export const breakdownQuery = (days: number) =>
  queryOptions({
    queryKey: ['usage', 'breakdown', days],
    queryFn: ({ signal }) => api().getUsageBreakdown({ days }, { signal }),
  });
