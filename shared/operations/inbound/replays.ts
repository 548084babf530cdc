import type { Actor } from '#shared/people/actor.ts';
import type { EventReplay, ReplayRange } from '#shared/contract/inbound/inbound-event.ts';
import type { StartedJob } from '#shared/contract/jobs/job.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { cancelJob, insertJob, type Job, listJobs, readJob } from '#shared/db/jobs/jobs.ts';
import { keepWorkflow, type WorkflowScope } from '#shared/db/workflows/workflows.ts';
import { AppError } from '#shared/errors.ts';
import { dispatch } from '#shared/operations/runs/dispatch.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import type { Dispatched } from '#shared/operations/runs/runs.ts';
import { replayJobRequest, replayResultOf } from './replay-job.ts';

const kind = 'event_replay';
const NOUN = 'Replay';

/**
 * Starts a replay of several events: when it returns, it is committed and will execute. Throws AppError `not_found`,
 * `invalid` for a range that ends before it begins, and `conflict` when too many jobs are running.
 */
export async function startReplay(
  deps: DispatchDeps,
  actor: Actor,
  workflowId: string,
  range: ReplayRange,
): Promise<StartedJob & Dispatched> {
  const { until = new Date().toISOString() } = range;
  if (Date.parse(range.since) >= Date.parse(until)) {
    throw new AppError('invalid', 'Invalid body: since must be before until');
  }
  const { workspaceId } = actor;
  const { id, row } = await deps.db.transaction(async (tx) => {
    await keepWorkflow(tx, { workspaceId, workflowId });
    const request = { ...range, until };
    const job = await insertJob(tx, actor, {
      kind,
      request: { ...request, workflow_id: workflowId },
    });
    await recordAudit(tx, actor, {
      action: 'webhook_replay_all',
      targetType: 'workflow',
      targetId: workflowId,
      details: { replay_id: job.id, ...request },
    });
    return job;
  });
  return { id, status: 'running', dispatched: dispatch(deps, row) };
}

/** Throws AppError `not_found`. */
export const readReplay = async (
  { db }: Pick<DispatchDeps, 'db'>,
  scope: { workspaceId: string; jobId: string },
): Promise<EventReplay> => toReplay(await readJob(db, { ...scope, kind }, NOUN));

/** A page of the replays of a workflow, newest first. Throws AppError `invalid`. */
export async function listReplays(
  { db }: Pick<DispatchDeps, 'db'>,
  scope: WorkflowScope,
  page: { limit: number; cursor?: string | undefined },
): Promise<{ replays: EventReplay[]; next_cursor: string | null }> {
  const { jobs, next_cursor } = await listJobs(db, { ...scope, kind }, page);
  return { replays: jobs.map(toReplay), next_cursor };
}

/** Cancels a running replay. Runs that it started continue. Throws AppError `not_found`, `conflict`. */
export async function cancelReplay(
  { db }: Pick<DispatchDeps, 'db'>,
  actor: Actor,
  jobId: string,
): Promise<EventReplay> {
  const scope = { workspaceId: actor.workspaceId, jobId, kind } as const;
  return db.transaction(async (tx) => {
    await cancelJob(tx, scope, NOUN);
    const replay = toReplay(await readJob(tx, scope, NOUN));
    await recordAudit(tx, actor, {
      action: 'webhook_replay_cancel',
      targetType: 'workflow',
      targetId: replay.workflow_id,
      details: { replay_id: jobId },
    });
    return replay;
  });
}

function toReplay({ request, result, ...job }: Job): EventReplay {
  const { workflow_id, since, until, outcome } = replayJobRequest.parse(request);
  return { ...job, workflow_id, since, until, outcome, ...replayResultOf(result) };
}
