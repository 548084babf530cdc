import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryOf, RunEvent } from '../../../client/index.ts';
import { api } from '../api.ts';

/** Keys under `['runs', …]`: all are invalidated when a run is decided, resumed or cancelled. */
export const runsKey = ['runs'] as const;

export type RunFilter = Omit<QueryOf<'GET /api/runs'>, 'cursor' | 'limit'>;

const LIST_EVERY_MS = 5_000;

/** Runs, newest first, page by page. Polled every few seconds, less often with more pages. */
export const runsQuery = (filter: RunFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, 'list', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listRuns({ ...filter, cursor: pageParam }, { signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    refetchInterval: ({ state }) => LIST_EVERY_MS * Math.max(1, state.data?.pages.length ?? 1),
  });

/** Everything about one run. Its events are below this key, so that both are refreshed together. */
export const runKey = (runId: string) => [...runsKey, 'run', runId] as const;

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: runKey(runId),
    queryFn: ({ signal }) => api().getRun(runId, { signal }),
  });

export const messagesKey = (runId: string) => [...runKey(runId), 'messages'] as const;

/** The conversation of an agent with tools. Below the run's key, so that each frame of its stream refreshes it. */
export const messagesQuery = (runId: string, stepKey: string) =>
  queryOptions({
    queryKey: [...messagesKey(runId), stepKey],
    queryFn: ({ signal }) => api().listStepMessages(runId, stepKey, { signal }),
  });

const EVENTS_PER_PAGE = 1_000;

/** The frames of a run's stream so far, oldest first. Later reads fetch only new frames. */
export const runEventsQuery = (runId: string) =>
  queryOptions({
    queryKey: [...runKey(runId), 'events'],
    queryFn: async ({ signal, client, queryKey }) => {
      const events = [...(client.getQueryData<RunEvent[]>(queryKey) ?? [])];
      for (;;) {
        const after = events.at(-1)?.seq ?? 0;
        const page = await api().listRunEvents(
          runId,
          { after, limit: EVENTS_PER_PAGE },
          { signal },
        );
        events.push(...page.events);
        if (page.next_cursor === null) return events;
      }
    },
    // Rows of earlier reads are already the same objects.
    structuralSharing: false,
  });

/** Open gates, oldest first, page by page. */
export const approvalsQuery = infiniteQueryOptions({
  queryKey: [...runsKey, 'approvals'],
  queryFn: ({ signal, pageParam }) => api().listApprovals({ cursor: pageParam }, { signal }),
  initialPageParam: undefined as string | undefined,
  getNextPageParam: (page) => page.next_cursor ?? undefined,
});
