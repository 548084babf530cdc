import { cloneDatabase, databaseUrl, dropDatabase } from '#scripts/stack/databases.ts';
import { setting } from './settings.ts';

export interface TestDatabase {
  url: string;
  drop(): Promise<void>;
}

/**
 * A separate database for this test file, cloned from the migrated template. Drop it in `afterAll`, after ending every
 * pool.
 */
export async function createTestDatabase(): Promise<TestDatabase> {
  return createClone(setting('TEST_DATABASE_TEMPLATE'));
}

/** A separate database that has not been migrated. */
export async function createEmptyDatabase(): Promise<TestDatabase> {
  return createClone('template0');
}

async function createClone(template: string): Promise<TestDatabase> {
  const adminUrl = setting('TEST_DATABASE_URL');
  const name = await cloneDatabase(adminUrl, template, 'test');
  return { url: databaseUrl(adminUrl, name), drop: () => dropDatabase(adminUrl, name) };
}
