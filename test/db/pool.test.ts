import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { storedJson } from '#shared/db/stored-json.ts';
import { conflict } from '#shared/errors.ts';
import { refusalOf, sql } from '#shared/db/pool.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase(1);

const backend = () =>
  db.oneFirst(sql.type(z.object({ pid: z.number() }))`SELECT pg_backend_pid() AS pid`);
const insert = sql.unsafe`INSERT INTO workspaces (id, name) VALUES ('ws_x', 'x')`;
const count = () =>
  db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n FROM workspaces`);

test('stored JSON is not validated again', () => {
  const refuse = (): never => {
    throw new Error('read');
  };
  const stored = new Proxy({}, { get: refuse, ownKeys: refuse, has: refuse });
  expect(z.object({ output: storedJson() }).parse({ output: stored }).output).toBe(stored);
  const folder = join(import.meta.dirname, '../../shared/db');
  const walking = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && /z\s*\.json\(/.test(readFileSync(join(folder, name), 'utf8')),
  );
  expect(walking).toEqual([]);
});

describe('a connection', () => {
  test('survives a refused transaction, which leaves nothing behind', async () => {
    const before = await backend();
    const refused = db.transaction(async (tx) => {
      await tx.query(insert);
      throw conflict('no');
    });
    await expect(refused).rejects.toMatchObject({ code: 'conflict' });
    expect(await count()).toBe(0);
    expect(await backend()).toBe(before);
  });

  test('survives a statement that raises a refusal', async () => {
    const before = await backend();
    const error: unknown = await db
      .maybeOne(sql.type(z.object({ refuse: z.boolean() }))`SELECT refuse('why', '{"n": 1}')`)
      .catch((thrown: unknown) => thrown);
    expect(refusalOf(error)).toEqual({ reason: 'why', facts: { n: 1 } });
    expect(await backend()).toBe(before);
  });

  test('survives a transaction in which a statement raises a refusal', async () => {
    const before = await backend();
    const refused = db.transaction(async (tx) => {
      await tx.query(insert);
      await tx.query(sql.unsafe`SELECT refuse('why', '{}')`);
    });
    await expect(refused).rejects.toThrow();
    expect(await count()).toBe(0);
    expect(await backend()).toBe(before);
  });

  test('is not reused after an unexpected error', async () => {
    const before = await backend();
    const failed = db.transaction(async (tx) => {
      await tx.query(insert);
      throw new Error('a bug');
    });
    await expect(failed).rejects.toThrow('a bug');
    expect(await count()).toBe(0);
    expect(await backend()).not.toBe(before);
  });
});
