import { type Pool, sql } from '../../shared/db/pool.ts';
import { untilLockWaiters } from './lock-waits.ts';

/**
 * Lets every act wait for the row of a run, which another transaction holds until all of them do. `meanwhile` runs
 * before it lets go: what it commits is not in the snapshots of the statements that wait.
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
