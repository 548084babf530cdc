import { z } from 'zod';
import { type Pool, sql } from '../pool.ts';

const row = z.object({
  open: z.array(z.object({ status: z.string(), runs: z.number() })),
  outbox: z.number(),
  oldest_seconds: z.number(),
});

/** Open runs by status, the number of waiting outbox rows, and the age in seconds of the oldest; 0 when none waits. */
export async function countOpenRuns(db: Pool): Promise<z.infer<typeof row>> {
  return db.one(sql.prepared('metrics_state', row)`
    SELECT coalesce((SELECT json_agg(s) FROM (
             SELECT status, count(*) AS runs FROM runs
             WHERE status IN ('pending', 'running', 'paused') GROUP BY status) s), '[]') AS open,
           (SELECT count(*) FROM outbox) AS outbox,
           coalesce((SELECT extract(epoch FROM now() - min(created_at)) FROM outbox), 0) AS oldest_seconds
  `);
}
