import { createTestDatabase } from '#test/support/database.ts';
import { startApiProcess, startWorkerProcess } from '#test/support/processes.ts';
import { testTemporal } from '#test/support/temporal.ts';

export interface Installation {
  apiUrl: string;
  databaseUrl: string;
  /** Does not restart processes that a test stopped. */
  close(): Promise<void>;
}

/** The service as `npm start` runs it, API and worker as separate processes, on an empty database. */
export async function startInstallation(env: Record<string, string> = {}): Promise<Installation> {
  const database = await createTestDatabase();
  const { address, taskQueuePrefix } = testTemporal();
  const settings = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TASK_QUEUE_PREFIX: taskQueuePrefix,
    EGRESS_ALLOW: '127.0.0.0/8',
    ENCRYPTION_KEY: 'a key for the tests alone',
    ...env,
  };
  const [api, worker] = await Promise.all([
    startApiProcess(settings),
    startWorkerProcess(settings),
  ]);
  return {
    apiUrl: api.url,
    databaseUrl: database.url,
    close: async () => {
      await Promise.all([api.stop(), worker.stop()]);
      await database.drop();
    },
  };
}
