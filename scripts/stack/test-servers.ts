import { existsSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Child } from './children.ts';
import type { Claim } from './claim.ts';
import { messageOf } from './output.ts';
import { freePorts } from './ports.ts';
import { startPostgres } from './postgres.ts';
import { startTemporal, type Temporal, type TemporalOptions } from './temporal.ts';
import { watchTemporal } from './temporal-watch.ts';
import { claimTemporaryFolder, clearEarlierRuns, memoryFolder } from './temporary-folder.ts';

const projectDir = join(import.meta.dirname, '../..');
const folderPrefix = 'durable-workflows-test-';

/**
 * The maximum size of what a full run leaves there until its end (mainly the Postgres log). The tests need as much
 * again.
 */
const memoryNeeded = 4 * 2 ** 30;

/** A fifth of the default, so that tests reach continue-as-new sooner. */
export const testDynamicConfig = { 'limit.historyCount.suggestContinueAsNew': 800 };

/** One Postgres and one Temporal server that lose all data when they stop. */
export interface TestServers {
  databaseUrl: string;
  temporalAddress: string;
  stop: () => Promise<void>;
}

export async function startTestServers(claim: Claim): Promise<TestServers> {
  const { TEST_DATABASE_URL: databaseUrl, TEST_TEMPORAL_ADDRESS: temporalAddress } = process.env;
  if (databaseUrl && temporalAddress) {
    return { databaseUrl, temporalAddress, stop: async () => undefined };
  }

  const onSpawn = (child: Child): void => {
    claim.record(child.name, child.pid);
    // Also if this process ends before both are up.
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
    startWatched({
      dataDir: claim.folder,
      projectDir,
      port: temporalPort,
      dynamicConfig: testDynamicConfig,
      // Collecting garbage less often saves a tenth of the server's processor time, as long as it uses little memory.
      env: { ...process.env, GOGC: '400', GOMEMLIMIT: '500MiB' },
      onSpawn,
    }),
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

/** A Temporal server that is restarted if it answers no more. Otherwise, all files that follow would fail. */
async function startWatched(options: TemporalOptions): Promise<Pick<Temporal, 'address' | 'stop'>> {
  let server = await startTemporal(options);
  const { address } = server;
  const watch = watchTemporal({
    ...{ address, namespace: 'default', failures: 3 },
    restart: async (reason) => {
      console.error(`The Temporal server does not answer (${reason}): restarting it`);
      await server.stop(200);
      server = await startTemporal(options);
    },
    onFailure: (error) => console.error(`Temporal did not come back: ${messageOf(error)}`),
  });
  return {
    address,
    stop: (budgetMs) => {
      watch.stop();
      return server.stop(budgetMs);
    },
  };
}

/**
 * In memory if there is room, because a database consists of hundreds of files, and cloning one takes ten times as long
 * on a disk. Containers often have only a few megabytes there.
 */
export function temporaryPlace(): string {
  if (!existsSync(memoryFolder) || freemem() < 2 * memoryNeeded) return tmpdir();
  const { bavail, bsize } = statfsSync(memoryFolder);
  return bavail * bsize >= memoryNeeded ? memoryFolder : tmpdir();
}

export const claimTestFolder = (): Promise<Claim> =>
  claimTemporaryFolder(folderPrefix, temporaryPlace());

/** Ends servers and removes folders of test runs that were killed. */
export const clearEarlierTests = (): Promise<void> => clearEarlierRuns(folderPrefix);
