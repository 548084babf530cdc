import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listMigrations, migrate } from '#shared/db/migrate.ts';
import { expectCommitted } from '#test/api/committed-file.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { dumpSchema } from './schema-dump.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => database.drop());

test('the migrations produce the committed schema', async () => {
  expectCommitted('migrations/schema.sql', await dumpSchema(database.url));
});

test('the dump is not a migration', async () => {
  expect((await listMigrations()).map((migration) => migration.name)).not.toContain('schema.sql');
});

test('migrating again, in several processes, changes nothing', async () => {
  const before = await dumpSchema(database.url);
  const applied = await Promise.all([1, 2, 3].map(async () => migrate(database.url)));
  expect(applied).toEqual([[], [], []]);
  expect(await dumpSchema(database.url)).toBe(before);
});
