import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isGrpcServiceError } from '@temporalio/client';
import { withClient } from '#shared/db/pool.ts';
import { clusterPrograms } from '#scripts/setup/cluster-programs.mjs';
import { type Child, startChild } from '#scripts/stack/children.ts';
import { connectLocally, retention, type Temporal, whenReady } from '#scripts/stack/temporal.ts';

const run = promisify(execFile);
const loopback = '127.0.0.1';

const services = ['frontend', 'history', 'matching', 'worker'] as const;
/** Each of its services has one port for requests and one for membership. */
export const temporalPorts = 2 * services.length;

/** Fixed for the life of the database, as in the compose file. */
const HISTORY_SHARDS = 128;
const NOT_FOUND = 5;

export interface TemporalServerOptions {
  /** Contains the configuration and the log. */
  dataDir: string;
  projectDir: string;
  /**
   * `temporalPorts` free ports, starting with the frontend's. They must be the same at each start, because they
   * identify the server.
   */
  ports: readonly number[];
  /** A URL of the Postgres server with an account that may create roles and databases. */
  adminUrl: string;
  /** Default: `default`. */
  namespace?: string;
  /** Settings in addition to those of the compose file. */
  dynamicConfig?: Record<string, string | number | boolean>;
  onSpawn?: (child: Child) => void;
}

/**
 * Starts the Temporal server of the compose file on Postgres: creates its role, databases and namespace where missing,
 * and migrates its schema. Throws if its programs have not been built (scripts/setup.mjs --cluster).
 */
export async function startTemporalServer(options: TemporalServerOptions): Promise<Temporal> {
  const { server, schemaTool } = clusterPrograms(options.projectDir);
  for (const { path } of [server, schemaTool]) {
    if (!existsSync(path)) {
      throw new Error(`${path} is missing: run node scripts/setup.mjs --cluster`);
    }
  }
  mkdirSync(options.dataDir, { recursive: true });
  const database = await prepareDatabases(options.adminUrl);
  await migrateSchemas(schemaTool.path, database);
  const child = await startChild({
    name: 'temporal',
    command: server.path,
    args: ['--config-file', writeConfig(options, database), '--allow-no-auth', 'start'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'] },
    logFile: join(options.dataDir, 'logs', 'temporal.log'),
  });
  options.onSpawn?.(child);
  const [port = 0] = options.ports;
  const temporal: Temporal = {
    address: `${loopback}:${port}`,
    uiUrl: undefined,
    child,
    stop: async (budgetMs) => {
      await child.stop([['SIGTERM', budgetMs]]);
    },
  };
  await whenReady(temporal, port, () =>
    ensureNamespace(temporal.address, options.namespace ?? 'default'),
  );
  return temporal;
}

interface Database {
  host: string;
  port: string;
  user: string;
  password: string;
}

const databases = { temporal: 'temporal', temporal_visibility: 'visibility' } as const;

/** A separate role, as in the compose file. Its password is new at each start, so that it need not be stored. */
async function prepareDatabases(adminUrl: string): Promise<Database> {
  const password = randomBytes(24).toString('base64url');
  await withClient(adminUrl, async (client) => {
    const exists = async (query: string, name: string): Promise<boolean> =>
      (await client.query(query, [name])).rowCount !== 0;
    const role = await exists('SELECT 1 FROM pg_roles WHERE rolname = $1', 'temporal');
    // base64url needs no quoting.
    await client.query(`${role ? 'ALTER' : 'CREATE'} ROLE temporal LOGIN PASSWORD '${password}'`);
    for (const name of Object.keys(databases)) {
      if (await exists('SELECT 1 FROM pg_database WHERE datname = $1', name)) continue;
      await client.query(`CREATE DATABASE ${name} OWNER temporal`);
    }
  });
  const { hostname, port } = new URL(adminUrl);
  return { host: hostname, port, user: 'temporal', password };
}

/** Only applies missing updates. The tool contains the schema of its version. */
async function migrateSchemas(tool: string, database: Database): Promise<void> {
  const env = {
    SQL_HOST: database.host,
    SQL_PORT: database.port,
    SQL_USER: database.user,
    SQL_PASSWORD: database.password,
  };
  for (const [name, schema] of Object.entries(databases)) {
    const common = ['--plugin', 'postgres12', '--database', name];
    await run(tool, [...common, 'setup-schema', '--version', '0.0'], { env });
    const update = ['update-schema', '--schema-name', `postgresql/v12/${schema}`];
    await run(tool, [...common, ...update], { env });
  }
}

/** The configuration that the image generates from the compose file's variables, on loopback. */
function writeConfig(options: TemporalServerOptions, database: Database): string {
  const { ports } = options;
  const rpc = services.map((name, index) => {
    const [grpcPort, membershipPort] = [ports[2 * index], ports[2 * index + 1]];
    return [name, { rpc: { grpcPort, membershipPort, bindOnLocalHost: true } }] as const;
  });
  const store = (databaseName: string, maxConns: number) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${database.host}:${database.port}`,
      connectProtocol: 'tcp',
      user: database.user,
      password: database.password,
      maxConns,
      maxIdleConns: maxConns,
      maxConnLifetime: '1h',
    },
  });
  const config = {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: HISTORY_SHARDS,
      datastores: {
        default: store('temporal', 20),
        visibility: store('temporal_visibility', 10),
      },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: loopback } },
    services: Object.fromEntries(rpc),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: {
          enabled: true,
          initialFailoverVersion: 1,
          rpcName: 'frontend',
          rpcAddress: `${loopback}:${ports[0]}`,
        },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: writeDynamicConfig(options), pollInterval: '60s' },
  };
  const path = join(options.dataDir, 'temporal-server.yml');
  // JSON is valid YAML.
  writeFileSync(path, JSON.stringify(config, null, 2), { mode: 0o600 });
  return path;
}

function writeDynamicConfig({ dataDir, projectDir, dynamicConfig = {} }: TemporalServerOptions) {
  const path = join(dataDir, 'temporal-dynamic-config.yml');
  const own = Object.entries(dynamicConfig).map(([key, value]) => `${key}:\n  - value: ${value}\n`);
  const composed = readFileSync(join(projectDir, 'docker/temporal-dynamic-config.yml'), 'utf8');
  writeFileSync(path, [composed, ...own].join('\n'));
  return path;
}

/** Creates the namespace if it does not exist. Throws until every part of the server knows it. */
async function ensureNamespace(address: string, namespace: string): Promise<void> {
  const connection = await connectLocally(address, 1_000);
  try {
    const { workflowService } = connection;
    try {
      await workflowService.describeNamespace({ namespace });
    } catch (error) {
      if (!isGrpcServiceError(error) || (error.code as number) !== NOT_FOUND) throw error;
      await workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: retention as never,
      });
    }
    await workflowService.listWorkflowExecutions({ namespace, pageSize: 1 });
  } finally {
    await connection.close();
  }
}
