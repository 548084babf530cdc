import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: ({ signal }) => api().getWorkspace({ signal }),
});

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => api().getUsage({ signal }),
});

export const metricsQuery = queryOptions({
  queryKey: ['metrics'],
  queryFn: ({ signal }) => api().getMetricsOverview({ signal }),
});
