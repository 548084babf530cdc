import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { migrate } from '#shared/db/migrate.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import { restartRuns } from '#shared/operations/runs/restarts.ts';
import type { Config } from '#shared/platform/config.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { claimFolder } from '#scripts/stack/claim.ts';
import { makeDataFolder } from '#scripts/stack/make-folders.ts';
import { locate } from '#scripts/stack/postgres-place.ts';
import { startServersAlone } from '#scripts/start/servers-alone.ts';
import { findKey, unfinishedPath } from './data-folder.ts';
import {
  countMissingMigrations,
  fingerprintOf,
  type Manifest,
  postgresFile,
  readBackup,
  temporalFile,
} from './manifest.ts';

/** Files of the data folder that belong to its databases. The server sets a new password where there is none. */
const databaseFiles = [
  temporalFile,
  `${temporalFile}-wal`,
  `${temporalFile}-shm`,
  'fair-queues',
  'postgres-password',
];

export interface Restored {
  /** How many runs continue when the service starts. */
  restarted: number;
  /** How many migrations were applied to an older schema. */
  migrated: number;
  /** The folders with the replaced data. */
  replaced: string[];
}

/**
 * Restores a backup to the data folder of `npm start`, whose service is stopped, and prepares its runs to continue from
 * their ledgers. With `replace`, data that is there is kept in folders beside it. Throws an Error that says why nothing
 * was changed, or that the restore has to be repeated.
 */
export async function restore(
  config: Config,
  { from, replace }: { from: string; replace: boolean },
): Promise<Restored> {
  const folder = resolve(from);
  const manifest = await readBackup(folder);
  requireKey(config, manifest);
  const migrated = await countMissingMigrations(manifest);
  makeDataFolder(config.dataDir);
  process.umask(0o077);
  const claim = await claimFolder(config.dataDir);
  const replaced: string[] = [];
  try {
    const hasData = ['postgres', temporalFile].some((name) =>
      existsSync(join(config.dataDir, name)),
    );
    if (hasData && !replace) {
      throw new Error(
        `${config.dataDir} has data: set DATA_DIR to an empty folder, or add --replace, which keeps the data beside it`,
      );
    }
    await placeFiles(config, folder, manifest, replaced);
  } finally {
    claim.release();
  }
  const restarted = await prepareRuns(config).catch((cause: unknown) => {
    throw new Error('the data is in place, but not ready: repeat the restore with --replace', {
      cause,
    });
  });
  rmSync(unfinishedPath(config));
  return { restarted, migrated, replaced };
}

function requireKey(config: Config, manifest: Manifest): void {
  const key = findKey(config);
  if (key === undefined) {
    throw new Error(
      `the backup needs the ENCRYPTION_KEY with the fingerprint ${manifest.key}: set it, or put it into ${join(config.dataDir, 'encryption-key')}`,
    );
  }
  const fingerprint = fingerprintOf(key);
  if (fingerprint !== manifest.key) {
    throw new Error(
      `ENCRYPTION_KEY has the fingerprint ${fingerprint}, but the backup needs the key with ${manifest.key}`,
    );
  }
}

/** Extracts everything beside its place first, because renaming takes no space and no time. */
async function placeFiles(
  config: Config,
  folder: string,
  manifest: Manifest,
  replaced: string[],
): Promise<void> {
  const { dataDir } = config;
  const { clusterDir, account } = await locate({ dataDir }, console.log);
  requireSpace(manifest, { [postgresFile]: dirname(clusterDir), [temporalFile]: dataDir });
  const clusterDraft = `${clusterDir}.restored`;
  const temporalDraft = join(dataDir, `${temporalFile}.restored`);
  const discard = (): void => {
    rmSync(clusterDraft, { recursive: true, force: true });
    rmSync(temporalDraft, { force: true });
  };
  process.once('exit', discard);
  try {
    discard();
    mkdirSync(clusterDraft, { mode: 0o700 });
    if (account !== undefined) chownSync(clusterDraft, account.uid, account.gid);
    await extract(join(folder, postgresFile), clusterDraft, account);
    requireVersion(clusterDraft, manifest);
    copyFileSync(join(folder, temporalFile), temporalDraft);
  } catch (error) {
    discard();
    throw error;
  } finally {
    process.off('exit', discard);
  }
  writeFileSync(unfinishedPath(config), '', { mode: 0o600 });
  const stamp = new Date().toISOString().replaceAll(/[-:]|\..*/g, '');
  keepBeside(dataDir, clusterDir, stamp, replaced);
  renameSync(clusterDraft, clusterDir);
  renameSync(temporalDraft, join(dataDir, temporalFile));
  if (manifest.temporal.fair_queues) writeFileSync(join(dataDir, 'fair-queues'), '');
}

function keepBeside(dataDir: string, clusterDir: string, stamp: string, replaced: string[]): void {
  const beside = join(dataDir, `replaced-${stamp}`);
  if (existsSync(join(clusterDir, 'PG_VERSION'))) {
    renameSync(clusterDir, `${clusterDir}.replaced-${stamp}`);
    replaced.push(`${clusterDir}.replaced-${stamp}`);
  } else {
    rmSync(clusterDir, { recursive: true, force: true });
  }
  const files = databaseFiles.filter((name) => existsSync(join(dataDir, name)));
  if (files.length === 0) return;
  mkdirSync(beside, { mode: 0o700 });
  for (const name of files) renameSync(join(dataDir, name), join(beside, name));
  replaced.push(beside);
}

/** What the servers write as they start, in bytes. */
const SPARE_BYTES = 100 * 2 ** 20;

/** `places`: the folders that get the files. They can be on one disk. */
function requireSpace(
  { files }: Manifest,
  places: Record<Manifest['files'][number]['name'], string>,
): void {
  for (const folder of Object.values(places)) {
    const { dev } = statSync(folder);
    const here = files.filter(({ name }) => statSync(places[name]).dev === dev);
    const needed = here.reduce((sum, { size }) => sum + size, SPARE_BYTES);
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < needed) {
      throw new Error(
        `${folder} has ${bavail * bsize} bytes free, but the restore needs ${needed}: make space first`,
      );
    }
  }
}

function requireVersion(cluster: string, { postgres }: Manifest): void {
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (found !== String(postgres.major)) {
    throw new Error(`the backup has files of Postgres ${found} instead of ${postgres.major}`);
  }
}

/** Extracts as the account of the server, which then owns the files. */
async function extract(
  path: string,
  to: string,
  account: { uid: number; gid: number } | undefined,
): Promise<void> {
  const child = spawn('tar', ['-xf', '-', '-C', to], {
    cwd: '/',
    stdio: ['pipe', 'ignore', 'pipe'],
    ...(account === undefined ? {} : { uid: account.uid, gid: account.gid }),
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
  const closed = once(child, 'close');
  await pipeline(createReadStream(path), child.stdin).catch(() => undefined);
  const [code] = (await closed) as [number | null];
  if (code !== 0) {
    throw new Error(`${path} could not be extracted to ${to}: ${errors.trim().split('\n')[0]}`);
  }
}

/** Starts both servers without the service, migrates, and ends the executions. Returns how many runs continue. */
async function prepareRuns(configured: Config): Promise<number> {
  const { config, stop } = await startServersAlone(configured);
  try {
    const { url } = config.database;
    if (url === undefined) throw new Error('the database did not start');
    await migrate(url);
    const db = await connectDatabase(url, { maxPoolSize: 1 });
    const temporal = connectTemporal(config, db);
    const log = createLogger({ name: 'restore', level: 'warn' });
    try {
      return await restartRuns({ db, temporal, config, log });
    } finally {
      await temporal.close();
      await db.end();
    }
  } finally {
    await stop();
  }
}
