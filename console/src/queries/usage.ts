import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

/** Runs and cost of the last days by workflow, by model and by day. */
export const breakdownQuery = (days: number) =>
  queryOptions({
    queryKey: ['usage', 'breakdown', days],
    queryFn: ({ signal }) => api().getUsageBreakdown({ days }, { signal }),
  });
