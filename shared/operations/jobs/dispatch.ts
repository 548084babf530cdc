import { readJobStart, requeueLostJobs } from '#shared/db/jobs/jobs.ts';
import { type BackgroundJobInput, JOB_WORKFLOW } from '#shared/contract/jobs/job.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { startOnce } from '#shared/operations/start-once.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';

const LOST_EVERY_MS = 60_000;
const LOST_BATCH = 50;

/** Starts the execution of a job, unless it has one or has ended. */
export async function startJobExecution(
  { db, temporal }: Pick<DispatchDeps, 'db' | 'temporal'>,
  jobId: string,
): Promise<void> {
  const job = await readJobStart(db, jobId);
  if (job === null) return;
  const input: BackgroundJobInput = {
    workspace_id: job.workspace_id,
    job_id: jobId,
    round: job.round,
    task_queue: temporal.queues.background,
  };
  await startOnce(temporal, {
    workflow: JOB_WORKFLOW,
    id: `${jobId}-${job.round}`,
    workspaceId: job.workspace_id,
    input,
    summary: `Background job: ${job.kind}`,
  });
}

/** Gives jobs whose executions were lost another one, until stopped. The reconciler starts these. */
export const startJobWatch = (deps: DispatchDeps): Loop =>
  startLoop({ name: 'lost jobs', ...deps, everyMs: LOST_EVERY_MS }, async () => {
    const lost = await requeueLostJobs(deps.db, LOST_BATCH);
    if (lost > 0) deps.log.warn({ jobs: lost }, 'background jobs had lost their executions');
    return lost === LOST_BATCH;
  });
