import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { migrate } from '#shared/db/migrate.ts';
import type { Config } from '#shared/platform/config.ts';
import { type Child, describeExit, startChild } from '#scripts/stack/children.ts';
import type { Claim } from '#scripts/stack/claim.ts';
import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { postgresStopSignals, startPostgres } from '#scripts/stack/postgres.ts';
import { concernsTerminal, readable, readyMessage } from '#scripts/stack/supervisor.ts';
import { cachedWorkflowBundle } from '#scripts/stack/workflow-bundle.ts';
import { startUiProxy } from '#scripts/stack/ui-proxy.ts';
import { childEnvironment, projectDir, temporalNamespace } from '#scripts/start/servers.ts';
import { startBalancer } from './balancer.ts';
import { keepRunning, type Part } from './part.ts';
import { startTemporalServer, temporalPorts } from './temporal-server.ts';
import { startTemporalUi } from './ui.ts';

const READY_MS = 60_000;
/** As with `restart: unless-stopped`, a part that ends immediately must not keep the machine busy. */
const PAUSE_MS = 250;

type Signals = Parameters<Child['stop']>[0];
type Kind = 'postgres' | 'temporal' | 'temporal-ui' | 'api' | 'worker';

/** How each kind of part is stopped, with the time that it gets, in ms. */
const stopSignals = ({ worker }: Config): Record<Kind, Signals> => ({
  postgres: postgresStopSignals(5_000),
  temporal: [['SIGTERM', 15_000]],
  'temporal-ui': [['SIGTERM', 5_000]],
  api: [['SIGTERM', 10_000]],
  // Its steps end within the grace period, or are handed back.
  worker: [['SIGTERM', worker.shutdownGraceMs + 30_000]],
});

export interface ClusterOptions {
  /** The configuration, with chosen ports. */
  config: Config;
  claim: Claim;
  apis: number;
  workers: number;
  secretKey: string;
  /** Settings of the services in addition to this process's. */
  environment?: NodeJS.ProcessEnv;
  /** Called with progress and problems, one line each. */
  say: (line: string) => void;
}

export interface Addresses {
  /** The URL of the balancer. */
  url: string;
  databaseUrl: string;
  temporalAddress: string;
  uiUrl: string;
}

export interface Cluster {
  /** In the order in which they started. */
  parts: readonly Part[];
  /** Starts the parts in order. Each is restarted whenever it ends. Throws if one is not ready in time. */
  start(): Promise<Addresses>;
  /** Restarts one part in an orderly way and resolves when it is ready again. */
  restart(part: Part): Promise<void>;
  stop(): Promise<void>;
  killAll(): void;
}

const kindOf = (part: Part): Kind => part.name.replace(/-\d+$/, '') as Kind;

export function createCluster(options: ClusterOptions): Cluster {
  const parts: Part[] = [];
  const signals = stopSignals(options.config);
  const closers: (() => Promise<unknown>)[] = [];
  return {
    parts,
    start: () => startParts(options, parts, closers),
    restart: (part) =>
      part.restart(signals[kindOf(part)], options.config.worker.shutdownGraceMs + 2 * READY_MS),
    stop: async () => {
      await Promise.all(closers.map((close) => close()));
      // Dependents first. Parts of the same kind stop together.
      for (const kind of ['api', 'worker', 'temporal-ui', 'temporal', 'postgres'] as const) {
        const same = parts.filter((part) => kindOf(part) === kind);
        await Promise.all(same.map((part) => part.end(signals[kind])));
      }
    },
    killAll: () => parts.forEach((part) => part.killNow()),
  };
}

async function startParts(
  options: ClusterOptions,
  parts: Part[],
  closers: (() => Promise<unknown>)[],
): Promise<Addresses> {
  const { config, apis } = options;
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const servers = await startServers(options, parts);
  const [uiPort = 0, ...apiPorts] = await freePorts(1 + apis);
  const { host, port, publicUrl } = config.api;
  const uiUrl = `http://127.0.0.1:${config.temporal.uiPort}`;
  await startUi(options, parts, { ...servers, uiPort, uiUrl });
  const proxy = await startUiProxy({ port: config.temporal.uiPort, uiPort, publicUrl });
  closers.push(() => proxy.close());
  const addresses = {
    api: publicUrl,
    databaseUrl: servers.databaseUrl,
    temporal: servers.temporalAddress,
    temporalUi: uiUrl,
    hidden: [`127.0.0.1:${uiPort}`],
  };
  const environment = {
    ...childEnvironment(config, addresses, await bundling, options.secretKey),
    PUBLIC_URL: publicUrl,
    ...options.environment,
  };
  await startServices(options, parts, environment, apiPorts);
  const balancer = await startBalancer({ host, port, ports: apiPorts });
  closers.push(() => balancer.close());
  options.say(`${apis} × api and ${options.workers} × worker are ready`);
  return { ...servers, uiUrl, url: `http://127.0.0.1:${balancer.port}` };
}

/** Adds a part and waits until it is ready. */
async function bringUp(
  { claim, say }: ClusterOptions,
  parts: Part[],
  name: string,
  start: (onSpawn: (child: Child) => void) => Promise<unknown>,
): Promise<void> {
  let problem = 'it is still starting';
  let firstUp = false;
  const part = keepRunning({
    name,
    start,
    pauseMs: () => PAUSE_MS,
    onSpawn: (child) => claim.record(name, child.pid),
    onReady: () => {
      if (firstUp) say(`${name} is ready again`);
    },
    onNotReady: (error) => {
      problem = messageOf(error);
      if (firstUp) say(`${name} did not start: ${problem}`);
    },
    onExit: (exit, wasReady) => {
      if (wasReady) say(`${name} ended with ${describeExit(exit)}; it is started again`);
    },
  });
  parts.push(part);
  const late = new AbortController();
  const tooLate = sleep(READY_MS, undefined, { signal: late.signal }).then(() => {
    throw new Error(`${name} was not ready after ${READY_MS / 1_000} s: ${problem}`);
  });
  tooLate.catch(() => undefined);
  await Promise.race([part.firstUp, tooLate]);
  late.abort();
  firstUp = true;
}

async function startServers(
  options: ClusterOptions,
  parts: Part[],
): Promise<{ databaseUrl: string; temporalAddress: string }> {
  const { config, say } = options;
  let databaseUrl = '';
  let adminUrl = '';
  await bringUp(options, parts, 'postgres', async (onSpawn) => {
    const server = await startPostgres({
      dataDir: config.dataDir,
      port: config.database.port,
      database: 'workflows',
      // As in the compose file: enough for the pools of five processes and the Temporal server.
      maxConnections: 300,
      onSpawn,
      onNotice: say,
    });
    databaseUrl = server.url;
    adminUrl = server.adminUrl;
  });
  await migrate(databaseUrl);
  say('postgres is ready');
  const ports = [config.temporal.port, ...(await freePorts(temporalPorts - 1))];
  await bringUp(options, parts, 'temporal', (onSpawn) =>
    startTemporalServer({
      dataDir: config.dataDir,
      projectDir,
      ports,
      adminUrl,
      namespace: temporalNamespace(),
      onSpawn,
    }),
  );
  say('temporal is ready');
  return { databaseUrl, temporalAddress: `127.0.0.1:${config.temporal.port}` };
}

const startUi = (
  options: ClusterOptions,
  parts: Part[],
  { uiPort, uiUrl, temporalAddress }: { uiPort: number; uiUrl: string; temporalAddress: string },
): Promise<void> =>
  bringUp(options, parts, 'temporal-ui', (onSpawn) =>
    startTemporalUi({
      dataDir: options.config.dataDir,
      projectDir,
      port: uiPort,
      publicUrl: uiUrl,
      temporalAddress,
      namespace: temporalNamespace(),
      onSpawn,
    }),
  );

/** The first API alone, since it creates the workspace; then everything else together. */
async function startServices(
  options: ClusterOptions,
  parts: Part[],
  environment: NodeJS.ProcessEnv,
  apiPorts: readonly number[],
): Promise<void> {
  const start = (name: string, own: NodeJS.ProcessEnv): Promise<void> =>
    bringUp(options, parts, name, async (onSpawn) => {
      const child = await startChild({
        name,
        command: process.execPath,
        args: [...nodeFlags, join(projectDir, name.replace(/-\d+$/, ''), 'main.ts')],
        env: { ...environment, ...own },
        cwd: projectDir,
        logFile: join(options.config.dataDir, 'logs', `${name}.log`),
        ipc: true,
        onLine: (line) => {
          if (concernsTerminal(line)) options.say(`[${name}] ${readable(line)}`);
        },
      });
      onSpawn(child);
      await readyMessage(child, READY_MS);
    });
  const apis = apiPorts.map(
    (port, index) => () =>
      start(`api-${index + 1}`, { API_HOST: '127.0.0.1', API_PORT: String(port) }),
  );
  await apis.shift()?.();
  const others = Array.from({ length: options.workers }, (_, index) =>
    start(`worker-${index + 1}`, { WORKER_METRICS_PORT: '0' }),
  );
  await Promise.all([...apis.map((each) => each()), ...others]);
}
