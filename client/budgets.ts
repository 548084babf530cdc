import { wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf } from './routes.ts';
import type { Budget, BudgetHistory, BudgetStatus } from './types.ts';

export function budgetMethods(send: Send) {
  return {
    listBudgets: (options?: CallOptions): Promise<Budget[]> =>
      wholeList((query) => send('GET /api/budgets', [], { query, options }), {}),
    createBudget: (body: BodyOf<'POST /api/budgets'>, options?: CallOptions): Promise<Budget> =>
      send('POST /api/budgets', [], { body, options }),
    getBudget: (budgetId: string, options?: CallOptions): Promise<Budget> =>
      send('GET /api/budgets/{id}', [budgetId], { options }),
    updateBudget: (
      budgetId: string,
      body: BodyOf<'PUT /api/budgets/{id}'>,
      options?: WriteOptions,
    ): Promise<Budget> => send('PUT /api/budgets/{id}', [budgetId], { body, options }),
    deleteBudget: (budgetId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/budgets/{id}', [budgetId], { options }),
    /** Spent, reserved and remaining amounts of the current window. */
    getBudgetStatus: (budgetId: string, options?: CallOptions): Promise<BudgetStatus> =>
      send('GET /api/budgets/{id}/status', [budgetId], { options }),
    /** Spend of the current window by day. */
    getBudgetHistory: (budgetId: string, options?: CallOptions): Promise<BudgetHistory> =>
      send('GET /api/budgets/{id}/history', [budgetId], { options }),
  };
}
