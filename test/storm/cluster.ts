import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepRunning, type Part as KeptPart } from '#scripts/cluster/part.ts';
import { startTemporalServer, temporalPorts } from '#scripts/cluster/temporal-server.ts';
import { type Child, describeExit, startChild } from '#scripts/stack/children.ts';
import type { Claim } from '#scripts/stack/claim.ts';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { messageOf } from '#scripts/stack/output.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { startPostgres } from '#scripts/stack/postgres.ts';
import { readyMessage } from '#scripts/stack/supervisor.ts';
import { startTemporal } from '#scripts/stack/temporal.ts';
import { watchTemporal } from '#scripts/stack/temporal-watch.ts';
import { cachedWorkflowBundle } from '#scripts/stack/workflow-bundle.ts';
import { migrate } from '#shared/db/migrate.ts';
import { type Proxy, startProxy } from '#test/support/proxy.ts';
import { type EventFile, openEventFile } from './events.ts';
import { keepJournal } from './journal.ts';
import type { Random } from './random.ts';

const projectDir = join(import.meta.dirname, '../..');
const host = '127.0.0.1';

export const partNames = [
  'postgres',
  'temporal',
  'api-1',
  'api-2',
  'worker-1',
  'worker-2',
] as const;
export type PartName = (typeof partNames)[number];

/** All connections between two parts, and from clients to the API, go through one of these. */
export type WireName =
  | `${'api-1' | 'api-2' | 'worker-1' | 'worker-2'}>${'postgres' | 'temporal'}`
  | `client>${'api-1' | 'api-2'}`;

/** The end of a process. */
export interface Death {
  at: number;
  part: PartName;
  /** The action of the storm, or `by itself`. */
  how: string;
  /** Whether it had become ready. */
  phase: 'starting' | 'ready';
  exit: string;
}

export interface Part {
  name: PartName;
  up(): boolean;
  /** Sends the signal to the running process; false if there is none. */
  kill(signal: NodeJS.Signals, how: string): boolean;
  /** Kills the next process of this part this many ms after its start. */
  killNext(afterMs: number): void;
  /** Suspends the process until `thaw`. */
  freeze(): boolean;
  thaw(): void;
}

export interface Cluster {
  folder: string;
  parts: ReadonlyMap<PartName, Part>;
  wires: ReadonlyMap<WireName, Proxy>;
  deaths: Death[];
  /** The client URLs of the two API processes, through wires. */
  apiUrls: readonly [string, string];
  /** Bypasses all wires, for the oracle. */
  directApiUrl: string;
  databaseUrl: string;
  temporalAddress: string;
  secrets: { ownerEmail: string; ownerPassword: string };
  /** Restores wires, resumes frozen processes, and waits until every part is up. False after the timeout. */
  heal(timeoutMs: number): Promise<boolean>;
  stop(): Promise<void>;
  killAll(): void;
}

/** `chatWebhookUrl` receives alerts; see effects.ts. */
export interface ClusterOptions {
  folder: string;
  claim: Claim;
  random: Random;
  chatWebhookUrl: string;
  /** The Temporal server of the compose file on Postgres instead of the embedded one. */
  composeServer: boolean;
}

const READY_MS = 60_000;
/** Longer than the product's own stop timeout. */
const TERM_GRACE_MS = 12_000;

/** Starts all parts and restarts them when they end, like a supervisor, until `stop`. */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { folder, claim, random } = options;
  const timeline = openEventFile(folder, 'cluster.ndjson');
  const deaths: Death[] = [];
  const parts = new Map<PartName, Supervised>();
  const wires = new Map<WireName, Proxy>();
  const bundling = cachedWorkflowBundle(projectDir);
  bundling.catch(() => undefined);
  const [postgresPort = 0, temporalPort = 0, ...apiPorts] = await freePorts(4);

  const supervise = (name: PartName, start: Start): Supervised => {
    const part = createPart(name, start, { claim, deaths, timeline, random: random.fork(name) });
    parts.set(name, part);
    return part;
  };

  let databaseUrl = '';
  let adminUrl = '';
  const postgres = supervise('postgres', async (onSpawn) => {
    // Not a throwaway server: acknowledged data must survive its crash.
    const server = await startPostgres({
      dataDir: folder,
      port: postgresPort,
      database: 'workflows',
      maxConnections: 300,
      onSpawn,
    });
    databaseUrl = server.url;
    adminUrl = server.adminUrl;
  });
  const innerPorts = await freePorts(temporalPorts - 1);
  const temporal = supervise('temporal', async (onSpawn) => {
    const common = { dataDir: folder, projectDir, onSpawn };
    if (!options.composeServer) {
      await startTemporal({ ...common, port: temporalPort });
      return;
    }
    await postgres.kept.firstUp;
    await startTemporalServer({ ...common, ports: [temporalPort, ...innerPorts], adminUrl });
  });
  await Promise.all([postgres.kept.firstUp, temporal.kept.firstUp]);
  await migrate(databaseUrl);
  await keepJournal(databaseUrl);

  const wire = async (name: WireName, port: number): Promise<Proxy> => {
    const proxy = await startProxy({ host, port });
    wires.set(name, proxy);
    return proxy;
  };
  const shared = {
    ...cleanEnvironment(),
    NODE_ENV: 'test',
    NODE_COMPILE_CACHE: join(projectDir, '.cache', 'compiled'),
    no_grpc_proxy: `${host},localhost`,
    DATA_DIR: folder,
    SEED: 'off',
    LOG_LEVEL: 'info',
    TASK_QUEUE_PREFIX: 'storm',
    TEMPORAL_CONFIG_FILE: writeProfile(folder, `${host}:${temporalPort}`),
    WORKFLOW_BUNDLE: await bundling,
    AUTH_MODE: 'required',
    OWNER_EMAIL: 'owner@storm.test',
    OWNER_PASSWORD: 'a password of the storm',
    SECRET_KEY: 'the storm signs sessions with this',
    ENCRYPTION_KEY: 'the storm seals secrets with this',
    EGRESS_ALLOW: '127.0.0.0/8',
    CHAT_WEBHOOK_URL: options.chatWebhookUrl,
    // Lost work must be detected, and failed work retried, within the time that a storm has to settle.
    HEARTBEAT_TIMEOUT_SECONDS: '5',
    RECONCILE_GRACE_SECONDS: '5',
    DELIVERY_BACKOFF_SECONDS: '0.15',
    SHUTDOWN_GRACE_SECONDS: '1',
  };
  const startNode = async (name: PartName, own: NodeJS.ProcessEnv): Promise<Start> => {
    const [kind = ''] = name.split('-');
    const toPostgres = await wire(`${name}>postgres` as WireName, postgresPort);
    const toTemporal = await wire(`${name}>temporal` as WireName, temporalPort);
    const url = new URL(databaseUrl);
    url.port = String(toPostgres.port);
    const env = { ...shared, ...own, DATABASE_URL: url.href, TEMPORAL_ADDRESS: toTemporal.address };
    return async (onSpawn) => {
      const child = await startChild({
        name,
        command: process.execPath,
        args: [...nodeFlags, join(projectDir, kind, 'main.ts')],
        cwd: projectDir,
        env,
        logFile: join(folder, 'logs', `${name}.log`),
        ipc: true,
      });
      onSpawn(child);
      await readyMessage(child, READY_MS);
    };
  };
  const apiUrls: string[] = [];
  const first: Promise<void>[] = [];
  for (const number of [1, 2] as const) {
    const port = apiPorts[number - 1] ?? 0;
    apiUrls.push(`http://${(await wire(`client>api-${number}`, port)).address}`);
    const api = await startNode(`api-${number}`, { API_PORT: String(port) });
    const worker = await startNode(`worker-${number}`, {});
    first.push(
      supervise(`api-${number}`, api).kept.firstUp,
      supervise(`worker-${number}`, worker).kept.firstUp,
    );
  }
  await Promise.all(first);
  // After a crash it can return only errors, which its operator must detect.
  const watch = watchTemporal({
    address: `${host}:${temporalPort}`,
    namespace: 'default',
    restart: async (reason) => {
      timeline.write({ part: 'temporal', event: 'no answer', reason });
      if (temporal.up()) temporal.kill('SIGKILL', 'answered nothing any more');
    },
    onFailure: () => undefined,
    everyMs: 2_000,
    deadlineMs: 3_000,
    failures: 4,
  });

  return {
    folder,
    parts,
    wires,
    deaths,
    apiUrls: apiUrls as [string, string],
    directApiUrl: `http://${host}:${apiPorts[0]}`,
    get databaseUrl() {
      return databaseUrl;
    },
    temporalAddress: `${host}:${temporalPort}`,
    secrets: { ownerEmail: shared.OWNER_EMAIL, ownerPassword: shared.OWNER_PASSWORD },
    heal: async (timeoutMs) => {
      for (const proxy of wires.values()) {
        proxy.restore();
        proxy.release();
      }
      for (const part of parts.values()) part.spare();
      const deadline = Date.now() + timeoutMs;
      while (![...parts.values()].every((part) => part.up())) {
        if (Date.now() > deadline) return false;
        await sleep(50);
      }
      return true;
    },
    stop: async () => {
      watch.stop();
      // No clients are left, so only the database must stop last.
      const servers = [...parts.values()].filter(({ name }) => name !== 'postgres');
      await Promise.all(servers.map((part) => part.end([['SIGKILL', 2_000]])));
      await postgres.end([
        ['SIGINT', 3_000],
        ['SIGQUIT', 2_000],
      ]);
      await Promise.all([...wires.values()].map((proxy) => proxy.close()));
    },
    killAll: () => {
      for (const { kept } of parts.values()) kept.killNow();
    },
  };
}

type Start = (onSpawn: (child: Child) => void) => Promise<void>;

interface Supervised extends Part {
  kept: KeptPart;
  /** Reverts `freeze` and `killNext`. */
  spare(): void;
  /** The storm is over: stops the process permanently. */
  end(steps: [NodeJS.Signals, number][]): Promise<void>;
}

function createPart(
  name: PartName,
  start: Start,
  context: { claim: Claim; deaths: Death[]; timeline: EventFile; random: Random },
): Supervised {
  const { claim, deaths, timeline, random } = context;
  let doom: string | undefined;
  let killNextAfter: number | undefined;

  const send = (signal: NodeJS.Signals): boolean => {
    const child = kept.child();
    if (child === undefined || child.exit !== undefined) return false;
    try {
      process.kill(child.pid, signal);
      return true;
    } catch {
      return false;
    }
  };
  const kill = (signal: NodeJS.Signals, how: string): boolean => {
    const target = kept.child();
    if (!send(signal)) return false;
    doom ??= how;
    if (signal === 'SIGTERM' || signal === 'SIGINT') {
      const timer = setTimeout(() => {
        if (target === kept.child() && target?.exit === undefined) kill('SIGKILL', how);
      }, TERM_GRACE_MS);
      timer.unref();
    }
    return true;
  };
  const onSpawn = (spawned: Child): void => {
    doom = undefined;
    claim.record(name, spawned.pid);
    timeline.write({ part: name, event: 'started', pid: spawned.pid });
    if (killNextAfter === undefined) return;
    const afterMs = killNextAfter;
    killNextAfter = undefined;
    setTimeout(() => {
      if (kept.child() === spawned) kill('SIGKILL', 'SIGKILL in start-up');
    }, afterMs).unref();
  };
  const kept = keepRunning({
    name,
    start,
    pauseMs: () => random.int(100, 1_200),
    onSpawn,
    onReady: () => timeline.write({ part: name, event: 'ready' }),
    onNotReady: (error) =>
      timeline.write({ part: name, event: 'not ready', error: messageOf(error) }),
    onExit: (exit, wasReady) => {
      const death: Death = {
        at: Date.now(),
        part: name,
        how: doom ?? 'by itself',
        phase: wasReady ? 'ready' : 'starting',
        exit: describeExit(exit),
      };
      deaths.push(death);
      timeline.write({ event: 'died', ...death });
    },
  });

  return {
    name,
    kept,
    up: kept.up,
    kill,
    killNext: (afterMs) => {
      killNextAfter = afterMs;
    },
    freeze: () => send('SIGSTOP'),
    thaw: () => void send('SIGCONT'),
    spare: () => {
      killNextAfter = undefined;
      send('SIGCONT');
    },
    end: async (steps) => {
      send('SIGCONT');
      await kept.end(steps);
    },
  };
}

/** Replaces the user's own profile file, which describes other servers. */
function writeProfile(folder: string, address: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'temporal.toml');
  writeFileSync(path, `[profile.default]\naddress = "${address}"\nnamespace = "default"\n`);
  return path;
}
