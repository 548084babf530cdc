import { z } from 'zod';
import { type FragmentSqlToken, type Pool, sql } from '../../shared/db/pool.ts';
import { eventually } from './engine.ts';

/**
 * How many sessions wait for a lock that another one holds, of those whose statement holds the text. To be asked outside
 * of any transaction: within one, Postgres tells who is there and what they run as it was when it was first asked.
 */
const lockWaiters = (db: Pool, text = ''): Promise<number> =>
  db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND strpos(query, ${text}) > 0`);

/** Resolves when at least so many sessions wait for a lock. */
export const untilLockWaiters = (db: Pool, sessions: number, text?: string): Promise<void> =>
  eventually(async () => (await lockWaiters(db, text)) >= sessions);

/**
 * Begins `act` while a transaction holds the rows that `change` writes, and lets that commit once `act` waits for it.
 * `meanwhile` happens in between: `act` has its snapshot and waits.
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
