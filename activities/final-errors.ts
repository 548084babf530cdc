import { ApplicationFailure } from '@temporalio/activity';
import { UnusableLedgerError } from '#shared/db/runs/restart.ts';
import { messageOf } from '#shared/errors.ts';
import { FAILURE_RUN_GONE } from '#shared/execution.ts';

/** The failure of work that the run no longer accepts. */
export const runGone = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('The run no longer accepts this work', FAILURE_RUN_GONE);

type Activity = (...args: never[]) => Promise<unknown>;

/**
 * The activities, which Temporal repeats until they succeed, except for errors that would occur again: these fail the
 * execution, and so end the run with their reason.
 */
export function withFinalErrors<Activities extends object>(activities: Activities): Activities {
  const entries = Object.entries(activities) as [string, Activity][];
  return Object.fromEntries(
    entries.map(([name, activity]) => [
      name,
      async (...args: never[]) => {
        try {
          return await activity(...args);
        } catch (error) {
          if (!isFinal(error)) throw error;
          throw ApplicationFailure.nonRetryable(messageOf(error), 'Unrepeatable');
        }
      },
    ]),
  ) as Activities;
}

/** A value is too deep or too large for the engine, or for Postgres (its class 54: a limit of the program). */
function isFinal(error: unknown): boolean {
  if (error instanceof UnusableLedgerError || error instanceof RangeError) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'string' && /^54\d{3}$/.test(code)) return true;
  }
  return false;
}
