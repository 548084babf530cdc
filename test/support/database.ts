import { cloneDatabase, databaseUrl, dropDatabase } from '../../scripts/stack/databases.ts';
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
  const adminUrl = setting('TEST_DATABASE_URL');
  const name = await cloneDatabase(adminUrl, setting('TEST_DATABASE_TEMPLATE'), 'test');
  return { url: databaseUrl(adminUrl, name), drop: () => dropDatabase(adminUrl, name) };
}
