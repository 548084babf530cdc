import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { describeExit, startChild } from './children.ts';
import type { Child } from './children.ts';
import { findTemporalBinary, noTemporalMessage } from './temporal-binary.mjs';

export interface TemporalOptions {
  /** Contains the database file and the log. */
  dataDir: string;
  projectDir: string;
  port: number;
  /** Undefined: no UI. */
  uiPort?: number;
  /** The port of its metrics and its HTTP API, which the server always serves. Undefined: free ports. */
  metricsPort?: number;
  httpPort?: number;
  namespace?: string;
  env?: NodeJS.ProcessEnv;
  /** Settings of the server in addition to ours. */
  dynamicConfig?: Record<string, string | number | boolean>;
  /** Called as soon as the server process exists, before it is ready. */
  onSpawn?: (child: Child) => void;
}

export interface Temporal {
  address: string;
  uiUrl: string | undefined;
  child: Child;
  stop(budgetMs: number): Promise<void>;
}

const loopback = '127.0.0.1';

/**
 * A closed run can only be resumed while its history exists, so histories are kept as long as the longest limited plan
 * keeps runs.
 */
export const retention = { seconds: 90 * 86_400 };

/**
 * By default the server polls its own queues 20 times a second, which adds 50 ms to every hop of a run; 2,000 removes
 * that. By default, timers fire up to a second late, which is too late for a retry after 100 ms. By default, schedules
 * start 30 executions a second over the whole namespace, with two pollers, but at the full hour many are due at once.
 * Eager execution hands a step to the worker that scheduled it, without a dispatch; newer servers do so by default. The
 * last setting refreshes the caches often enough that a new search attribute is known immediately.
 */
const dynamicConfig = {
  'history.transferProcessorMaxPollRPS': 2_000,
  'history.timerProcessorMaxPollRPS': 2_000,
  'history.timerProcessorMaxTimeShift': '"1ms"',
  'worker.schedulerNamespaceStartWorkflowRPS': 300,
  'worker.perNamespaceWorkerOptions': '{"MaxConcurrentWorkflowTaskPollers":8}',
  'system.enableActivityEagerExecution': true,
  'system.forceSearchAttributesCacheRefreshOnRead': true,
  // The HTTP API listens on a separate, unused port, and this host name matches no request.
  'frontend.httpAllowedHosts': '["disabled.invalid"]',
};

/**
 * WAL with NORMAL: an fsync per checkpoint instead of per commit. A killed process loses nothing; a power failure loses
 * the last moments.
 */
const sqlitePragmas = ['journal_mode=WAL', 'synchronous=NORMAL'];

/**
 * Whether the server shares its task queues fairly between the workspaces. It keeps fair queues in separate tables, and
 * this version never moves tasks between the two kinds, so tasks in a queue would be lost in a switch. A data folder
 * therefore keeps the kind it was created with.
 */
function hasFairQueues(dataDir: string): boolean {
  const marker = join(dataDir, 'fair-queues');
  if (!existsSync(databaseFile(dataDir))) writeFileSync(marker, '');
  return existsSync(marker);
}

const portFlag = (flag: string, port: number | undefined): string[] =>
  port === undefined ? [] : [flag, String(port)];

const databaseFile = (dataDir: string): string => join(dataDir, 'temporal.db');

export async function startTemporal(options: TemporalOptions): Promise<Temporal> {
  const namespace = options.namespace ?? 'default';
  mkdirSync(options.dataDir, { recursive: true });
  const env = options.env ?? process.env;
  const command = findTemporalBinary(options.projectDir, env);
  if (command === undefined) throw new Error(noTemporalMessage);
  const settings = {
    ...dynamicConfig,
    'matching.enableFairness': hasFairQueues(options.dataDir),
    ...options.dynamicConfig,
  };
  const child = await startChild({
    name: 'temporal',
    command,
    args: [
      ...['server', 'start-dev', '--ip', loopback, '--port', String(options.port)],
      ...(options.uiPort === undefined ? ['--headless'] : ['--ui-port', String(options.uiPort)]),
      ...portFlag('--metrics-port', options.metricsPort),
      ...portFlag('--http-port', options.httpPort),
      ...['--db-filename', databaseFile(options.dataDir)],
      ...sqlitePragmas.flatMap((pragma) => ['--sqlite-pragma', pragma]),
      ...Object.entries(settings).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${value}`,
      ]),
      ...(namespace === 'default' ? [] : ['--namespace', namespace]),
      // The user's own CLI profile describes other servers.
      ...['--disable-config-env', '--disable-config-file'],
      ...['--log-level', 'warn', '--log-format', 'json', '--color', 'never'],
    ],
    env,
    logFile: join(options.dataDir, 'logs', 'temporal.log'),
  });
  options.onSpawn?.(child);
  const server: Temporal = {
    address: `${loopback}:${options.port}`,
    uiUrl: options.uiPort === undefined ? undefined : `http://${loopback}:${options.uiPort}`,
    child,
    async stop(budgetMs) {
      // Its orderly stop waits 2.5 s for connections to drain. The write-ahead log makes it safe to end it sooner.
      await child.stop([['SIGTERM', budgetMs]]);
    },
  };
  await whenReady(server, options.port, () => ensureRetention(server.address, namespace));
  return server;
}

/**
 * Resolves when the server accepts connections and `prepare`, which is repeated until it succeeds, has resolved. Stops
 * the server and throws if it ends or does not answer within a minute.
 */
export async function whenReady(
  server: Temporal,
  port: number,
  prepare: () => Promise<void>,
): Promise<void> {
  try {
    await awaitAnswer(server, port, prepare);
  } catch (error) {
    await server.stop(500);
    throw error;
  }
}

async function awaitAnswer(
  server: Temporal,
  port: number,
  prepare: () => Promise<void>,
): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    if (server.child.exit !== undefined) {
      throw new Error(
        `The Temporal server did not start (${describeExit(server.child.exit)}): ${server.child.tail(5).join(' | ')}`,
      );
    }
    try {
      // A gRPC client that finds the port closed waits a second before it retries; a bare socket does not.
      if (await accepts(port)) {
        await prepare();
        return;
      }
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(
          `The Temporal server does not answer: ${server.child.tail(3).join(' | ')}`,
          { cause: error },
        );
      }
    }
    if (Date.now() > deadline) {
      throw new Error('The Temporal server did not open its port within 60 s');
    }
    await sleep(20);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: loopback, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/**
 * A new connection to a server on this machine, which does not use the machine's proxy. The timeout is in ms; default:
 * 10 s.
 */
export const connectLocally = (address: string, connectTimeout?: number): Promise<Connection> =>
  Connection.connect({
    address,
    ...(connectTimeout === undefined ? {} : { connectTimeout }),
    channelArgs: { 'grpc.enable_http_proxy': 0 },
  });

/** Makes a namespace keep closed executions long enough. Throws until the namespace exists. */
async function ensureRetention(address: string, namespace: string): Promise<void> {
  const connection = await connectLocally(address, 1_000);
  try {
    const current = async (): Promise<number> => {
      const { config } = await connection.workflowService.describeNamespace({ namespace });
      return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    };
    if ((await current()) >= retention.seconds) return;
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: retention as never },
    });
    while ((await current()) < retention.seconds) await sleep(20);
  } finally {
    await connection.close();
  }
}
