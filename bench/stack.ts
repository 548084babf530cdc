import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import pg from 'pg';
import type { Child } from '#scripts/stack/children.ts';
import { databaseUrl } from '#scripts/stack/databases.ts';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { postgresStopSignals, startPostgres, type Postgres } from '#scripts/stack/postgres.ts';
import { connectLocally, startTemporal } from '#scripts/stack/temporal.ts';
import { cachedWorkflowBundle } from '#scripts/stack/workflow-bundle.ts';
import { migrate } from '#shared/db/migrate.ts';
import { taskQueues } from '#shared/execution.ts';
import { bareClient, type Bare } from './bare/client.ts';
import { cpuMs, projectDir, type Processes } from './processes.ts';
import { serviceClient, type Service } from './api-client.ts';

const ownPrefix = 'bench-ours';
const barePrefix = 'bench-bare';

export interface Stack {
  service: Service;
  bare: Bare;
  databaseUrl: string;
  apiUrl: string;
  workerMetricsUrl: string;
  /** Where the service expects the models of `compatible/`. Nothing listens there until a measure does. */
  modelPort: number;
  /** Replaces our worker with a fresh process, which listens for a debugger if a port is given. */
  renewWorker(debuggerPort?: number): Promise<Child>;
  /** Environment for further children, for example the bare server. */
  environment: NodeJS.ProcessEnv;
  /** Processor time used so far by each part, in ms; empty if the system does not report it. */
  cpu(): Record<string, number>;
}

export interface StackOptions {
  /** Writes processor profiles of the API and the workers to this folder, and makes Postgres count its statements. */
  profileDir?: string;
}

/** Receivers of deliveries run on this machine, and all sockets come from it. */
const ONE_MACHINE = { EGRESS_ALLOW: '127.0.0.0/8', STREAM_SOCKETS_PER_ADDRESS: '2000' };

/**
 * The servers of `npm start`, with a Postgres that uses fsync and synchronous commits, plus the baseline's worker. Both
 * workers run all the time: the one that is not measured waits in its polls.
 */
export async function startStack(processes: Processes, options: StackOptions = {}): Promise<Stack> {
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const [postgresPort = 0, temporalPort = 0, apiPort = 0, metricsPort = 0, modelPort = 0] =
    await freePorts(5);
  const [postgres, temporal] = await settled(
    startDatabase(processes, postgresPort, options.profileDir !== undefined),
    startTemporal({
      dataDir: processes.folder,
      projectDir,
      port: temporalPort,
      onSpawn: (child) => processes.keep(child, [['SIGTERM', 700]]),
    }),
  );
  await migrate(postgres.url);
  const environment = {
    ...cleanEnvironment(),
    DATA_DIR: processes.folder,
    DATABASE_URL: postgres.url,
    TEMPORAL_ADDRESS: temporal.address,
    TEMPORAL_CONFIG_FILE: writeProfile(processes.folder, temporal.address),
    TASK_QUEUE_PREFIX: ownPrefix,
    API_PORT: String(apiPort),
    ENCRYPTION_KEY: 'a key for the benchmark alone',
    ...ONE_MACHINE,
    COMPATIBLE_BASE_URL: `http://127.0.0.1:${modelPort}/v1`,
    WORKFLOW_BUNDLE: await bundling,
    no_grpc_proxy: '127.0.0.1,localhost',
  };
  const startNode = nodeStarter(processes, environment, options);
  const api = await startNode('api', 'api/main.ts');
  // The free plan's quota would end a benchmark early.
  await query(postgres.url, `UPDATE workspaces SET plan = 'enterprise'`);
  const workerOwn = { WORKER_METRICS_PORT: String(metricsPort) };
  let worker = await startNode('worker', 'worker/main.ts', workerOwn);
  const bareWorker = await startNode('bare-worker', 'bench/bare/worker.ts', {
    TASK_QUEUE_PREFIX: barePrefix,
  });
  const client = new Client({ connection: await connectLocally(temporal.address) });
  const apiUrl = `http://127.0.0.1:${apiPort}`;
  return {
    service: serviceClient(apiUrl, client),
    bare: bareClient(client, taskQueues(barePrefix)),
    databaseUrl: postgres.url,
    apiUrl,
    workerMetricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    modelPort,
    renewWorker: async (debuggerPort) => {
      await processes.stop(worker);
      worker = await startNode(
        'worker',
        'worker/main.ts',
        workerOwn,
        debuggerPort === undefined ? [] : [`--inspect=127.0.0.1:${debuggerPort}`],
      );
      return worker;
    },
    environment,
    cpu: () => cpuOf([api, worker, bareWorker, postgres.child, temporal.child]),
  };
}

type StartNode = (
  name: string,
  script: string,
  own?: NodeJS.ProcessEnv,
  nodeOptions?: string[],
) => Promise<Child>;

/** Starts Node processes in an environment, each with a profile if the options request one. */
function nodeStarter(
  processes: Processes,
  environment: NodeJS.ProcessEnv,
  { profileDir }: StackOptions,
): StartNode {
  if (profileDir !== undefined) mkdirSync(profileDir, { recursive: true });
  return (name, script, own = {}, nodeOptions = []) =>
    processes.startNode({
      name,
      script,
      env: { ...environment, ...own },
      nodeOptions:
        profileDir === undefined
          ? nodeOptions
          : [...nodeOptions, '--cpu-prof', '--cpu-prof-dir', join(profileDir, name)],
    });
}

/** Processor time used so far by each child and its own children, in ms, by the names of the children. */
export function cpuOf(children: readonly Child[]): Record<string, number> {
  const times = children.map((child) => [child.name, cpuMs(child.pid)] as const);
  return Object.fromEntries(
    times.filter((entry): entry is readonly [string, number] => entry[1] !== undefined),
  );
}

/** Not `throwaway`: that one does not sync, and a trigger's response waits for a commit. */
async function startDatabase(
  processes: Processes,
  port: number,
  countStatements: boolean,
): Promise<Postgres> {
  const start = (): Promise<Postgres> =>
    startPostgres({
      dataDir: processes.folder,
      port,
      database: 'workflows',
      onSpawn: (child) => processes.keep(child, postgresStopSignals(900)),
    });
  const server = await start();
  if (!countStatements) return server;
  await query(server.url, `ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'`);
  await query(server.url, 'ALTER SYSTEM SET track_io_timing = on');
  await query(server.url, 'ALTER SYSTEM SET track_wal_io_timing = on');
  await processes.stop(server.child);
  const again = await start();
  await query(again.url, 'CREATE EXTENSION pg_stat_statements');
  return again;
}

/** Creates a database with our schema beside that of the service, and returns its URL. */
export async function freshDatabase({ databaseUrl: beside }: Stack, name: string): Promise<string> {
  await query(beside, `CREATE DATABASE ${name}`);
  const url = databaseUrl(beside, name);
  await migrate(url);
  return url;
}

/** Runs one statement on a new connection. */
export async function query<Row extends pg.QueryResultRow>(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}

function writeProfile(folder: string, address: string): string {
  const path = join(folder, 'temporal.toml');
  writeFileSync(path, `[profile.default]\naddress = "${address}"\nnamespace = "default"\n`);
  return path;
}

/** Like Promise.all, but waits for both, so that no start is in progress when stopping begins. */
async function settled<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}
