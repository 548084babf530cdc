import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listFunctions, listMigrations, migrate } from '#shared/db/migrate.ts';
import { withClient } from '#shared/db/pool.ts';
import { recalledFunctions } from '#shared/db/recalled-functions.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';

// Databases of 1.0.0 have these files, and its processes call these functions during an update.

const released = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../migrations/released.json'), 'utf8'),
) as Record<string, string>;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('a released migration or function is as it was released', async () => {
  const files = new Map(
    [...(await listMigrations()), ...(await listFunctions())].map(({ name, digest }) => [
      name,
      digest,
    ]),
  );
  const changed = Object.keys(released).filter((name) => files.get(name) !== released[name]);
  expect(changed).toEqual([]);
  expect(Object.keys(released)).toContain('functions/begin_step_1.sql');
});

test('a database of a build that changed released functions gets the released ones back', async () => {
  await withClient(database.url, async (client) => {
    const texts = async () => {
      const { rows } = await client.query<{ text: string }>(
        `SELECT pg_get_functiondef(oid) AS text FROM pg_proc
         WHERE proname || '.sql' = ANY ($1) ORDER BY proname`,
        [[...recalledFunctions.keys()].map((name) => name.replace('functions/', ''))],
      );
      return rows.map(({ text }) => text);
    };
    const before = await texts();
    expect(before).toHaveLength(recalledFunctions.size);
    // Such a build had another signature, too.
    await client.query(`DROP FUNCTION close_steps_1;
      CREATE FUNCTION close_steps_1(run text, also text) RETURNS void LANGUAGE sql AS 'SELECT NULL::void'`);
    for (const [name, digest] of recalledFunctions) {
      await client.query('UPDATE migrations SET digest = $2 WHERE name = $1', [name, digest]);
    }
    expect(await migrate(database.url)).toEqual([...recalledFunctions.keys()].sort());
    expect(await texts()).toEqual(before);
    expect(await migrate(database.url)).toEqual([]);
    const { rows } = await client.query(
      'SELECT name, digest FROM migrations WHERE name = ANY ($1)',
      [Object.keys(released)],
    );
    expect(Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))).toEqual(released);
  });
});
