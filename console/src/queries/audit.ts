import { infiniteQueryOptions } from '@tanstack/react-query';
import type { QueryOf } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { newRows, nextOffset } from './pages.ts';

export type AuditFilter = Omit<QueryOf<'GET /api/audit'>, 'offset' | 'limit'>;

const PAGE = 50;

/** Entries that match the filter, newest first, page by page, and their total. */
export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', filter],
    queryFn: ({ signal, pageParam }) =>
      api().listAudit({ ...filter, limit: PAGE, offset: pageParam }, { signal }),
    initialPageParam: 0,
    getNextPageParam: (page, pages) =>
      nextOffset(page.logs.length, pages.flatMap((each) => each.logs).length, PAGE),
    select: ({ pages }) => ({
      entries: newRows(pages.map((page) => page.logs)),
      total: pages.at(-1)?.total ?? 0,
    }),
  });
