import { Context } from '@temporalio/activity';
import { failJob } from '#shared/db/jobs/jobs.ts';
import type { JobActivities } from '#shared/contract/jobs/job.ts';
import { advanceJob } from '#shared/operations/jobs/advance.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { inParts } from './parts.ts';

/** The activities of background jobs of every kind. */
export const createJobActivities = (deps: RunDeps): JobActivities => ({
  advanceJob: ({ workspace_id: workspaceId, job_id: jobId, round }) => {
    const context = Context.current();
    return inParts(context, (onBatch) =>
      advanceJob(
        deps,
        { workspaceId, jobId, round },
        { onBatch, signal: context.cancellationSignal },
      ),
    );
  },
  failJob: ({ workspace_id: workspaceId, job_id: jobId, round, error }) =>
    failJob(deps.db, { workspaceId, jobId, round, error }),
});
