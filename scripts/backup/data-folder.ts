import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '#shared/platform/config.ts';

/** Exists while a restore replaces the data of its folder. `npm start` refuses the folder until the restore is repeated. */
const unfinishedFile = 'restore-unfinished';
export const unfinishedPath = ({ dataDir }: Config): string => join(dataDir, unfinishedFile);

/** Throws if the last restore to the data folder was interrupted. */
export function requireFinishedRestore(config: Config): void {
  if (!existsSync(unfinishedPath(config))) return;
  throw new Error(
    `A restore to ${config.dataDir} did not finish: repeat npm run restore -- --from <backup> --replace`,
  );
}

/** Throws if the settings name servers of their own: only the servers of `npm start` have their data in its folder. */
export function requireOwnServers({ database, temporal }: Config, command: string): void {
  if (database.url === undefined && temporal.address === undefined) return;
  throw new Error(
    `${command} works on the data folder of npm start, but DATABASE_URL or TEMPORAL_ADDRESS is set: see docs/restore.md`,
  );
}

/** The key in the settings or in the data folder; undefined if there is none. */
export function findKey({ encryptionKey, dataDir }: Config): string | undefined {
  const path = join(dataDir, 'encryption-key');
  if (encryptionKey !== undefined || !existsSync(path)) return encryptionKey;
  return readFileSync(path, 'utf8').trim();
}

/** Ends the process with exit code 1 and a message at a signal, after what listens to its exit has cleaned up. */
export function endBySignal(message: string): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      console.error(`${message}: interrupted by ${signal}`);
      process.exit(1);
    });
  }
}
