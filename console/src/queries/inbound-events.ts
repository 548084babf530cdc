import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { ListedInboundEvent } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

export const inboundEventsKey = ['inbound events'] as const;

const READ_EVERY_MS = 3_000;
/** The poll interval while a replay is running. */
const FOLLOW_EVERY_MS = 1_000;

export interface EventFilter {
  outcome?: ListedInboundEvent['outcome'] | undefined;
  /** ISO 8601. */
  since?: string | undefined;
}

/** What the webhook of a workflow received, newest first, page by page. */
export const inboundEventsQuery = (workflowId: string, filter: EventFilter) =>
  infiniteQueryOptions({
    queryKey: [...inboundEventsKey, 'of', workflowId, filter],
    queryFn: ({ signal, pageParam }) =>
      api().listInboundEvents(workflowId, { ...filter, limit: 25, cursor: pageParam }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.events),
    // Each page is read again.
    refetchInterval: ({ state }) => READ_EVERY_MS * Math.max(1, state.data?.pages.length ?? 1),
  });

/** An event with its headers and its body. */
export const inboundEventQuery = (eventId: string) =>
  queryOptions({
    queryKey: [...inboundEventsKey, 'one', eventId],
    queryFn: ({ signal }) => api().getInboundEvent(eventId, { signal }),
  });

/** The newest replay of several events; null if there is none. Polled while it is running. */
export const lastReplayQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...inboundEventsKey, 'replay', workflowId],
    queryFn: async ({ signal }) =>
      (await api().listEventReplays(workflowId, { limit: 1 }, { signal })).replays[0] ?? null,
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? FOLLOW_EVERY_MS : false),
  });
