import { DBOS } from '@dbos-inc/dbos-sdk';
import { serve } from '../serve.ts';

// A workflow of three steps. DBOS records the workflow and the result of each step in Postgres.

const chain = DBOS.registerWorkflow(
  async () => {
    let value = 0;
    for (const name of ['n1', 'n2', 'n3']) {
      const before = value;
      value = await DBOS.runStep(() => Promise.resolve(before + 1), { name });
    }
    return value;
  },
  { name: 'chain' },
);

DBOS.setConfig({
  name: 'peers',
  systemDatabaseUrl: process.env.DATABASE_URL,
  systemDatabasePoolSize: Number(process.env.DATABASE_POOL_SIZE),
  logLevel: 'warn',
});
await DBOS.launch();
await serve(
  () => chain(),
  () => DBOS.shutdown(),
);
