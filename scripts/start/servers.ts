import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrate } from '#shared/db/migrate.ts';
import type { Config } from '#shared/platform/config.ts';
import { startChild } from '#scripts/stack/children.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { postgresStopSignals, startPostgres } from '#scripts/stack/postgres.ts';
import {
  concernsTerminal,
  readable,
  readyMessage,
  type Supervisor,
} from '#scripts/stack/supervisor.ts';
import { startTemporal, type TemporalOptions } from '#scripts/stack/temporal.ts';
import { watchTemporal } from '#scripts/stack/temporal-watch.ts';
import { startUiProxy } from '#scripts/stack/ui-proxy.ts';

export const projectDir = join(import.meta.dirname, '../..');

/** 4.6 s together, so that everything ends within 5 s even if each part uses its full share. */
const stopBudgetMs = { api: 1_200, worker: 1_800, temporal: 700, postgres: 900 } as const;

const readyTimeoutMs = 60_000;

export interface Addresses {
  api: string;
  databaseUrl: string;
  temporal: string;
  /** Undefined: an external server without a configured UI. */
  temporalUi: string | undefined;
  /** `host:port` of servers that only this process calls. */
  hidden: string[];
}

export type Seconds = Map<string, number>;

/** Stored secrets only survive a restart if the key that seals them does. An external database requires its own key. */
export function encryptionKey(config: Config): string | undefined {
  if (config.encryptionKey !== undefined || config.database.url !== undefined) {
    return config.encryptionKey;
  }
  const path = join(config.dataDir, 'encryption-key');
  if (!existsSync(path)) {
    writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  }
  return readFileSync(path, 'utf8').trim();
}

/**
 * By default, workflows cannot reach loopback, but the first tool that developers try is on their own machine. Where
 * people sign in, others also use the machine. `EGRESS_ALLOW=none` allows none, here as well.
 */
export const egressAllow = (config: Config): string =>
  process.env['EGRESS_ALLOW'] ?? (config.auth.mode === 'open' ? '127.0.0.0/8,::1/128' : '');

export const temporalNamespace = (): string => process.env['TEMPORAL_NAMESPACE'] || 'default';

/** Replaces the user's own profile file, which describes other servers. The `temporal` command also reads it. */
function writeTemporalProfile(config: Config, address: string): string {
  const path = join(config.dataDir, 'temporal.toml');
  const namespace = temporalNamespace();
  writeFileSync(path, `[profile.default]\naddress = "${address}"\nnamespace = "${namespace}"\n`);
  return path;
}

export function childEnvironment(
  config: Config,
  addresses: Addresses,
  bundle: string,
  secretKey: string,
): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([key]) =>
      // The user's settings for another Temporal (keys, TLS) must not be used for the embedded one.
      config.temporal.address !== undefined ||
      !key.startsWith('TEMPORAL_') ||
      key === 'TEMPORAL_NAMESPACE' ||
      key === 'TEMPORAL_READABLE_NAMES',
  );
  return {
    ...Object.fromEntries(inherited),
    ...(config.temporal.address === undefined
      ? { TEMPORAL_CONFIG_FILE: writeTemporalProfile(config, addresses.temporal) }
      : {}),
    DATA_DIR: config.dataDir,
    API_PORT: String(config.api.port),
    DATABASE_URL: addresses.databaseUrl,
    TEMPORAL_ADDRESS: addresses.temporal,
    TEMPORAL_UI_PORT: String(config.temporal.uiPort),
    WORKER_METRICS_PORT: String(config.worker.metricsPort),
    ...(addresses.temporalUi === undefined ? {} : { TEMPORAL_UI_URL: addresses.temporalUi }),
    WORKFLOW_BUNDLE: bundle,
    ENCRYPTION_KEY: encryptionKey(config),
    SECRET_KEY: secretKey,
    EGRESS_ALLOW: egressAllow(config),
    // The Temporal UI is behind a proxy, and no one needs the others. Workflows must not reach them directly either.
    EGRESS_DENY: [process.env['EGRESS_DENY'], ...addresses.hidden].filter(Boolean).join(','),
    // Parsing and compiling imports takes most of the start-up time of the API and the worker.
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
    // The machine's proxy must not be used for servers on this machine.
    no_grpc_proxy: [process.env['no_grpc_proxy'], '127.0.0.1', 'localhost']
      .filter(Boolean)
      .join(','),
  };
}

/**
 * Starts a Temporal server that is restarted if it stops responding. `hidden`: `host:port` of its UI behind the proxy, its
 * metrics and its HTTP API.
 */
async function startOwnTemporal(
  config: Config,
  supervisor: Supervisor,
): Promise<Pick<Addresses, 'hidden'> & { address: string }> {
  const namespace = temporalNamespace();
  const [uiPort = 0, metricsPort = 0, httpPort = 0] = await freePorts(3);
  const options: TemporalOptions = {
    dataDir: config.dataDir,
    projectDir,
    port: config.temporal.port,
    uiPort,
    metricsPort,
    httpPort,
    namespace,
    onSpawn: (child) => supervisor.add('temporal', child, [['SIGTERM', stopBudgetMs.temporal]]),
  };
  const server = await startTemporal(options);
  const { publicUrl } = config.api;
  await startUiProxy({ port: config.temporal.uiPort, uiPort, publicUrl });
  watchTemporal({
    address: server.address,
    namespace,
    restart: async (reason) => {
      console.error(`[temporal] does not answer (${reason}): restarting it`);
      await supervisor.release('temporal')?.stop([['SIGTERM', stopBudgetMs.temporal]]);
      await startTemporal(options);
      console.error('[temporal] answers again');
    },
    onFailure: (error) => supervisor.fail(`temporal did not come back: ${messageOf(error)}`),
  });
  const hidden = [uiPort, metricsPort, httpPort].map((port) => `127.0.0.1:${port}`);
  return { address: server.address, hidden };
}

const migrateDatabase = (url: string): Promise<unknown> =>
  migrate(url, { onWait: (text) => console.log(text) });

export async function startServers(
  config: Config,
  supervisor: Supervisor,
  time: Timer,
  prepare = migrateDatabase,
): Promise<Addresses> {
  const { dataDir } = config;
  const hidden: string[] = [];
  const database = async (): Promise<string> => {
    if (config.database.url !== undefined) return config.database.url;
    const server = await startPostgres({
      dataDir,
      port: config.database.port,
      database: 'workflows',
      onSpawn: (child) =>
        supervisor.add('postgres', child, postgresStopSignals(stopBudgetMs.postgres)),
      onNotice: (text) => console.log(text),
    });
    return server.url;
  };
  const temporal = async (): Promise<string> => {
    if (config.temporal.address !== undefined) return config.temporal.address;
    const own = await startOwnTemporal(config, supervisor);
    hidden.push(...own.hidden);
    return own.address;
  };
  const migrated = async (): Promise<string> => {
    const url = await time('postgres', database());
    await time('migrations', prepare(url));
    return url;
  };
  const [databaseUrl, address] = await both(migrated(), time('temporal', temporal()));
  return {
    api: `http://${reachableHost(config.api.host)}:${config.api.port}`,
    databaseUrl,
    temporal: address,
    temporalUi: config.temporal.uiUrl,
    hidden,
  };
}

function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/** Like Promise.all, but only settles when both have settled, so that no start is in progress when the stop begins. */
export async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

export async function startProcess(
  name: 'api' | 'worker',
  config: Config,
  env: NodeJS.ProcessEnv,
  supervisor: Supervisor,
): Promise<void> {
  const child = await startChild({
    name,
    command: process.execPath,
    args: [...nodeFlags, join(projectDir, name, 'main.ts')],
    env,
    cwd: projectDir,
    logFile: join(config.dataDir, 'logs', `${name}.log`),
    ipc: true,
    onLine: (line) => {
      if (concernsTerminal(line)) console.error(`[${name}] ${readable(line)}`);
    },
  });
  supervisor.add(name, child, [['SIGTERM', stopBudgetMs[name]]]);
  await readyMessage(child, readyTimeoutMs);
}

type Timer = <T>(part: string, work: Promise<T>) => Promise<T>;

export function timer(seconds: Seconds): Timer {
  return async (part, work) => {
    const started = performance.now();
    const result = await work;
    seconds.set(part, (performance.now() - started) / 1_000);
    return result;
  };
}
