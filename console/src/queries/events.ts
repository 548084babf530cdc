import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

/** The events that callers and runs have sent, and what they started. */
export const eventsKey = ['events'] as const;
export const triggersKey = ['triggers'] as const;

const READ_EVERY_MS = 5_000;
const PAGE = 50;

/** The events of a workspace, newest first, page by page. */
export const eventsQuery = (name: string | undefined) =>
  infiniteQueryOptions({
    queryKey: [...eventsKey, 'all', name],
    queryFn: ({ signal, pageParam }) =>
      api().listWorkspaceEvents({ name, limit: PAGE, cursor: pageParam }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap((page) => page.events),
    // Each page is read again.
    refetchInterval: ({ state }) => READ_EVERY_MS * Math.max(1, state.data?.pages.length ?? 1),
  });

/** An event with what it has done. */
export const eventQuery = (eventId: string) =>
  queryOptions({
    queryKey: [...eventsKey, 'one', eventId],
    queryFn: ({ signal }) => api().getWorkspaceEvent(eventId, { signal }),
    refetchInterval: READ_EVERY_MS,
  });

/** What open runs wait for, newest first, page by page. */
export const waitsQuery = infiniteQueryOptions({
  queryKey: [...eventsKey, 'waits'],
  queryFn: ({ signal, pageParam }) =>
    api().listWaits({ limit: PAGE, cursor: pageParam }, { signal }),
  ...cursorPages,
  select: ({ pages }) => pages.flatMap((page) => page.waits),
  refetchInterval: ({ state }) => READ_EVERY_MS * Math.max(1, state.data?.pages.length ?? 1),
});

/** The steps that wait until this member signs in to a connection, newest first. */
export const signInsQuery = (memberId: string) =>
  queryOptions({
    queryKey: [...eventsKey, 'sign-ins', memberId],
    queryFn: ({ signal }) =>
      api().listWaits({ for: 'connection', member_id: memberId, limit: PAGE }, { signal }),
    refetchInterval: READ_EVERY_MS,
  });

/** The event triggers of a workflow, newest first. */
export const triggersQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...triggersKey, workflowId],
    queryFn: ({ signal }) => api().listEventTriggers(workflowId, {}, { signal }),
    refetchInterval: READ_EVERY_MS,
  });
