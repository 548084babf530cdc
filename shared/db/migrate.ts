import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { z } from 'zod';
import { type Db, sql, withClient } from './pool.ts';
import { recalledFunctions } from './recalled-functions.ts';

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations');
const FUNCTIONS_DIR = join(import.meta.dirname, 'functions');

/** Serializes concurrent migrations. The number is arbitrary and must not change. */
export const LOCK_KEY = 7_203_117;

/** The first of the migrations before 1.0.0. */
const FIRST_BEFORE = '0001_workflows_and_runs.sql';
const BEFORE_1 =
  'This database is of a version before 1.0.0: stop the API and the workers, and run npm run upgrade:to-1.0 once (in the image: admin upgrade:to-1.0)';

export interface Migration {
  name: string;
  sql: string;
  digest: string;
}

/** The migrations in order: `NNNN_name.sql`, numbered from 0001 without gaps. */
export async function listMigrations(directory = MIGRATIONS_DIR): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
  for (const [index, name] of names.entries()) {
    if (!name.startsWith(`${String(index + 1).padStart(4, '0')}_`)) {
      throw new Error(`Migration ${name} is out of order`);
    }
  }
  return Promise.all(names.map((name) => readMigration(join(directory, name), name)));
}

/**
 * The functions that this build's statements call, one per file: `name_N.sql`. A change is a file with the next N, so
 * that processes of the previous version find what they call.
 */
export async function listFunctions(directory = FUNCTIONS_DIR): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^[a-z_]+_\d+\.sql$/.test(name));
  return Promise.all(
    names.sort().map((name) => readMigration(join(directory, name), `functions/${name}`)),
  );
}

async function readMigration(path: string, name: string): Promise<Migration> {
  const text = await readFile(path, 'utf8');
  return { name, sql: text, digest: createHash('sha256').update(text).digest('hex') };
}

/** How a migration waits for the locks of the tables that it changes. */
export interface MigrationOptions {
  directory?: string;
  functions?: string;
  /** How long one attempt waits for a lock. Everything that reads the table waits behind it for that long. */
  lockTimeoutMs?: number;
  /** The pause after an attempt, during which the others can continue. */
  pauseMs?: number;
  /** When to give up with an error. */
  failAfterMs?: number;
  /** Called after each attempt that did not get its locks. */
  onWait?: (text: string) => void;
}

/** A lock was not free in time, or would never have been: two transactions waited for each other. */
const lockStates = new Set(['55P03', '40P01']);

/**
 * Migrates the database to the newest schema, forward only, each migration in its own transaction, and then the
 * functions in the same way. Returns the names of the files it applied. While a long reader such as a backup holds the
 * tables, a migration keeps retrying its locks, so that the service continues in the meantime. Throws, without a change, when
 * an applied migration was edited afterward, and when a lock was not free within `failAfterMs`.
 */
export async function migrate(
  url: string,
  { directory, functions, ...options }: MigrationOptions = {},
): Promise<string[]> {
  return withClient(url, async (client) => {
    await client.query('SELECT pg_advisory_lock($1)', [LOCK_KEY]);
    await client.query(
      `CREATE TABLE IF NOT EXISTS migrations (
         name text PRIMARY KEY, digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`,
    );
    const { rows } = await client.query<{ name: string; digest: string }>(
      'SELECT name, digest FROM migrations',
    );
    const applied = new Map(rows.map((row) => [row.name, row.digest]));
    if (applied.has(FIRST_BEFORE)) throw new Error(BEFORE_1);
    const files = [...(await listMigrations(directory)), ...(await listFunctions(functions))];
    // Of a build between releases: see recalled-functions.ts.
    for (const { name } of files) {
      if (applied.has(name) && applied.get(name) === recalledFunctions.get(name)) {
        applied.delete(name);
      }
    }
    // Before anything is applied, so that the old schema stays whole.
    const edited = files.find(
      ({ name, digest }) => applied.has(name) && applied.get(name) !== digest,
    );
    if (edited !== undefined) throw new Error(`Migration ${edited.name} was edited after it ran`);
    const done: string[] = [];
    for (const migration of files.filter(({ name }) => !applied.has(name))) {
      await applyPatiently(client, migration, options);
      done.push(migration.name);
    }
    return done;
  });
}

async function applyPatiently(
  client: pg.Client,
  migration: Migration,
  {
    lockTimeoutMs = 1_000,
    pauseMs = 3_000,
    failAfterMs = 15 * 60_000,
    onWait = () => undefined,
  }: Omit<MigrationOptions, 'directory' | 'functions'>,
): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      await apply(client, migration, lockTimeoutMs);
      return;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || !lockStates.has(error.code ?? '')) {
        throw new Error(`Migration ${migration.name} failed`, { cause: error });
      }
      const waited = performance.now() - started;
      const text = `Migration ${migration.name} needs a table that ${await holdersOf(client)}`;
      if (waited >= failAfterMs) {
        throw new Error(
          `${text}: not free within ${Math.round(waited / 1_000)} s. End that, or wait for it, and migrate again`,
          { cause: error },
        );
      }
      onWait(`${text}: trying again`);
    }
    await sleep(pauseMs);
  }
}

/** The oldest transaction other than this one, which probably holds the lock. */
async function holdersOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; name: string; seconds: number }>(
    `SELECT pid, coalesce(nullif(application_name, ''), usename::text, 'unknown') AS name,
            extract(epoch FROM clock_timestamp() - xact_start)::int AS seconds
     FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 1`,
  );
  const [oldest] = rows;
  return oldest === undefined
    ? 'another transaction uses'
    : `another transaction uses; the oldest is ${oldest.seconds} s old (process ${oldest.pid}, ${oldest.name})`;
}

async function apply(
  client: pg.Client,
  migration: Migration,
  lockTimeoutMs: number,
): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${Math.round(lockTimeoutMs)}`);
    if (recalledFunctions.has(migration.name)) await recall(client, migration.name);
    await client.query(migration.sql);
    await client.query('INSERT INTO migrations (name, digest) VALUES ($1, $2)', [
      migration.name,
      migration.digest,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  }
}

/** Removes a function that was recalled, with any arguments, if it is there. */
async function recall(client: pg.Client, name: string): Promise<void> {
  const { rows } = await client.query<{ found: string }>(
    'SELECT oid::regprocedure::text AS found FROM pg_proc WHERE proname = $1',
    [name.replace(/^functions\/(.*)\.sql$/, '$1')],
  );
  for (const { found } of rows) await client.query(`DROP FUNCTION ${found}`);
  await client.query('DELETE FROM migrations WHERE name = $1', [name]);
}

/** Throws an Error that says what to do when the database is from a version before 1.0.0. */
export async function requireUpgraded(db: Db): Promise<void> {
  const exists = await db.oneFirst(sql.type(z.object({ exists: z.boolean() }))`
    SELECT to_regclass('migrations') IS NOT NULL AS exists`);
  if (!exists) return;
  const before = await db.exists(sql.type(z.object({}))`
    SELECT FROM migrations WHERE name = ${FIRST_BEFORE}`);
  if (before) throw new Error(BEFORE_1);
}

/**
 * The names of the migrations and functions of this build that the database does not have, in order. Those of a newer
 * version do not matter: its schema also serves this one. Throws when the query fails.
 */
export async function missingMigrations(db: Db): Promise<string[]> {
  const exists = await db.oneFirst(sql.type(z.object({ exists: z.boolean() }))`
    SELECT to_regclass('migrations') IS NOT NULL AS exists`);
  const rows = exists
    ? await db.any(sql.type(z.object({ name: z.string() }))`SELECT name FROM migrations`)
    : [];
  const applied = new Set(rows.map((row) => row.name));
  const files = [...(await listMigrations()), ...(await listFunctions())];
  return files.map(({ name }) => name).filter((name) => !applied.has(name));
}
