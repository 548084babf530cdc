import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { QueryOf } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { tagged } from './tagged.ts';
import { newRows, nextOffset } from './pages.ts';

export const policiesKey = ['policies'] as const;

export const policiesQuery = queryOptions({
  queryKey: policiesKey,
  queryFn: async ({ signal }) => tagged(await api().getPolicies({ signal })),
});

export type DecisionFilter = Omit<QueryOf<'GET /api/governance/events'>, 'offset' | 'limit'>;

const PAGE = 50;

/** Decisions of policies, budgets and overrides, newest first, page by page. */
export const decisionsQuery = (filter: DecisionFilter) =>
  infiniteQueryOptions({
    queryKey: ['decisions', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listGovernanceEvents({ ...filter, limit: PAGE, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) => nextOffset(page.length, pages.flat().length, PAGE),
    select: ({ pages }) => newRows(pages),
  });
