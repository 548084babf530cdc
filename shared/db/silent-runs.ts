import { z } from 'zod';
import { type Db, sql, syncCommit } from './pool.ts';

/** An open run that is to be compared with Temporal. */
const silentRun = z.object({
  id: z.string(),
  /** For how long no live execution has been seen behind it; null: there was one at the last look. */
  lost_for_ms: z.number().nullable(),
});
export type SilentRun = z.infer<typeof silentRun>;

/**
 * Takes up to `limit` open runs that wait for nothing of ours to be compared with Temporal: those nobody has heard of
 * for `lookMs`, each once in that time however many processes take, and those whose execution was found gone, again
 * when `graceMs` have passed since.
 */
export async function takeSilentRuns(
  db: Db,
  { lookMs, graceMs, limit }: { lookMs: number; graceMs: number; limit: number },
): Promise<readonly SilentRun[]> {
  // A mark that a crash of the database loses means one more look.
  return db.any(sql.prepared('take_silent_runs', silentRun)`
    UPDATE runs SET checked_at = now()
    WHERE id IN (
      SELECT r.id FROM runs r
      WHERE r.status IN ('pending', 'running', 'paused')
        AND coalesce(r.checked_at, r.created_at) < now() - ${lookMs}::int * interval '1 ms'
        AND CASE WHEN r.lost_since IS NULL THEN r.updated_at < now() - ${lookMs}::int * interval '1 ms'
                 ELSE r.lost_since < now() - ${graceMs}::int * interval '1 ms' END
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind <> 'alert')
      ORDER BY coalesce(r.checked_at, r.created_at) LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, (extract(epoch FROM now() - lost_since) * 1000)::bigint AS lost_for_ms, ${syncCommit(false)}
  `);
}

/** Notes that no live execution was found behind an open run, since when, or that there is one after all. */
export async function markLost(db: Db, runId: string, lost: boolean): Promise<void> {
  await db.query(sql.prepared('mark_lost', z.object({}))`
    UPDATE runs SET lost_since = CASE WHEN ${lost} THEN coalesce(lost_since, now()) END
    WHERE id = ${runId} AND status IN ('pending', 'running', 'paused') AND (${lost} OR lost_since IS NOT NULL)
  `);
}
