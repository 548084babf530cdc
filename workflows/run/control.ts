import type { ControlActivities } from '#shared/execution.ts';
import { proxyBookkeeping } from '#workflows/local-attempts.ts';

type OfWholeRun = 'loadLedger' | 'onFailure' | 'settleRun' | 'abandonRun';

export const control = proxyBookkeeping<Omit<ControlActivities, OfWholeRun>>({ firstRetryMs: 50 });

/**
 * These activities read or close a whole run, which can take longer. Nothing is in flight then, and signals wait for
 * the result.
 */
export const wholeRun = proxyBookkeeping<Pick<ControlActivities, OfWholeRun>>({
  firstRetryMs: 50,
  attemptMs: () => 15_000,
});
