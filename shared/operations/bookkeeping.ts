import { listUnsealedWorkspaces, SEAL_BATCH, sealAuditEntries } from '../db/audit-chain.ts';
import type { Pool } from '../db/pool.ts';
import { FOLD_BATCH, foldUsage } from '../db/usage.ts';
import type { Config } from '../platform/config.ts';
import type { Logger } from '../platform/logger.ts';
import { type Loop, startLoop } from './loop.ts';

interface BookkeepingDeps {
  db: Pool;
  config: Config;
  log: Logger;
}

/** Brings the audit log's chains up to date, a batch per workspace. Returns whether there is more to seal. */
export async function sealOnce({ db, log }: Omit<BookkeepingDeps, 'config'>): Promise<boolean> {
  let more = false;
  for (const workspaceId of await listUnsealedWorkspaces(db)) {
    try {
      more = (await sealAuditEntries(db, workspaceId)) === SEAL_BATCH || more;
    } catch (error) {
      // A chain that somebody has broken must not keep the others from being sealed.
      log.error({ err: error, workspaceId }, 'could not continue a chain of the audit log');
    }
  }
  return more;
}

/**
 * What is written down at once and put in its final place a moment later, so that no transaction waits for it: the
 * seals of the audit log, and what runs came to per day. Two loops, since they have nothing to do with each other.
 */
export function startBookkeeping(deps: BookkeepingDeps): Loop {
  const loops = [
    startLoop({ name: 'audit sealer', ...deps }, () => sealOnce(deps)),
    startLoop(
      { name: 'usage folder', ...deps },
      async () => (await foldUsage(deps.db)) === FOLD_BATCH,
    ),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
