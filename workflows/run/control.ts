import { ApplicationFailure, isCancellation, sleep } from '@temporalio/workflow';
import type { ControlActivities } from '#shared/execution.ts';
import { causeOf } from '#workflows/cause.ts';
import { proxyAttempts, proxyBookkeeping } from '#workflows/local-attempts.ts';
import { handleResult, type Run } from './state.ts';

type OfWholeRun = 'loadLedger' | 'onFailure' | 'settleRun' | 'abandonRun';
type Awaited = 'pauseAtGates' | 'recordControlSteps';
type BesideLoop = Exclude<keyof ControlActivities, OfWholeRun | 'pauseAtGates'>;

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 10_000;

/** Activities that the loop awaits. */
export const control = proxyBookkeeping<Pick<ControlActivities, Awaited>>({
  firstRetryMs: FIRST_RETRY_MS,
});

/**
 * These activities read or close a whole run, which can take longer. Nothing is in flight then, and signals wait for
 * the result.
 */
export const wholeRun = proxyBookkeeping<Pick<ControlActivities, OfWholeRun>>({
  firstRetryMs: FIRST_RETRY_MS,
  attemptMs: () => 15_000,
});

const attempts = proxyAttempts<Pick<ControlActivities, BesideLoop>>();

/**
 * Makes a call beside the loop until it succeeds. The result takes its turn, and so does each wait for another attempt:
 * the SDK would start its timer at once, before or after the consequences of what arrived with the failure.
 */
export function callBeside<Result>(
  run: Run,
  call: (activities: typeof attempts) => Promise<Result>,
  succeeded: (result: Result) => void,
  failed: (error: unknown) => void,
): void {
  const attempt = (retryMs: number): void => {
    call(attempts).then(
      (result) => handleResult(run, () => succeeded(result)),
      (error: unknown) =>
        handleResult(run, () => {
          if (!isRetryable(error)) return failed(error);
          sleep(retryMs).then(() => {
            run.pace.arrived();
            handleResult(run, () => attempt(Math.min(2 * retryMs, LONGEST_RETRY_MS)));
          }, failed);
        }),
    );
  };
  attempt(FIRST_RETRY_MS);
}

function isRetryable(error: unknown): boolean {
  const cause = causeOf(error);
  const isFinal = cause instanceof ApplicationFailure && cause.nonRetryable === true;
  return !isFinal && !isCancellation(error);
}
