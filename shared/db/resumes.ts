import { z } from 'zod';
import type { Actor } from '../actor.ts';
import { conflict, notFound } from '../errors.ts';
import { recordAudit } from './audit.ts';
import { enqueue, type OutboxRow } from './outbox.ts';
import { type Pool, sql } from './pool.ts';

/**
 * Asks that a failed run goes on: the run is `running` again, the failure it reported is granted, and the reset of
 * its execution is promised. Two resumes at once: the second finds the run no longer failed, 409.
 */
export async function resumeRun(
  db: Pool,
  resume: { actor: Actor; runId: string },
): Promise<OutboxRow> {
  const { actor, runId } = resume;
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.prepared('resume_lock_run', z.object({ status: z.string() }))`
      SELECT status FROM runs WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} FOR UPDATE
    `);
    if (run === null) throw notFound('Run');
    if (run.status !== 'failed') {
      throw conflict(`Run is ${run.status}: only a failed run can be resumed`);
    }
    await tx.query(sql.prepared('resume_run', z.object({}))`
      UPDATE runs SET status = 'running', error = NULL, failure = NULL, finished_at = NULL, evals = NULL,
        failures_granted = failures_reported, resumed_count = resumed_count + 1, phase_since = clock_timestamp(),
        updated_at = now(), lost_since = NULL,
        superseded = CASE WHEN temporal_run_id IS NULL THEN superseded ELSE array_append(superseded, temporal_run_id) END
      WHERE id = ${runId}
    `);
    await recordAudit(tx, actor, { action: 'resume', targetType: 'run', targetId: runId });
    return enqueue(tx, { runId, kind: 'resume' });
  });
}
