import type { JobPart } from '#shared/contract/jobs/job.ts';
import {
  type JobKind,
  keepPage,
  keepTotal,
  readRunningJob,
  type RunningJob,
} from '#shared/db/jobs/jobs.ts';
import type { Pool } from '#shared/db/pool.ts';
import { replayJob } from '#shared/operations/inbound/replay-job.ts';
import { experimentJob } from '#shared/operations/experiments/work.ts';
import type { RunDeps } from '#shared/operations/runs/runs.ts';
import { backtestJob } from '#shared/operations/policies/backtest.ts';
import type { JobPage, JobWork } from './work.ts';

const kinds: Record<JobKind, JobWork> = {
  backtest: backtestJob,
  experiment: experimentJob,
  event_replay: replayJob,
};

export interface AdvanceOptions {
  /** Stops after this time, but processes at least one page. */
  budgetMs?: number;
  /** Called after every page; throws to stop there. */
  onBatch: () => void;
  signal: AbortSignal;
}

const BUDGET_MS = 30_000;

/** Works on a job for a bounded time. Another execution may work on it concurrently: each page is stored once. */
export async function advanceJob(
  deps: RunDeps,
  scope: { workspaceId: string; jobId: string; round: number },
  { budgetMs = BUDGET_MS, onBatch, signal }: AdvanceOptions,
): Promise<JobPart> {
  const { db } = deps;
  const end = performance.now() + budgetMs;
  do {
    const job = await readRunningJob(db, scope);
    if (job === null) return 'ended';
    const work = kinds[job.kind];
    if (job.total === null) await keepTotal(db, job, await work.count(deps, job, onBatch));
    const page = await work.page(deps, job, signal);
    const kept = await keep(db, job, page);
    onBatch();
    if (kept && page.position === null) return 'ended';
  } while (performance.now() < end);
  return 'more';
}

/** Returns false when another execution has stored the page, or the job has ended. */
const keep = (db: Pool, job: RunningJob, page: JobPage): Promise<boolean> =>
  db.transaction(async (tx) => {
    // First, so that of two executions, the second waits for the row here and finds that the page is stored.
    if (!(await keepPage(tx, job, page))) return false;
    await page.keep(tx);
    return true;
  });
