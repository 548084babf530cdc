import type { EvaluationCheck, Evals } from '#shared/contract/workflows/evaluation-check.ts';
import {
  type CheckedRun,
  evaluateChecks,
  failedChecks,
  parseChecked,
  type StoredRun,
} from '#shared/graph/checks.ts';
import { SMALL_WORK } from '#shared/values/work-budget.ts';
import { WorkLimitError, workThreads } from './threads.ts';

/** Scores a run. If the checks take too long in total, the rest fail with a message. Throws WorkBusyError. */
export async function evaluateChecksUntrusted(
  workspaceId: string,
  checks: EvaluationCheck[],
  run: CheckedRun,
): Promise<Evals> {
  const budget = { work: SMALL_WORK };
  const evals = evaluateChecks(checks, run, { budget });
  return budget.work >= 0 ? evals : checksInThread(workspaceId, checks, run);
}

/** Up to this many characters, a run's state and output are parsed here, in less than a millisecond. */
const QUICK_CHARACTERS = 20_000;

/**
 * Like `evaluateChecksUntrusted`, for a run that is stored, or will be. Larger runs are parsed on a thread. Throws
 * WorkBusyError.
 */
export async function evaluateStoredChecks(
  workspaceId: string,
  checks: EvaluationCheck[],
  run: StoredRun,
): Promise<Evals> {
  if (run.state.length + run.output.length > QUICK_CHARACTERS) {
    return checksInThread(workspaceId, checks, run);
  }
  return evaluateChecksUntrusted(workspaceId, checks, parseChecked(run));
}

async function checksInThread(
  workspaceId: string,
  checks: EvaluationCheck[],
  run: CheckedRun | StoredRun,
): Promise<Evals> {
  try {
    return await workThreads.run(workspaceId, 'checks', { checks, run });
  } catch (error) {
    if (!(error instanceof WorkLimitError)) throw error;
    return failedChecks(checks, `The checks of this run could not be evaluated: ${error.message}`);
  }
}
