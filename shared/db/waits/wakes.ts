import { z } from 'zod';
import { type Db, statement } from '#shared/db/pool.ts';
import type { WaitPlace } from '#shared/graph/waits/wait-call.ts';

/** Waiting steps whose executions are to read their rows, in the order of their times. */

const place = z.object({ run_id: z.string(), step_key: z.string() });

const leased = z.object({ ...place.shape, until: z.string() });
/** A step that one process wakes, and the end of its lease. */
export type LeasedWake = z.infer<typeof leased>;

/** The workspaces that have such steps. */
export const workspacesToWake = (db: Db): Promise<readonly string[]> =>
  db.anyFirst(statement(z.object({ workspace_id: z.string() }))`
    SELECT DISTINCT workspace_id FROM run_waits
    WHERE status <> 'cancelled' AND wake_at IS NOT NULL AND wake_at <= now()
  `);

/**
 * Leases the first of a workspace. If their executions do not read the rows, they are due again after the lease, which is as
 * long as they have been due, within these limits.
 */
export const leaseWakes = (
  db: Db,
  {
    workspaceId,
    limit,
    leaseMs,
  }: { workspaceId: string; limit: number; leaseMs: { least: number; most: number } },
): Promise<readonly LeasedWake[]> =>
  db.any(statement(leased)`
    WITH first AS (
      SELECT run_id, step_key FROM run_waits
      WHERE workspace_id = ${workspaceId} AND status <> 'cancelled' AND wake_at IS NOT NULL AND wake_at <= now()
      ORDER BY wake_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE run_waits w SET wake_at = now() + least(
      greatest(${leaseMs.least}::int * interval '1 ms', now() - coalesce(ended_at, due_at, remind_at)),
      ${leaseMs.most}::int * interval '1 ms')
    FROM first f
    WHERE w.run_id = f.run_id AND w.step_key = f.step_key
    RETURNING w.run_id, w.step_key, w.wake_at::text AS until
  `);

/** Those of leased steps whose executions have not read their rows yet. */
export const stillLeased = (db: Db, places: readonly WaitPlace[]): Promise<readonly WaitPlace[]> =>
  db.any(statement(place)`
    SELECT w.run_id, w.step_key
    FROM json_to_recordset(${JSON.stringify(places)}::json) AS p (run_id text, step_key text)
    JOIN run_waits w ON w.run_id = p.run_id AND w.step_key = p.step_key
    WHERE w.status <> 'cancelled' AND w.wake_at > now()
  `);

/**
 * Ends a lease, because the execution is closed, unless another one has read the row meanwhile. If the run gets one later, that
 * reads the row when it starts.
 */
export const dropWake = (db: Db, { run_id, step_key, until }: LeasedWake): Promise<unknown> =>
  db.query(statement(z.object({}))`
    UPDATE run_waits SET wake_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND wake_at = ${until}::timestamptz
  `);
