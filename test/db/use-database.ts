import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { useStage } from '#test/support/stage.ts';

/** A pool on a separate database for all tests of a file, with the URL for further connections. */
export const useDatabase = (maxPoolSize = 10): Pool & { url: string } =>
  useStage(
    async () => {
      const { url, drop } = await createTestDatabase();
      return { ...(await connectDatabase(url, { maxPoolSize })), url, drop };
    },
    async (pool) => {
      await pool.end();
      await pool.drop();
    },
  );
