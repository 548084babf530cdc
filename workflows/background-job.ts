import {
  ActivityFailure,
  continueAsNew,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { BackgroundJobInput, JobActivities } from '#shared/contract/jobs/job.ts';
import { causeOf } from './cause.ts';
import { isAmount, isText, requireInput } from './received.ts';

const inputFields = { task_queue: isText, workspace_id: isText, job_id: isText, round: isAmount };

/** Attempts at one part of a job. With the pauses in between, they take more than half an hour. */
const MAX_ATTEMPTS = 40;

/**
 * One execution of a background job. The job's row counts the pages and stores where it continues, so that a repeated
 * attempt, or a second execution, does nothing twice. A cancelled job ends at its next page.
 */
export async function backgroundJob(input: BackgroundJobInput): Promise<void> {
  requireInput('backgroundJob', inputFields, input);
  const { task_queue, workspace_id, job_id, round } = input;
  const job = { workspace_id, job_id, round };
  const retry = {
    initialInterval: '1s',
    backoffCoefficient: 2,
    maximumInterval: '1 minute',
  } as const;
  const { advanceJob } = proxyActivities<Pick<JobActivities, 'advanceJob'>>({
    taskQueue: task_queue,
    startToCloseTimeout: '10 minutes',
    heartbeatTimeout: '15s',
    retry: { ...retry, maximumAttempts: MAX_ATTEMPTS },
  });
  const { failJob } = proxyActivities<Pick<JobActivities, 'failJob'>>({
    taskQueue: task_queue,
    startToCloseTimeout: '1 minute',
    retry,
  });
  for (;;) {
    try {
      if ((await advanceJob(job)) === 'ended') return;
    } catch (error) {
      // An operator who cancels the execution does not end the job: it gets another execution.
      if (!(error instanceof ActivityFailure) || error.retryState !== 'MAXIMUM_ATTEMPTS_REACHED') {
        throw error;
      }
      const cause = causeOf(error);
      await failJob({ ...job, error: cause instanceof Error ? cause.message : String(cause) });
      throw error;
    }
    if (workflowInfo().continueAsNewSuggested) return continueAsNew<typeof backgroundJob>(input);
  }
}
