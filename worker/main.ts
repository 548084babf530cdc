import '#shared/platform/settled-environment.ts';
import { type AddressInfo, createServer } from 'node:net';
import { Runtime } from '@temporalio/worker';
import { schemaReady } from '#shared/platform/schema.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createLogger, switchLevelBySignal } from '#shared/platform/logger.ts';
import { connectTemporal, registerSearchAttributes } from '#shared/platform/temporal.ts';
import { startTracing } from '#shared/platform/tracing/start.ts';
import { bundleWorkflows } from './bundle.ts';
import { createWorker } from './create-worker.ts';
import { createWorkerMetrics, serveMetrics } from './metrics.ts';
import { createSdkLogger } from './sdk-logger.ts';
import { startSweepSchedule } from './sweep-schedule.ts';

const config = loadConfig();
const log = createLogger({ name: 'worker', level: config.logLevel });
const sdkLog = log.child({ part: 'temporal' });
switchLevelBySignal(log, sdkLog);
if (config.database.url === undefined) throw new Error('DATABASE_URL is not set');

// The SDK serves its metrics on its own loopback port. This server returns them together with the service's own.
const sdkMetricsPort = await freePort();
const sdkMetrics = `127.0.0.1:${sdkMetricsPort}`;
Runtime.install({
  logger: createSdkLogger(sdkLog),
  shutdownSignals: [],
  telemetryOptions: {
    metrics: {
      metricPrefix: 'temporal_',
      prometheus: {
        bindAddress: sdkMetrics,
        countersTotalSuffix: true,
        unitSuffix: true,
        useSecondsForDurations: true,
      },
    },
  },
});
const tracing = await startTracing(config.tracing, { service: 'durable-workflows-worker', log });
const db = await connectDatabase(config.database.url, { maxPoolSize: config.database.poolSize });
await schemaReady(db, log);
const temporal = connectTemporal(config, db);
await registerSearchAttributes(temporal, log);
const bundle =
  config.worker.bundlePath === undefined
    ? await bundleWorkflows()
    : { codePath: config.worker.bundlePath };
const metrics = createWorkerMetrics(db, log);
const worker = await createWorker({
  config,
  db,
  log,
  temporal,
  bundle,
  metrics,
  ownServices: [{ host: '127.0.0.1', port: sdkMetricsPort }],
});
const sweeps = startSweepSchedule(temporal, config.temporal.taskQueuePrefix, log);
const { metricsHost: host, metricsPort: port } = config.worker;
const metricsServer = await serveMetrics(
  { host, port, sdkUrl: `http://${sdkMetrics}/metrics`, publicUrl: config.api.publicUrl },
  metrics,
  log,
);
process.send?.({ ready: true, metricsPort: metricsServer.port });
log.info({ queues: temporal.queues, metricsPort: metricsServer.port }, 'worker is polling');

let exitCode = 0;
async function stop(reason: string): Promise<void> {
  log.info({ reason }, 'worker is stopping');
  try {
    await sweeps.stop();
    await worker.stop();
    await metricsServer.close();
    await temporal.close();
    await db.end();
  } catch (error) {
    // After a failure, workers may still use the connection.
    log.error({ err: error }, 'stopping failed');
    exitCode = 1;
  }
  await tracing.stop();
  process.exit(exitCode);
}
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop(signal));
// The supervisor that started this process has ended, so nothing else would stop it.
process.once('disconnect', () => void stop('supervisor has ended'));
worker.finished.catch((error: unknown) => {
  log.fatal({ err: error }, 'worker failed');
  exitCode = 1;
  void stop('worker failed');
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
