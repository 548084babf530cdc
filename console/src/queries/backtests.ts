import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { Backtest, BacktestFinding } from '#client/index.ts';
import { api } from '#console/src/api.ts';
import { cursorPages } from './pages.ts';

export const backtestsKey = ['backtests'] as const;

/** How often a running backtest is read. */
const RUNNING_EVERY_MS = 700;
const RECENT = 5;
const PAGE = 50;

/** The newest backtests. */
export const recentBacktestsQuery = queryOptions({
  queryKey: [...backtestsKey, 'recent'],
  queryFn: async ({ signal }) =>
    (await api().listBacktests({ limit: RECENT }, { signal })).backtests,
});

/** A backtest, read again while it is running. */
export const backtestQuery = (id: string) =>
  queryOptions({
    queryKey: [...backtestsKey, id],
    queryFn: ({ signal }): Promise<Backtest> => api().getBacktest(id, { limit: 1 }, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === 'running' ? RUNNING_EVERY_MS : false),
  });

export type Effect = BacktestFinding['effect'];

/**
 * The steps that would be judged differently, page by page. `status` is the status of the backtest, with which they
 * grow.
 */
export const backtestStepsQuery = (
  { id, status }: Pick<Backtest, 'id' | 'status'>,
  effect: Effect | undefined,
) =>
  infiniteQueryOptions({
    queryKey: [...backtestsKey, id, 'steps', status, effect],
    queryFn: ({ signal, pageParam }) =>
      api().getBacktest(id, { limit: PAGE, cursor: pageParam, effect }, { signal }),
    ...cursorPages,
    select: ({ pages }) => pages.flatMap(({ steps }) => steps),
  });
