import { onceOf, type TriggerOptions } from './idempotency.ts';
import { byCursor } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { AnswerOf, BodyOf, QueryOf } from './routes.ts';
import type { Backtest, BacktestFinding, ListedBacktest, StartedJob } from './types.ts';

export function backtestMethods(send: Send) {
  const listBacktests = (
    query: QueryOf<'GET /api/workspace/policies/backtest'> = {},
    options?: CallOptions,
  ): Promise<AnswerOf<'GET /api/workspace/policies/backtest'>> =>
    send('GET /api/workspace/policies/backtest', [], { query, options });
  const getBacktest = (
    backtestId: string,
    query: QueryOf<'GET /api/workspace/policies/backtest/{id}'> = {},
    options?: CallOptions,
  ): Promise<Backtest> =>
    send('GET /api/workspace/policies/backtest/{id}', [backtestId], { query, options });

  return {
    /** Judges recorded steps by these policies, in the background. Read the backtest to follow it. */
    startBacktest: (
      body: BodyOf<'POST /api/workspace/policies/backtest'>,
      options?: TriggerOptions,
    ): Promise<StartedJob> =>
      send('POST /api/workspace/policies/backtest', [], { body, ...onceOf(options) }),
    /** A page of backtests, newest first. */
    listBacktests,
    /** All backtests, newest first. */
    backtests: (): AsyncGenerator<ListedBacktest, void> =>
      byCursor(
        (cursor) => listBacktests({ cursor }),
        (page) => page.backtests,
      ),
    /** A backtest with a page of the steps that would be judged differently. */
    getBacktest,
    /** All of these steps that are stored. */
    backtestSteps: (
      backtestId: string,
      query: Omit<QueryOf<'GET /api/workspace/policies/backtest/{id}'>, 'cursor'> = {},
    ): AsyncGenerator<BacktestFinding, void> =>
      byCursor(
        (cursor) => getBacktest(backtestId, { ...query, cursor }),
        (page) => page.steps,
      ),
    /** Cancels a backtest. Its findings so far are kept. */
    cancelBacktest: (backtestId: string, options?: CallOptions): Promise<StartedJob> =>
      send('POST /api/workspace/policies/backtest/{id}/cancel', [backtestId], { options }),
  };
}
