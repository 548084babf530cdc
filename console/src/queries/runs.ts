import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { JsonObject, QueryOf, RunEvent, RunQuery } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';
import { pollMs } from './stream-state.ts';

/** Keys under `['runs', …]`: all are invalidated when a run is decided, resumed or cancelled. */
export const runsKey = ['runs'] as const;

export type RunFilter = Omit<RunQuery, 'cursor' | 'limit'>;

const LIST_EVERY_MS = 5_000;

/** Runs, newest first, page by page. Polled every few seconds, less often with more pages. */
export const runsQuery = (filter: RunFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, 'list', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listRuns({ ...filter, cursor: pageParam }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.runs),
    refetchInterval: ({ state }) => {
      const pages = state.data?.pages.length ?? 0;
      // Frames do not refresh a list with several pages, because its rows would move.
      return pages <= 1 ? pollMs(LIST_EVERY_MS) : LIST_EVERY_MS * pages;
    },
  });

/** Everything about one run. Its events are below this key, so that both are refreshed together. */
export const runKey = (runId: string) => [...runsKey, 'run', runId] as const;

export const runQuery = (runId: string) =>
  queryOptions({
    queryKey: runKey(runId),
    queryFn: ({ signal }) => api().getRun(runId, { signal }),
  });

export type StepFilter = Omit<QueryOf<'GET /api/runs/{id}/steps'>, 'cursor' | 'limit'>;

/** Steps of a run with more than its record contains, page by page. Below the run's key, so that frames refresh it. */
export const runStepsQuery = (runId: string, filter: StepFilter) =>
  infiniteQueryOptions({
    queryKey: [...runKey(runId), 'steps', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listRunSteps(runId, { ...filter, limit: 100, cursor: pageParam }, { signal }),
    ...cursorPages,
  });

/** One step of such a run; null when there is none. */
export const runStepQuery = (runId: string, stepKey: string) =>
  queryOptions({
    queryKey: [...runKey(runId), 'step', stepKey],
    queryFn: async ({ signal }) => {
      const { steps } = await api().listRunSteps(runId, { step_key: stepKey }, { signal });
      return steps[0] ?? null;
    },
  });

/** One gate, with what it asked before. Below the run's key, so that frames refresh it. */
export const gateQuery = (runId: string, stepKey: string) =>
  queryOptions({
    queryKey: [...runKey(runId), 'gate', stepKey],
    queryFn: ({ signal }) => api().getGate(runId, stepKey, { signal }),
  });

/** Keys of what gates show with an input. Not below the runs' keys: no frame concerns them. */
export const checkedGatesKey = ['checked-gates'] as const;

/** What a gate shows with an input, without deciding it. `basis`: what else that depends on. */
export const checkedGateQuery = (
  runId: string,
  stepKey: string,
  { input, basis }: { input: JsonObject; basis: string },
) =>
  queryOptions({
    queryKey: [...checkedGatesKey, runId, stepKey, basis, input],
    queryFn: ({ signal }) =>
      api().approve(runId, true, input, { stepKey, onlyCheck: true, signal }),
    placeholderData: keepPreviousData,
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
    // Rows from earlier reads are already the same objects.
    structuralSharing: false,
  });

/** Open gates, oldest first, page by page. `mine`: only those that are assigned to the user. */
export const approvalsQuery = ({ mine = false } = {}) =>
  infiniteQueryOptions({
    queryKey: [...runsKey, 'approvals', { mine }],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().listApprovals({ cursor, ...(mine && { assigned_to: 'me' }) }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.approvals),
  });

/** The decisions of the last days, newest first, page by page. */
export const decidedQuery = infiniteQueryOptions({
  queryKey: [...runsKey, 'decided'],
  queryFn: ({ signal, pageParam: cursor }) => api().listDecidedGates({ cursor }, { signal }),
  ...cursorPages,
  select: ({ pages }) => pages.flatMap((page) => page.decided),
});

/** The latest runs, for a short list. */
export const latestRunsQuery = queryOptions({
  queryKey: [...runsKey, 'latest'],
  queryFn: ({ signal }) => api().listRuns({ limit: 20, mode: 'live' }, { signal }),
});
