import { queryOptions } from '@tanstack/react-query';
import type { Schedule } from '#client/index.ts';
import { api } from '#console/src/api.ts';

export const schedulesKey = ['schedules'] as const;

const PAGE = 200;
const MOST_PAGES = 25;

/** All schedules of the workspace, at most 5,000: the service lists them without a filter. */
export const schedulesQuery = queryOptions({
  queryKey: schedulesKey,
  queryFn: async ({ signal }) => {
    const all: Schedule[] = [];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const rows = await api().listSchedules({ limit: PAGE, offset: page * PAGE }, { signal });
      all.push(...rows);
      if (rows.length < PAGE) break;
    }
    return all;
  },
});
