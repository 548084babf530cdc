import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryOf } from '../../../client/index.ts';
import { api } from '../api.ts';

/** Keys under `['runs', …]`: everything about runs goes stale together when one is decided, resumed or cancelled. */
export const runsKey = ['runs'] as const;

export type RunFilter = Omit<QueryOf<'GET /api/runs'>, 'cursor' | 'limit'>;

/** Runs, newest first, page by page. */
export const runsQuery = (filter: RunFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, 'list', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listRuns({ ...filter, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: [...runsKey, 'run', runId],
    queryFn: ({ signal }) => api().getRun(runId, { signal }),
  });

/** Open gates, oldest first, page by page. */
export const approvalsQuery = infiniteQueryOptions({
  queryKey: [...runsKey, 'approvals'],
  queryFn: ({ signal, pageParam }) => api().listApprovals({ cursor: pageParam }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});
