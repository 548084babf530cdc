import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const budgetsKey = ['budgets'] as const;

/** All budgets, each with the counters of its current window. */
export const budgetsQuery = queryOptions({
  queryKey: [...budgetsKey, 'list'],
  queryFn: ({ signal }) => api().listBudgets({ signal }),
});

/** Settled spend per day of the current window. */
export const budgetHistoryQuery = (budgetId: string) =>
  queryOptions({
    queryKey: [...budgetsKey, 'history', budgetId],
    queryFn: ({ signal }) => api().getBudgetHistory(budgetId, { signal }),
  });
