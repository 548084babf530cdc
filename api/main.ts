import '#shared/platform/settled-environment.ts';
import { schemaReady } from '#shared/platform/schema.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { ensureDefaultWorkspace } from '#shared/db/people/workspaces.ts';
import { messageOf } from '#shared/errors.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { ensureOwnerPassword } from '#shared/operations/people/sign-in.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createLogger, switchLevelBySignal } from '#shared/platform/logger.ts';
import { createRegistry } from '#shared/platform/process-metrics.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { startTracing } from '#shared/platform/tracing/start.ts';
import { buildApp } from './app.ts';

/** After this, the process exits although something is still open. Requests in progress have ended or been cut before. */
const SHUTDOWN_MS = 6_000;

const config = loadConfig();
const log = createLogger({ name: 'api', level: config.logLevel });
switchLevelBySignal(log);

const fail = (error: unknown): never => {
  log.fatal({ err: error }, 'api failed');
  process.exit(1);
};
process.on('uncaughtException', fail);
process.on('unhandledRejection', fail);

/**
 * In required mode, the owner must be able to sign in, and operators should know why sessions end with this process.
 */
async function prepareSignIn(db: Pool): Promise<void> {
  if (config.auth.mode !== 'required') return;
  const set = await ensureOwnerPassword(db, config.auth.ownerPassword);
  if (set?.generated !== undefined) {
    // Shown only this once: to the person at the terminal or, if there is no terminal, in the log.
    const notice = `The password of the owner <${set.email}> is: ${set.generated}`;
    if (process.send === undefined) log.warn(notice);
    else process.send({ notice });
  }
  if (config.auth.secretKey === undefined) {
    log.warn(
      'SECRET_KEY is not set: sessions end with this process, and no other process accepts them',
    );
  }
}

async function main(): Promise<void> {
  if (config.database.url === undefined) throw new Error('DATABASE_URL is not set');
  const tracing = await startTracing(config.tracing, { service: 'durable-workflows-api', log });
  const db = await connectDatabase(config.database.url, { maxPoolSize: config.database.poolSize });
  await schemaReady(db, log);
  const temporal = connectTemporal(config, db);
  const workspaceId = await ensureDefaultWorkspace(db, { ownerEmail: config.auth.ownerEmail });
  if (config.seed) await createDemoData(db, workspaceId);
  await prepareSignIn(db);
  const metrics = createRegistry();
  const app = buildApp({ db, temporal, log, config, findRunnable, metrics });

  let stopping = false;
  const stop = async (reason: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ reason }, 'stopping');
    setTimeout(() => process.exit(1), SHUTDOWN_MS).unref();
    await app.close();
    await Promise.allSettled([temporal.close(), db.end(), tracing.stop()]);
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => void stop(signal).catch(fail));
  }
  // The supervisor has ended, so nothing else would stop this process.
  if (process.send !== undefined) {
    process.on('disconnect', () => void stop('disconnect').catch(fail));
  }

  await app.listen({ host: config.api.host, port: config.api.port });
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : config.api.port;
  log.info({ host: config.api.host, port, authMode: config.auth.mode }, 'api is listening');
  process.send?.({ ready: true, port });
}

try {
  await main();
} catch (error) {
  if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
    log.fatal(
      { port: config.api.port },
      `port ${config.api.port} is in use; set API_PORT to another`,
    );
  } else {
    log.fatal({ err: error }, `api could not start: ${messageOf(error)}`);
  }
  process.exit(1);
}
