import { type Pool, sql } from '#shared/db/pool.ts';
import { untilLockWaiters } from './lock-waits.ts';

/**
 * Makes all acts wait for the row lock of a run, which another transaction holds until all of them wait. `meanwhile`
 * runs before the lock is released: its commits are not in the snapshots of the waiting statements.
 */
export async function queueForRun<T>(
  db: Pool,
  runId: string,
  acts: (() => Promise<T>)[],
  meanwhile?: () => Promise<unknown>,
): Promise<PromiseSettledResult<T>[]> {
  const held = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const holder = db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SELECT FROM runs WHERE id = ${runId} FOR UPDATE`);
    held.resolve(undefined);
    await release.promise;
  });
  await held.promise;
  const results = Promise.allSettled(acts.map((act) => act()));
  await untilLockWaiters(db, acts.length);
  await meanwhile?.();
  release.resolve(undefined);
  await holder;
  return results;
}
