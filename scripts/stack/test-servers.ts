import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from './children.ts';
import { claimFile, claimFolder, FolderInUse } from './claim.ts';
import type { Claim } from './claim.ts';
import { messageOf } from './output.ts';
import { freePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { startTemporal } from './temporal.ts';

const projectDir = join(import.meta.dirname, '../..');
const folderPrefix = 'durable-workflows-test-';

/** One Postgres and one Temporal server that forget everything when they stop. */
export interface TestServers {
  databaseUrl: string;
  temporalAddress: string;
  stop: () => Promise<void>;
}

/** Ends servers and removes folders of test runs that were killed before they could do so. */
export async function clearEarlierRuns(): Promise<void> {
  for (const name of readdirSync(tmpdir()).filter((entry) => entry.startsWith(folderPrefix))) {
    const folder = join(tmpdir(), name);
    // One without a claim is being made by another run at this moment.
    if (!existsSync(join(folder, claimFile))) continue;
    try {
      await claimFolder(folder);
      rmSync(folder, { recursive: true, force: true });
    } catch (error) {
      if (!(error instanceof FolderInUse)) {
        console.error(`could not clear ${folder}: ${messageOf(error)}`);
      }
    }
  }
}

export async function startTestServers(claim: Claim): Promise<TestServers> {
  const { TEST_DATABASE_URL: databaseUrl, TEST_TEMPORAL_ADDRESS: temporalAddress } = process.env;
  if (databaseUrl && temporalAddress) {
    return { databaseUrl, temporalAddress, stop: async () => undefined };
  }

  const onSpawn = (child: Child): void => {
    claim.record(child.name, child.pid);
    // Also when this process ends before both are up.
    process.once('exit', () => child.kill());
  };
  const [postgresPort = 0, temporalPort = 0] = await freePorts(2);
  const [postgres, temporal] = await Promise.allSettled([
    startPostgres({
      dataDir: claim.folder,
      port: postgresPort,
      database: 'postgres',
      throwaway: true,
      onSpawn,
    }),
    startTemporal({ dataDir: claim.folder, projectDir, port: temporalPort, onSpawn }),
  ]);
  const stop = async (): Promise<void> => {
    await Promise.all(
      [postgres, temporal].map(async (server) => {
        if (server.status === 'fulfilled') await server.value.stop(200);
      }),
    );
  };
  if (postgres.status === 'fulfilled' && temporal.status === 'fulfilled') {
    return { databaseUrl: postgres.value.adminUrl, temporalAddress: temporal.value.address, stop };
  }
  await stop();
  throw postgres.status === 'rejected'
    ? postgres.reason
    : (temporal as PromiseRejectedResult).reason;
}

export async function claimTemporaryFolder(): Promise<Claim> {
  const folder = mkdtempSync(join(tmpdir(), folderPrefix));
  // The account the database runs under as root has to get in.
  chmodSync(folder, 0o755);
  return claimFolder(folder);
}
