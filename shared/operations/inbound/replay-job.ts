import { z } from 'zod';
import { replayRangeBody } from '#shared/contract/inbound/inbound-event.ts';
import {
  countReplayable,
  isReplayOf,
  nextReplayable,
  replayPosition,
  type ReplayableEvent,
  type ReplayScope,
} from '#shared/db/inbound/replays.ts';
import type { RunningJob } from '#shared/db/jobs/jobs.ts';
import { AppError, errorTable } from '#shared/errors.ts';
import type { JobWork } from '#shared/operations/jobs/work.ts';
import { type RunDeps, triggerRun } from '#shared/operations/runs/runs.ts';
import { replayOf } from './replay.ts';
import { resend } from './send.ts';

/** The request that started a replay of several events. */
export const replayJobRequest = z.object({
  ...replayRangeBody.shape,
  until: z.string(),
  workflow_id: z.string(),
});

const resultShape = z.object({
  started: z.number(),
  sent: z.number().default(0),
  duplicates: z.number(),
  refused: z.number(),
  last_refusal: z.string().nullable(),
});
type Result = z.infer<typeof resultShape>;

/** The counts of a replay so far. */
export const replayResultOf = (result: unknown): Result =>
  resultShape.safeParse(result).data ?? {
    started: 0,
    sent: 0,
    duplicates: 0,
    refused: 0,
    last_refusal: null,
  };

/** The number of events per page. They start one after another. */
const PAGE = 10;
/** The maximum length of a stored refusal, in characters. */
const MAX_REFUSAL = 500;

const scopeOf = (job: RunningJob): ReplayScope => {
  const { workflow_id: workflowId, ...request } = replayJobRequest.parse(job.request);
  return { ...request, workspaceId: job.workspace_id, workflowId, jobId: job.id };
};

/** Replays the events of a range, oldest first. An event that has already started its run starts no second one. */
export const replayJob: JobWork = {
  count: ({ db }, job) => countReplayable(db, scopeOf(job)),
  page: async (deps, job, signal) => {
    const scope = scopeOf(job);
    const after = job.position === null ? null : replayPosition.parse(job.position);
    const limit = Math.min(PAGE, scope.limit - job.done);
    const events = limit <= 0 ? [] : await nextReplayable(deps.db, scope, { after, limit });
    const result = { ...replayResultOf(job.result) };
    for (const event of events) {
      signal.throwIfAborted();
      await replay(deps, job, { scope, event, result });
    }
    const last = events.at(-1);
    return {
      position: last === undefined ? null : { at: last.at, id: last.id },
      items: events.length,
      result: { ...result },
      keep: async () => undefined,
    };
  },
};

/** Starts the run of an event or sends it, and counts it in `result`. Throws errors that a retry may fix. */
async function replay(
  deps: RunDeps,
  job: RunningJob,
  { scope, event, result }: { scope: ReplayScope; event: ReplayableEvent; result: Result },
): Promise<void> {
  const actor = {
    workspaceId: job.workspace_id,
    id: job.created_by,
    name: job.created_by_name,
  };
  try {
    const { deduplicate } = scope;
    const replay = await replayOf(actor, event, { deduplicate, jobId: job.id });
    if ('event' in replay) {
      const { created } = await resend(deps, replay.event);
      if (created) result.sent += 1;
      else result.duplicates += 1;
      return;
    }
    const { admitted, runId } = await triggerRun(deps, replay.run);
    // An earlier execution of this page may have started it.
    if (admitted !== undefined || (await isReplayOf(deps.db, { runId, jobId: job.id }))) {
      result.started += 1;
    } else result.duplicates += 1;
  } catch (error) {
    if (!(error instanceof AppError) || errorTable[error.code].retryable) throw error;
    result.refused += 1;
    result.last_refusal = error.message.slice(0, MAX_REFUSAL);
  }
}
