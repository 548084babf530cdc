import { Runtime } from '@temporalio/worker';
import { connectDatabase } from '../shared/db/pool.ts';
import { loadConfig } from '../shared/platform/config.ts';
import { createLogger } from '../shared/platform/logger.ts';
import { connectTemporal, registerSearchAttributes } from '../shared/platform/temporal.ts';
import { bundleWorkflows } from './bundle.ts';
import { createWorker } from './create-worker.ts';
import { createSdkLogger } from './sdk-logger.ts';

const config = loadConfig();
const log = createLogger({ name: 'worker', level: config.logLevel });
if (config.database.url === undefined) throw new Error('DATABASE_URL is not set');

Runtime.install({ logger: createSdkLogger(log.child({ part: 'temporal' })), shutdownSignals: [] });
const db = await connectDatabase(config.database.url, { maxPoolSize: config.database.poolSize });
const temporal = connectTemporal(config, db);
await registerSearchAttributes(temporal, log);
const bundle =
  config.worker.bundlePath === undefined
    ? await bundleWorkflows()
    : { codePath: config.worker.bundlePath };
const worker = await createWorker({ config, db, log, temporal, bundle });
process.send?.({ ready: true });
log.info({ queues: temporal.queues }, 'worker is polling');

let exitCode = 0;
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'worker stops');
  await worker.stop();
  await temporal.close();
  await db.end();
  process.exit(exitCode);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(signal));
// Started by a supervisor that is gone: nobody is left to stop this process.
process.once('disconnect', () => void stop('supervisor is gone'));
worker.finished.catch((error: unknown) => {
  log.fatal({ err: error }, 'worker failed');
  exitCode = 1;
  void stop('worker failed');
});
