import { z } from 'zod';
import { type FragmentSqlToken, type Pool, sql } from '#shared/db/pool.ts';
import { eventually } from './engine.ts';

/**
 * The number of sessions that wait for a lock and whose statement contains the text. Call it outside a transaction:
 * within one, Postgres returns the same statistics snapshot every time.
 */
const lockWaiters = (db: Pool, text = ''): Promise<number> =>
  db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, ${text}) > 0`);

/** Resolves when at least this many sessions wait for a lock. */
export const untilLockWaiters = (db: Pool, sessions: number, text?: string): Promise<void> =>
  eventually(async () => (await lockWaiters(db, text)) >= sessions);

/**
 * Starts `act` while a transaction holds the rows that `change` writes, and commits it once `act` waits for the lock.
 * `meanwhile` runs in between: `act` has its snapshot and waits.
 */
export async function beside<T>(
  db: Pool,
  change: FragmentSqlToken,
  act: () => Promise<T>,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<T> {
  const changed = Promise.withResolvers<undefined>();
  const commit = Promise.withResolvers<undefined>();
  const changing = db.transaction(async (tx) => {
    await tx.query(sql.type(z.object({}))`${change}`);
    changed.resolve(undefined);
    await commit.promise;
  });
  await Promise.race([changed.promise, changing]);
  const acting = act();
  try {
    await Promise.race([untilLockWaiters(db, 1), acting]);
    await meanwhile();
  } finally {
    commit.resolve(undefined);
    await changing;
  }
  return acting;
}
