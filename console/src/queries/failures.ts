import { queryOptions } from '@tanstack/react-query';
import type { RunSummary } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { runsKey } from './runs.ts';

/** The number of cancelled runs, up to this; the service's success rate counts them as failed. */
const MANY_CANCELLED = 100;

export const cancelledQuery = queryOptions({
  queryKey: [...runsKey, 'cancelled'],
  queryFn: async ({ signal }) => {
    const filter = { failure_kind: 'cancelled', mode: 'live', limit: MANY_CANCELLED } as const;
    const { runs, next_cursor } = await api().listRuns(filter, { signal });
    return { count: runs.length, more: next_cursor !== null };
  },
});

const LOOKED_THROUGH = 25;
const SHOWN = 5;

/** Failures that people caused intentionally. */
const meant: readonly (NonNullable<RunSummary['failure']>['kind'] | undefined)[] = [
  'cancelled',
  'rejected',
];

/** The newest failed runs, except cancelled and rejected ones, and rehearsals. */
export const recentFailuresQuery = queryOptions({
  queryKey: [...runsKey, 'failures'],
  queryFn: async ({ signal }) => {
    const filter = { status: 'failed', mode: 'live', limit: LOOKED_THROUGH } as const;
    const { runs } = await api().listRuns(filter, { signal });
    return runs.filter(({ failure }) => !meant.includes(failure?.kind)).slice(0, SHOWN);
  },
});
