import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryOf } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

/** Keys under `['data', …]`, a branch for each resource. */
const dataKey = ['data'] as const;
export const feedsKey = [...dataKey, 'feeds'] as const;
export const sourcesKey = [...dataKey, 'sources'] as const;
export const recordsKey = [...dataKey, 'records'] as const;
export const dataKeysKey = [...dataKey, 'keys'] as const;
export const endpointsKey = [...dataKey, 'endpoints'] as const;

const FEEDS_EVERY_MS = 10_000;
const CHANGES_EVERY_MS = 5_000;
const DELIVERIES_EVERY_MS = 5_000;
const PAGE = 50;

/** Refreshes a list only while it shows one page, so that rows do not move after the user has loaded more. */
const whileFirstPage =
  (everyMs: number) =>
  (query: { state: { data: { pages: readonly unknown[] } | undefined } }): number | false =>
    (query.state.data?.pages.length ?? 1) === 1 && everyMs;

export const feedsQuery = queryOptions({
  queryKey: [...feedsKey, 'list'],
  queryFn: ({ signal }) => api().listFeeds({ signal }),
  refetchInterval: FEEDS_EVERY_MS,
});

export const feedQuery = (feedId: string) =>
  queryOptions({
    queryKey: [...feedsKey, 'feed', feedId],
    queryFn: ({ signal }) => api().getFeed(feedId, { signal }),
    refetchInterval: FEEDS_EVERY_MS,
  });

export const sourcesQuery = queryOptions({
  queryKey: [...sourcesKey, 'list'],
  queryFn: ({ signal }) => api().listSources({ signal }),
  refetchInterval: FEEDS_EVERY_MS,
});

export type RecordFilter = Omit<QueryOf<'GET /api/data/entities'>, 'cursor' | 'limit'>;

/** Records, newest first, page by page. */
export const entitiesQuery = (filter: RecordFilter = {}, limit = PAGE) =>
  infiniteQueryOptions({
    queryKey: [...recordsKey, 'list', filter, limit],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().listEntities({ ...filter, limit, cursor }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.entities),
  });

export const entityQuery = (entityId: string) =>
  queryOptions({
    queryKey: [...recordsKey, 'record', entityId],
    queryFn: ({ signal }) => api().getEntity(entityId, { signal }),
    staleTime: 30_000,
  });

/** A record's versions with the changes of each, newest first. */
export const historyQuery = (entityId: string) =>
  infiniteQueryOptions({
    queryKey: [...recordsKey, 'record', entityId, 'history'],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().getEntityHistory(entityId, { limit: 25, cursor }, { signal }),
    ...cursorPages,
  });

export type ChangeFilter = Omit<QueryOf<'GET /api/data/changes'>, 'cursor' | 'limit'>;

/** Changes of records, newest first. */
export const changesQuery = (filter: ChangeFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...recordsKey, 'changes', filter],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().listChanges({ ...filter, limit: PAGE, cursor }, { signal }),
    ...cursorPages,
    refetchInterval: whileFirstPage(CHANGES_EVERY_MS),
  });

export type EventFilter = Omit<QueryOf<'GET /api/data/events'>, 'cursor' | 'limit'>;

/** Intelligence events, newest first. */
export const eventsQuery = (filter: EventFilter = {}, limit = 25) =>
  infiniteQueryOptions({
    queryKey: [...recordsKey, 'events', filter, limit],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().listEvents({ ...filter, limit, cursor }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.events),
  });

export const dataKeysQuery = queryOptions({
  queryKey: [...dataKeysKey, 'list'],
  queryFn: ({ signal }) => api().listDataKeys({}, { signal }),
});

export const dataUsageQuery = queryOptions({
  queryKey: [...dataKeysKey, 'usage'],
  queryFn: ({ signal }) => api().getDataUsage({ signal }),
  refetchInterval: FEEDS_EVERY_MS,
});

export const endpointsQuery = queryOptions({
  queryKey: [...endpointsKey, 'list'],
  queryFn: ({ signal }) => api().listEndpoints({ signal }),
  refetchInterval: FEEDS_EVERY_MS,
});

export const endpointQuery = (endpointId: string) =>
  queryOptions({
    queryKey: [...endpointsKey, 'endpoint', endpointId],
    queryFn: ({ signal }) => api().getEndpoint(endpointId, { signal }),
    refetchInterval: DELIVERIES_EVERY_MS,
  });

export type DeliveryFilter = Omit<QueryOf<'GET /api/webhooks/{id}/deliveries'>, 'cursor' | 'limit'>;

/** Deliveries of an endpoint with their attempts, newest first. */
export const deliveriesQuery = (endpointId: string, filter: DeliveryFilter = {}) =>
  infiniteQueryOptions({
    queryKey: [...endpointsKey, 'endpoint', endpointId, 'deliveries', filter],
    queryFn: ({ signal, pageParam: cursor }) =>
      api().listDeliveries(endpointId, { ...filter, limit: 25, cursor }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.deliveries),
    refetchInterval: whileFirstPage(DELIVERIES_EVERY_MS),
  });
