import { z } from 'zod';
import { type Pool, sql, statement } from '#shared/db/pool.ts';

const row = z.object({
  open: z.array(z.object({ status: z.string(), runs: z.number() })),
  outbox: z.number(),
  oldest_seconds: z.number(),
  calls: z.number(),
  call_waits: z.number(),
  queued: z.number(),
  slots: z.number(),
  waits_due: z.number(),
});

/**
 * Open runs by status, the number of outbox rows to dispatch, and the age of the oldest in seconds; 0 when there is
 * none. Starts of children that wait for other children do not count. Also the calls in flight that limits count, the
 * steps that wait for one, the runs that wait because of a limit of their workflow, the slots of such limits in use, and the
 * waiting steps that are to be woken.
 */
export async function countOpenRuns(db: Pool): Promise<z.infer<typeof row>> {
  return db.one(statement(row)`
    SELECT coalesce((SELECT json_agg(s) FROM (
             SELECT status, count(*) AS runs FROM runs
             WHERE status IN ('pending', 'running', 'paused') GROUP BY status) s), '[]') AS open,
           (SELECT count(*) FROM outbox WHERE due_at < 'infinity') AS outbox,
           coalesce((SELECT extract(epoch FROM now() - min(created_at)) FROM outbox WHERE due_at < 'infinity'), 0) AS oldest_seconds,
           (SELECT count(*) FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
            WHERE NOT c.ended AND s.claim = c.claim AND s.claim_until > clock_timestamp()) AS calls,
           (SELECT count(*) FROM call_waits) AS call_waits,
           (SELECT count(*) FROM run_places WHERE state IN ('waiting', 'debounced')) AS queued,
           (SELECT count(*) FROM run_places WHERE state IN ('holding', 'leaving', 'pausing')) AS slots,
           (SELECT count(*) FROM run_waits WHERE status <> 'cancelled' AND wake_at IS NOT NULL AND wake_at <= now()) AS waits_due
  `);
}

/** Those of these runs that are open according to Postgres. */
export async function findOpenRuns(db: Pool, runIds: readonly string[]): Promise<Set<string>> {
  const rows = await db.any(statement(z.object({ id: z.string() }))`
    SELECT id FROM runs
    WHERE id = ANY (${sql.array([...runIds], 'text')}) AND status IN ('pending', 'running', 'paused')
  `);
  return new Set(rows.map(({ id }) => id));
}

const crashedRow = z.object({ id: z.string(), workspace_id: z.string(), error: z.string() });
export type CrashedRun = z.infer<typeof crashedRow>;

/**
 * Runs of all workspaces that have failed since then because their execution was missing, oldest first. Child runs are
 * not included.
 */
export const listCrashedRuns = (db: Pool, since: Date): Promise<readonly CrashedRun[]> =>
  db.any(statement(crashedRow)`
    SELECT id, workspace_id, coalesce(error, '') AS error FROM runs
    WHERE status = 'failed' AND failure ->> 'kind' = 'crash' AND parent_run_id IS NULL AND rehearsal IS NULL
      AND finished_at >= ${since.toISOString()}::timestamptz
    ORDER BY created_at, id
  `);
