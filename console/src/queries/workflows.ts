import { queryOptions } from '@tanstack/react-query';
import { api } from '../api.ts';

export const workflowsKey = ['workflows'] as const;

export const workflowsQuery = queryOptions({
  queryKey: [...workflowsKey, 'list'],
  queryFn: ({ signal }) => api().listWorkflows({ signal }),
});

export const workflowQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'workflow', workflowId],
    queryFn: ({ signal }) => api().getWorkflow(workflowId, { signal }),
  });

/** One version's graph, which never changes. */
export const versionQuery = (workflowId: string, version: number) =>
  queryOptions({
    queryKey: [...workflowsKey, 'workflow', workflowId, 'version', version],
    queryFn: ({ signal }) => api().getVersion(workflowId, version, { signal }),
    staleTime: Infinity,
  });
