import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import { type Db, sql, withClient } from './pool.ts';

const MIGRATIONS_DIR = join(import.meta.dirname, '../../migrations');

/** Serializes concurrent migrations. The number is arbitrary and must not change. */
const LOCK_KEY = 7_203_117;

export interface Migration {
  name: string;
  sql: string;
  digest: string;
}

/** The migrations in order: `NNNN_name.sql`, numbered from 0001 without gaps. */
export async function listMigrations(directory = MIGRATIONS_DIR): Promise<Migration[]> {
  const names = (await readdir(directory)).filter((name) => /^\d{4}_.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name, index) => {
      if (!name.startsWith(`${String(index + 1).padStart(4, '0')}_`)) {
        throw new Error(`Migration ${name} is out of order`);
      }
      const text = await readFile(join(directory, name), 'utf8');
      return { name, sql: text, digest: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/**
 * Migrates the database to the newest schema, forward only, each migration in its own transaction. Returns the names of
 * the migrations it applied. Throws when an applied migration was edited afterwards.
 */
export async function migrate(url: string): Promise<string[]> {
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
    const done: string[] = [];
    for (const migration of await listMigrations()) {
      const digest = applied.get(migration.name);
      if (digest === migration.digest) continue;
      if (digest !== undefined) {
        throw new Error(`Migration ${migration.name} was edited after it ran`);
      }
      await apply(client, migration);
      done.push(migration.name);
    }
    return done;
  });
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query('INSERT INTO migrations (name, digest) VALUES ($1, $2)', [
      migration.name,
      migration.digest,
    ]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    throw new Error(`Migration ${migration.name} failed`, { cause: error });
  }
}

/** Whether every migration of this build is applied. Throws when the query fails. */
export async function isMigrated(db: Db): Promise<boolean> {
  const rows = await db.any(sql.type(z.object({ name: z.string() }))`SELECT name FROM migrations`);
  const applied = new Set(rows.map((row) => row.name));
  return (await listMigrations()).every((migration) => applied.has(migration.name));
}
