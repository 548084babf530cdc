import { setTimeout as sleep } from 'node:timers/promises';
import { missingMigrations, requireUpgraded } from '#shared/db/migrate.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Logger } from './logger.ts';

const LOOK_EVERY_MS = 1_000;
const REPORT_EVERY_MS = 30_000;

/**
 * Resolves when the database has the schema of this version. Until then, this process must not accept requests or execute
 * steps, because its statements need that schema. In an update, it can start before `migrate` has finished. A newer schema
 * also serves this version, so after an update the previous version can start again. Throws when the database is of a
 * version before 1.0.0, or cannot be reached.
 */
export async function schemaReady(db: Pool, log: Logger): Promise<void> {
  await requireUpgraded(db);
  let reportAt = 0;
  for (;;) {
    const missing = await missingMigrations(db);
    if (missing.length === 0) return;
    if (performance.now() >= reportAt) {
      log.error(
        { missing: missing.length, first: missing[0] },
        'the schema of the database is older than this version: run the migrate command. Waiting for it',
      );
      reportAt = performance.now() + REPORT_EVERY_MS;
    }
    await sleep(LOOK_EVERY_MS);
    // Nothing else would end it: it listens to its supervisor once it is ready.
    if (process.send !== undefined && !process.connected) {
      throw new Error('the supervisor has ended');
    }
  }
}
