import { z } from 'zod';
import { type Db, sql, statement } from '#shared/db/pool.ts';

const WINDOW_MINUTES = 15;

const attemptRow = z.object({ subject: z.string(), failures: z.number(), seconds: z.number() });

/**
 * Counts an attempt against each subject as a failure, before the result is known, so that concurrent attempts stay
 * within the limit. Returns each subject's count in its current window, and the seconds until the window ends.
 */
export async function countAttempt(
  db: Db,
  subjects: readonly string[],
): Promise<readonly { subject: string; failures: number; seconds: number }[]> {
  return db.any(statement(attemptRow)`
    INSERT INTO sign_in_failures AS f (subject, failures, window_ends_at)
    SELECT subject, 1, now() + ${WINDOW_MINUTES}::int * interval '1 minute'
    FROM unnest(${sql.array(subjects.toSorted(), 'text')}) AS s (subject) ORDER BY subject
    ON CONFLICT (subject) DO UPDATE SET
      failures = CASE WHEN f.window_ends_at <= now() THEN 1 ELSE f.failures + 1 END,
      window_ends_at = CASE WHEN f.window_ends_at <= now() THEN excluded.window_ends_at ELSE f.window_ends_at END
    RETURNING subject, failures, ceil(extract(epoch FROM window_ends_at - now()))::int AS seconds
  `);
}

const nothing = z.object({});

/** Subtracts an attempt that did not fail from each subject. */
export async function forgiveAttempt(db: Db, subjects: readonly string[]): Promise<void> {
  await db.query(statement(nothing)`
    WITH held AS MATERIALIZED (
      SELECT subject FROM sign_in_failures WHERE subject = ANY(${sql.array(subjects.toSorted(), 'text')})
      ORDER BY subject FOR UPDATE
    )
    UPDATE sign_in_failures f SET failures = greatest(f.failures - 1, 0) FROM held WHERE f.subject = held.subject
  `);
}

/** Removes expired windows, at most `batch`; returns how many. */
export async function dropEndedWindows(db: Db, batch: number): Promise<number> {
  const { rowCount } = await db.query(statement(nothing)`
    DELETE FROM sign_in_failures WHERE subject IN (
      SELECT subject FROM sign_in_failures WHERE window_ends_at <= now() LIMIT ${batch} FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}
