import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backup, DatabaseSync } from 'node:sqlite';
import packageJson from '#package.json' with { type: 'json' };
import { withClient } from '#shared/db/pool.ts';
import type { Config } from '#shared/platform/config.ts';
import { makeFolders } from '#scripts/stack/make-folders.ts';
import { writeBaseBackup } from './base-backup.ts';
import { findKey } from './data-folder.ts';
import {
  describeFile,
  fingerprintOf,
  type Manifest,
  manifestFile,
  postgresFile,
  temporalFile,
} from './manifest.ts';

/**
 * Backs up the servers of the data folder of `npm start`, while they run, to the new folder `to`, which appears when the
 * backup is complete. First Postgres, then Temporal: what Temporal did in between, the ledger lets happen again with the
 * same idempotency keys. Throws if `to` exists or cannot be written; then nothing is left of it.
 */
export async function backUp(
  config: Config & { database: { url: string } },
  to: string,
): Promise<Manifest> {
  const folder = resolve(to);
  if (existsSync(folder)) throw new Error(`${folder} exists: give a new folder`);
  const key = findKey(config);
  if (key === undefined) throw new Error('the ENCRYPTION_KEY of the service was not found');
  const draft = `${folder}.partial-${randomBytes(3).toString('hex')}`;
  makeFolders(dirname(folder), 0o700);
  mkdirSync(draft, { mode: 0o700 });
  const discard = (): void => rmSync(draft, { recursive: true, force: true });
  process.once('exit', discard);
  try {
    const migrations = await readMigrations(config.database.url);
    const position = await writeBaseBackup(config.database.url, join(draft, postgresFile));
    await copyTemporal(config.dataDir, join(draft, temporalFile));
    const manifest: Manifest = {
      format: 1,
      version: packageJson.version,
      created_at: new Date().toISOString(),
      migrations: migrations.applied,
      key: fingerprintOf(key),
      postgres: { major: migrations.major, position },
      temporal: { fair_queues: existsSync(join(config.dataDir, 'fair-queues')) },
      files: [await describeFile(draft, postgresFile), await describeFile(draft, temporalFile)],
    };
    for (const { name } of manifest.files) flush(join(draft, name));
    const path = join(draft, manifestFile);
    writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
    flush(path);
    renameSync(draft, folder);
    flush(dirname(folder));
    return manifest;
  } catch (error) {
    const full = isFull(draft);
    discard();
    // Each writer has another message for this, and none names the folder.
    throw full
      ? new Error(`${dirname(folder)} is full: make space first`, { cause: error })
      : error;
  } finally {
    process.off('exit', discard);
  }
}

/** Whether a write to the folder can have failed because its disk is full. */
function isFull(folder: string): boolean {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize < 2 ** 20;
}

/** The numbered migrations of the database, and the version of its server. */
const readMigrations = (url: string): Promise<{ applied: Manifest['migrations']; major: number }> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string; digest: string }>(
      "SELECT name, digest FROM migrations WHERE name ~ '^[0-9]{4}_' ORDER BY name",
    );
    const version = await client.query<{ major: number }>(
      "SELECT current_setting('server_version_num')::int / 10000 AS major",
    );
    return { applied: rows, major: version.rows[0]?.major ?? 0 };
  });

/** All pages in one step: a backup in several begins again whenever the server writes. Its write-ahead log lets it write. */
const ALL_PAGES = 2 ** 31 - 1;

async function copyTemporal(dataDir: string, to: string): Promise<void> {
  const database = new DatabaseSync(join(dataDir, temporalFile), {
    readOnly: true,
    timeout: 10_000,
  });
  try {
    await backup(database, to, { rate: ALL_PAGES });
  } finally {
    database.close();
  }
  chmodSync(to, 0o600);
}

/** Writes what the system has of a file or folder to the disk. */
function flush(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
