import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

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

/** The draft of a workflow; null if there is none. */
export const draftQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'workflow', workflowId, 'draft'],
    queryFn: async ({ signal }) =>
      (await api().getWorkflow(workflowId, { include: 'draft', signal })).draft ?? null,
  });

/** One version's graph, which never changes. */
export const versionQuery = (workflowId: string, version: number) =>
  queryOptions({
    queryKey: [...workflowsKey, 'workflow', workflowId, 'version', version],
    queryFn: ({ signal }) => api().getVersion(workflowId, version, { signal }),
    staleTime: Infinity,
  });

/** A workflow's versions without their graphs, newest first, page by page. */
export const versionsQuery = (workflowId: string) =>
  infiniteQueryOptions({
    queryKey: [...workflowsKey, 'workflow', workflowId, 'versions'],
    queryFn: ({ signal, pageParam }) =>
      api().listVersions(workflowId, { cursor: pageParam }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.versions),
  });
