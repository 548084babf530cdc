import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectDatabase } from '#shared/db/pool.ts';
import { inviteRules } from '#shared/operations/people/invitations.ts';
import { upgradeTo1 } from '#shared/operations/upgrade.ts';
import type { Config } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { readConfig } from '#scripts/running-service.ts';
import { messageOf } from '#scripts/stack/output.ts';

/**
 * `npm run upgrade:to-1.0`: upgrades an installation from the last state before 1.0.0, once, while the API and the
 * workers are stopped. It upgrades the installation of `DATABASE_URL` and `TEMPORAL_ADDRESS`, or else the data folder
 * of `npm start`, whose servers it starts for this purpose. Exits with code 1 if it was not upgraded.
 */
async function main(): Promise<void> {
  const configured = readConfig();
  const { config, stop } = await findStoppedService(configured);
  const { url } = config.database;
  if (url === undefined) throw new Error('set DATABASE_URL');
  try {
    const db = await connectDatabase(url, { maxPoolSize: 1 });
    const temporal = connectTemporal(config, db);
    const log = createLogger({ name: 'upgrade', level: 'warn' });
    try {
      const restarted = await upgradeTo1({ db, temporal, config, log }, url, inviteRules(config));
      console.log(
        restarted === undefined
          ? 'The database is at 1.0.0 already: nothing was changed.'
          : `The database is at 1.0.0. Start the service: ${restarted} open runs then continue from their finished steps.`,
      );
    } finally {
      await temporal.close();
      await db.end();
    }
  } finally {
    await stop();
  }
}

/** The servers in the settings, or else those of the data folder, started without API, worker and migrations. */
async function findStoppedService(
  config: Config,
): Promise<{ config: Config; stop: () => Promise<void> }> {
  if (config.database.url !== undefined && config.temporal.address !== undefined) {
    return { config, stop: async () => undefined };
  }
  if (config.database.url === undefined && !existsSync(join(config.dataDir, 'postgres-password'))) {
    throw new Error(
      `${config.dataDir} has no database: set DATABASE_URL and TEMPORAL_ADDRESS, or DATA_DIR to the data folder of npm start`,
    );
  }
  // Not part of the image, whose servers are always in the settings.
  const { startServersAlone } = await import('#scripts/start/servers-alone.ts');
  return startServersAlone(config);
}

let code = 0;
try {
  await main();
} catch (error) {
  console.error(`Not upgraded: ${messageOf(error)}`);
  code = 1;
}
// Servers that it started are supervised while the process lives.
process.exit(code);
