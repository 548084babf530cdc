import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { backUp } from './backup/backup.ts';
import { endBySignal, requireFinishedRestore, requireOwnServers } from './backup/data-folder.ts';
import { findServers, readConfig } from './running-service.ts';
import { FolderInUse } from './stack/claim.ts';
import { messageOf } from './stack/output.ts';
import { startServersAlone } from './start/servers-alone.ts';

/**
 * `npm run backup -- --to <new folder>`: backs up both databases of `npm start`, while it runs or is stopped. The folder
 * does not contain the `ENCRYPTION_KEY`: keep it elsewhere. Exits with code 1 if there is no backup.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { to: { type: 'string' } } });
  if (values.to === undefined) throw new Error('give --to <new folder>');
  const configured = readConfig();
  requireOwnServers(configured, 'npm run backup');
  const { dataDir } = configured;
  if (!existsSync(join(dataDir, 'temporal.db'))) {
    throw new Error(`${dataDir} has no data: set DATA_DIR to the data folder of npm start`);
  }
  // Its databases can be of different backups.
  requireFinishedRestore(configured);
  process.umask(0o077);
  const alone = await startServersAlone(configured).catch((error: unknown) => {
    // The service runs, and so do its servers.
    if (error instanceof FolderInUse) return undefined;
    throw error;
  });
  const config = alone?.config ?? findServers();
  try {
    const { url } = config.database;
    if (url === undefined) throw new Error('the database did not start');
    const { files, key } = await backUp(
      { ...config, database: { ...config.database, url } },
      values.to,
    );
    for (const { name, size, sha256 } of files) {
      console.log(`${name}: ${size} bytes, SHA-256 ${sha256}`);
    }
    console.log(
      `${values.to} is complete. It needs the ENCRYPTION_KEY with the fingerprint ${key}.`,
    );
  } finally {
    await alone?.stop();
  }
}

endBySignal('There is no backup');
let code = 0;
try {
  await main();
} catch (error) {
  console.error(`There is no backup: ${messageOf(error)}`);
  code = 1;
}
// Servers that it started are supervised while the process lives.
process.exit(code);
