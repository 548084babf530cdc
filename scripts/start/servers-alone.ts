import type { Config } from '#shared/platform/config.ts';
import { claimFolder } from '#scripts/stack/claim.ts';
import { createSupervisor } from '#scripts/stack/supervisor.ts';
import { settlePorts } from './choose-ports.ts';
import { encryptionKey, startServers, timer } from './servers.ts';

/**
 * Starts Postgres and Temporal on a data folder that no start is using, with the database unchanged. Returns the
 * configuration with their addresses and the folder's key.
 */
export async function startServersAlone(
  configured: Config,
): Promise<{ config: Config; stop: () => Promise<void> }> {
  process.umask(0o077);
  const claim = await claimFolder(configured.dataDir);
  const supervisor = createSupervisor(claim, (report) => {
    console.error(report);
    process.exit(1);
  });
  process.on('exit', () => supervisor.killAll());
  const stop = async (): Promise<void> => {
    await supervisor.stopAll();
    claim.release();
  };
  try {
    const config = await settlePorts(configured);
    const asItIs = async (): Promise<void> => undefined;
    const servers = await startServers(config, supervisor, timer(new Map()), asItIs);
    return {
      config: {
        ...config,
        encryptionKey: encryptionKey(config),
        database: { ...config.database, url: servers.databaseUrl },
        temporal: { ...config.temporal, address: servers.temporal },
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
