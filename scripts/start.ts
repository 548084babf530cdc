import { nodeFlags } from './stack/node-flags.ts';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { migrate } from '../shared/db/migrate.ts';
import { connectDatabase } from '../shared/db/pool.ts';
import { readOwnerAccount } from '../shared/db/people/sign-ins.ts';
import { loadConfig } from '../shared/platform/config.ts';
import type { Config } from '../shared/platform/config.ts';
import { createSessionTokens } from '../shared/platform/secrets/session-tokens.ts';
import { recordExample, readExamples } from '../shared/db/workflows/examples-made.ts';
import { type ExampleMemory, seed } from './seed.ts';
import { startChild } from './stack/children.ts';
import type { Child } from './stack/children.ts';
import { claimFolder } from './stack/claim.ts';
import type { Claim } from './stack/claim.ts';
import { messageOf } from './stack/output.ts';
import { freePorts, requireFreePort } from './stack/ports.ts';
import { postgresStopSignals, startPostgres } from './stack/postgres.ts';
import { concernsTerminal, createSupervisor, readable, readyMessage } from './stack/supervisor.ts';
import type { PartName, Supervisor } from './stack/supervisor.ts';
import { startTemporal, type TemporalOptions } from './stack/temporal.ts';
import { watchTemporal } from './stack/temporal-watch.ts';
import { startUiProxy } from './stack/ui-proxy.ts';
import { whenStarterEnds } from './stack/starter.ts';
import { cachedWorkflowBundle } from './stack/workflow-bundle.ts';

/**
 * `npm start`: Postgres and Temporal in parallel, then migrations, API and worker, the example data on the first start,
 * and a banner with all addresses. Servers that the environment configures (DATABASE_URL, TEMPORAL_ADDRESS) are not
 * started. One Ctrl-C stops everything in order, a second one at once.
 */
const projectDir = join(import.meta.dirname, '..');

/** 4.6 s together: everything ends within 5 s, however much of its share each part needs. */
const stopBudgetMs = { api: 1_200, worker: 1_800, temporal: 700, postgres: 900 } as const;

/** npm forwards a Ctrl-C that the terminal has already delivered; two within this time count as one. */
const sameSignalMs = 500;

const readyTimeoutMs = 60_000;

interface Addresses {
  api: string;
  databaseUrl: string;
  temporal: string;
  /** Undefined: an external server without a configured UI. */
  temporalUi: string | undefined;
  /** `host:port` of servers that only this process calls. */
  hidden: string[];
}

type Seconds = Map<string, number>;

/**
 * Port 0 means any free port. All ports are chosen or checked before anything starts, so that a port in use stops
 * nothing half-way.
 */
async function settlePorts(config: Config): Promise<Config> {
  const embeddedTemporal = config.temporal.address === undefined;
  const uses = [
    {
      port: config.api.port,
      purpose: 'the API',
      variable: 'API_PORT',
      host: config.api.host,
      needed: true,
    },
    {
      port: config.database.port,
      purpose: 'the database',
      variable: 'POSTGRES_PORT',
      host: '127.0.0.1',
      needed: config.database.url === undefined,
    },
    {
      port: config.temporal.port,
      purpose: 'the Temporal server',
      variable: 'TEMPORAL_PORT',
      host: '127.0.0.1',
      needed: embeddedTemporal,
    },
    {
      port: config.temporal.uiPort,
      purpose: 'the Temporal UI',
      variable: 'TEMPORAL_UI_PORT',
      host: '127.0.0.1',
      needed: embeddedTemporal,
    },
    {
      port: config.worker.metricsPort,
      purpose: "the worker's metrics",
      variable: 'WORKER_METRICS_PORT',
      host: config.worker.metricsHost,
      needed: true,
    },
  ].filter(({ needed }) => needed);
  const free = await freePorts(uses.filter(({ port }) => port === 0).length);
  const chosen: Record<string, string> = {};
  for (const use of uses) {
    if (use.port === 0) chosen[use.variable] = String(free.pop());
    else await requireFreePort(use);
  }
  return loadConfig({ ...process.env, ...chosen });
}

/** Stored secrets survive a restart only if the key that seals them does. An external database brings its own key. */
function encryptionKey(config: Config): string | undefined {
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
 * Workflows cannot reach loopback by default, but on a developer's own machine the first tool they try is on it. Where
 * people sign in, others use the machine too. An empty EGRESS_ALLOW means none, here too.
 */
const egressAllow = (config: Config): string =>
  process.env['EGRESS_ALLOW'] ?? (config.auth.mode === 'open' ? '127.0.0.0/8,::1/128' : '');

/** Replaces the user's own profile file, which describes other servers. The `temporal` command reads it too. */
function writeTemporalProfile(config: Config, address: string): string {
  const path = join(config.dataDir, 'temporal.toml');
  const namespace = process.env['TEMPORAL_NAMESPACE'] || 'default';
  writeFileSync(path, `[profile.default]\naddress = "${address}"\nnamespace = "${namespace}"\n`);
  return path;
}

function childEnvironment(
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
      key === 'TEMPORAL_NAMESPACE',
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
    // The Temporal UI is behind a proxy; workflows must not reach the UI itself either.
    EGRESS_DENY: [process.env['EGRESS_DENY'], ...addresses.hidden].filter(Boolean).join(','),
    // Parsing and compiling imports is most of the start-up time of API and worker.
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
    // A proxy of the machine must not be used for servers on this machine.
    no_grpc_proxy: [process.env['no_grpc_proxy'], '127.0.0.1', 'localhost']
      .filter(Boolean)
      .join(','),
  };
}

async function startServers(
  config: Config,
  supervisor: Supervisor,
  time: Timer,
): Promise<Addresses> {
  const { dataDir } = config;
  const hidden: string[] = [];
  const keep = (name: PartName, signals: [NodeJS.Signals, number][]) => (child: Child) =>
    supervisor.add(name, child, signals);
  const database = async (): Promise<string> => {
    if (config.database.url !== undefined) return config.database.url;
    const server = await startPostgres({
      dataDir,
      port: config.database.port,
      database: 'workflows',
      onSpawn: keep('postgres', postgresStopSignals(stopBudgetMs.postgres)),
      onNotice: (text) => console.log(text),
    });
    return server.url;
  };
  const temporal = async (): Promise<string> => {
    if (config.temporal.address !== undefined) return config.temporal.address;
    const namespace = process.env['TEMPORAL_NAMESPACE'] || 'default';
    const [uiPort = 0] = await freePorts(1);
    const options: TemporalOptions = {
      dataDir,
      projectDir,
      port: config.temporal.port,
      uiPort,
      namespace,
      onSpawn: keep('temporal', [['SIGTERM', stopBudgetMs.temporal]]),
    };
    const server = await startTemporal(options);
    const { publicUrl } = config.api;
    await startUiProxy({ port: config.temporal.uiPort, uiPort, publicUrl });
    hidden.push(`127.0.0.1:${uiPort}`);
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
    return server.address;
  };
  const migrated = async (): Promise<string> => {
    const url = await time('postgres', database());
    await time('migrations', migrate(url));
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

/**
 * Like Promise.all, but settles only when both have settled, so that nothing is still starting when the stop begins.
 */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return Promise.all([first, second]);
}

async function startProcess(
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

function timer(seconds: Seconds): Timer {
  return async (part, work) => {
    const started = performance.now();
    const result = await work;
    seconds.set(part, (performance.now() - started) / 1_000);
    return result;
  };
}

type Seeded = Awaited<ReturnType<typeof seed>>;

function endpointsPath(config: Config): string {
  return join(config.dataDir, 'endpoints.json');
}

/** For scripts, so that none has to parse the banner. It holds the database password and a key, hence the mode. */
function writeEndpoints(
  config: Config,
  addresses: Addresses,
  supervisor: Supervisor,
  seeded: Seeded | undefined,
): void {
  const endpoints = {
    api: addresses.api,
    docs: `${addresses.api}/docs`,
    mcp: `${addresses.api}/api/mcp`,
    dataApi: `${addresses.api}/v1`,
    temporal: addresses.temporal,
    temporalUi: addresses.temporalUi,
    database: addresses.databaseUrl,
    processes: { launcher: process.pid, ...supervisor.pids() },
    seeded: seeded ?? {},
  };
  writeFileSync(endpointsPath(config), `${JSON.stringify(endpoints, null, 2)}\n`, { mode: 0o600 });
}

function withoutPassword(databaseUrl: string): string {
  try {
    const url = new URL(databaseUrl);
    url.password = '';
    return url.href;
  } catch {
    return 'as DATABASE_URL says';
  }
}

/** Adds the tools to an MCP client; other clients use the same address. */
function mcpCommand(config: Config, { api }: Addresses): string {
  const key = config.auth.mode === 'required' ? ` --header 'X-API-Key: <key>'` : '';
  return `claude mcp add --transport http workflows ${api}/api/mcp${key}`;
}

function banner(
  config: Config,
  addresses: Addresses,
  seconds: Seconds,
  total: number,
  seeded: Seeded | undefined,
): string {
  const inDataDir = (name: string): string => relative(process.cwd(), join(config.dataDir, name));
  const parts = [...seconds].map(([part, time]) => `${part} ${time.toFixed(1)}`).join(', ');
  const lines = [
    '',
    `  Console      ${addresses.api}/`,
    `  API          ${addresses.api}`,
    `  Docs         ${addresses.api}/docs`,
    `  MCP          ${mcpCommand(config, addresses)}`,
    `  Data API     ${addresses.api}/v1${seeded?.dataKey === undefined ? '' : ` (test key ${seeded.dataKey})`}`,
    `  Temporal UI  ${addresses.temporalUi ?? 'set TEMPORAL_UI_URL to link runs to it'}`,
    `  Temporal     ${addresses.temporal}`,
    `  Database     ${withoutPassword(addresses.databaseUrl)}`,
    `  Addresses    ${inDataDir('endpoints.json')} (with the database password)`,
    `  Logs         ${inDataDir('logs')}`,
    `  Ready in     ${total.toFixed(1)} s (${parts})`,
  ];
  if (config.auth.mode === 'required') {
    lines.push(
      `  Sign in      POST ${addresses.api}/api/auth/login {"email": "${config.auth.ownerEmail}", "password": ...}`,
      ...(config.auth.secretKey === undefined
        ? ['  Note         SECRET_KEY is not set: sessions end when this stops']
        : []),
    );
  }
  if (process.env['EGRESS_ALLOW'] === undefined && egressAllow(config) !== '') {
    lines.push(
      `  Note         tools and webhooks may reach this machine itself (EGRESS_ALLOW=${egressAllow(config)})`,
    );
  }
  if (seeded?.gateRunId !== undefined) {
    const credential = config.auth.mode === 'required' ? " -H 'authorization: Bearer <token>'" : '';
    const url = seeded.approveUrl ?? `${addresses.api}/api/runs/${seeded.gateRunId}/approve`;
    lines.push(
      '',
      '  A run waits at its gate. Approve it:',
      '',
      `    curl -X POST ${url}${credential} -H 'content-type: application/json' -d '{"approved": true}'`,
    );
  }
  lines.push('', '  Ctrl-C stops everything.', '');
  return lines.join('\n');
}

/** The owner creates the examples. Where requests need a session, this process signs one with the secret key. */
async function seedAsOwner(
  config: Config,
  { api: apiUrl, databaseUrl }: Addresses,
  secretKey: string,
): Promise<Seeded> {
  const dataKeyFile = join(config.dataDir, 'data-key');
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    const owner = await readOwnerAccount(db);
    if (owner === undefined) throw new Error('The default workspace has no owner');
    const { workspaceId } = owner;
    const memory: ExampleMemory = {
      read: () => readExamples(db, workspaceId),
      note: (key, id) => recordExample(db, { workspaceId, key, id }),
    };
    if (config.auth.mode === 'open') return await seed({ apiUrl, dataKeyFile, memory });
    const { token } = await createSessionTokens(secretKey).issue({
      memberId: owner.id,
      epoch: owner.sessionEpoch,
    });
    return await seed({ apiUrl, token, dataKeyFile, memory });
  } finally {
    await db.end();
  }
}

async function launch(config: Config, supervisor: Supervisor): Promise<string> {
  const seconds: Seconds = new Map();
  const time = timer(seconds);
  const [addresses, bundle] = await both(
    startServers(config, supervisor, time),
    time('workflow bundle', cachedWorkflowBundle(projectDir)),
  );
  // Generated when there is none, as the API does: sessions then end with this start.
  const secretKey = config.auth.secretKey ?? randomBytes(32).toString('base64');
  const env = childEnvironment(config, addresses, bundle, secretKey);
  await both(
    time('api', startProcess('api', config, env, supervisor)),
    time('worker', startProcess('worker', config, env, supervisor)),
  );
  const seeded = config.seed
    ? await time('examples', seedAsOwner(config, addresses, secretKey))
    : undefined;
  writeEndpoints(config, addresses, supervisor, seeded);
  // Counted from the start of this process, including module loading.
  return banner(config, addresses, seconds, performance.now() / 1_000, seeded);
}

async function main(): Promise<void> {
  // The terminal can close before this process ends.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const envFile = join(projectDir, '.env');
  if (existsSync(envFile)) process.loadEnvFile(envFile);
  const configured = loadConfig();
  // Other accounts may pass through (as root, the database account has to) and read nothing: runs contain users'
  // inputs.
  mkdirSync(configured.dataDir, { recursive: true, mode: 0o711 });
  process.umask(0o077);
  const claim = await claimFolder(configured.dataDir);
  if (claim.ended.length > 0) {
    console.log(`Ended processes of an earlier start: ${claim.ended.join(', ')}`);
  }

  let leaving: Promise<void> | undefined;
  let firstSignalAt = 0;
  const leave = (code: number): Promise<void> => {
    leaving ??= finish(configured, supervisor, claim).finally(() => process.exit(code));
    return leaving;
  };
  const supervisor = createSupervisor(claim, (report) => {
    console.error(report);
    void leave(1);
  });
  process.on('exit', () => supervisor.killAll());
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      const now = performance.now();
      if (leaving === undefined) {
        firstSignalAt = now;
        console.log('\nStopping ...');
        void leave(0);
      } else if (now - firstSignalAt > sameSignalMs) {
        supervisor.killAll();
      }
    });
  }
  whenStarterEnds(() => {
    console.error('npm has ended: stopping');
    void leave(0);
  });
  try {
    const config = await settlePorts(configured);
    const text = await launch(config, supervisor);
    if (leaving === undefined) console.log(text);
  } catch (error) {
    // During a stop, a part that is still starting fails because it was stopped.
    if (leaving === undefined) {
      console.error(messageOf(error));
      await leave(1);
    }
  }
  await leaving;
}

async function finish(config: Config, supervisor: Supervisor, claim: Claim): Promise<void> {
  rmSync(endpointsPath(config), { force: true });
  await supervisor.stopAll();
  claim.release();
}

try {
  await main();
} catch (error) {
  console.error(messageOf(error));
  process.exit(1);
}
