import { z } from 'zod';
import { type Db, sql, statement, syncCommit } from '#shared/db/pool.ts';

/** An open run to compare with Temporal. */
const silentRun = z.object({
  id: z.string(),
  /** How long the run has had no live execution; null if the last check found one. */
  lost_for_ms: z.number().nullable(),
});
export type SilentRun = z.infer<typeof silentRun>;

/**
 * Returns open runs that do not wait in a queue, without outbox entries other than alerts, to compare them with Temporal, each once per interval
 * across all processes. Up to `limit` of each of these, in this order:
 *
 * - runs whose execution was missing `graceMs` ago or earlier
 * - runs in `suspects`, at least `suspectMs` after their last check
 * - runs that were silent for `lookMs`, those with the oldest check first
 */
export async function takeSilentRuns(
  db: Db,
  {
    lookMs,
    graceMs,
    suspectMs,
    suspects,
    limit,
  }: {
    lookMs: number;
    graceMs: number;
    suspectMs: number;
    suspects: readonly string[];
    limit: number;
  },
): Promise<readonly SilentRun[]> {
  const before = (ms: number) => sql.fragment`now() - ${ms}::int * interval '1 ms'`;
  const idle = sql.fragment`r.status IN ('pending', 'running', 'paused')
        AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind <> 'alert')
        AND (r.limits IS NULL OR NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.state IN ('waiting', 'debounced')))`;
  const lookedAt = sql.fragment`coalesce(r.checked_at, r.created_at)`;
  // If a database crash loses a mark, the run is checked once more.
  return db.any(statement(silentRun)`
    WITH lost AS (
      SELECT r.id FROM runs r
      WHERE ${idle} AND r.lost_since < ${before(graceMs)} AND ${lookedAt} < ${before(suspectMs)}
      ORDER BY r.lost_since LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), suspected AS (
      SELECT r.id FROM runs r
      WHERE r.id = ANY (${sql.array([...suspects], 'text')}) AND ${idle} AND r.lost_since IS NULL
        AND ${lookedAt} < ${before(suspectMs)}
      ORDER BY ${lookedAt} LIMIT ${limit} FOR UPDATE SKIP LOCKED
    ), silent AS (
      SELECT r.id FROM runs r
      WHERE ${idle} AND r.lost_since IS NULL AND r.updated_at < ${before(lookMs)}
        AND ${lookedAt} < ${before(lookMs)}
      ORDER BY ${lookedAt} LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE runs SET checked_at = now()
    WHERE id IN (SELECT id FROM lost UNION ALL SELECT id FROM suspected UNION ALL SELECT id FROM silent)
    RETURNING id, (extract(epoch FROM now() - lost_since) * 1000)::bigint AS lost_for_ms, ${syncCommit(false)}
  `);
}

/** Records whether an open run has lost its execution, and since when. */
export async function markLost(db: Db, runId: string, lost: boolean): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE runs SET lost_since = CASE WHEN ${lost} THEN coalesce(lost_since, now()) END
    WHERE id = ${runId} AND status IN ('pending', 'running', 'paused') AND (${lost} OR lost_since IS NOT NULL)
  `);
}
