import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { eventually } from '#test/support/engine.ts';

/** `npm start` as a process that a drill kills, and the systems around it, which keep what they have seen. */

const projectDir = join(import.meta.dirname, '../..');
const READY_MS = 90_000;

export interface Service {
  api: string;
  database: string;
  /** SIGKILL to every process, as when the machine is lost. */
  kill(): void;
  ask<T>(method: string, path: string, body?: object): Promise<{ status: number; body: T }>;
  query<T extends object>(text: string): Promise<T[]>;
}

export type Environment = Record<string, string>;

/** The settings of the service on a data folder; the ports stay the same after a restore. */
export const environmentOf = (dataDir: string, ports: readonly number[]): Environment => ({
  ...(cleanEnvironment() as Environment),
  DATA_DIR: dataDir,
  SEED: 'off',
  DATABASE_URL: '',
  TEMPORAL_ADDRESS: '',
  NODE_OPTIONS: '',
  API_PORT: String(ports[0]),
  POSTGRES_PORT: String(ports[1]),
  TEMPORAL_PORT: String(ports[2]),
  TEMPORAL_UI_PORT: String(ports[3]),
  WORKER_METRICS_PORT: String(ports[4]),
});

/** `folder`: a copy of the project, for another version. */
export async function startService(env: Environment, folder = projectDir): Promise<Service> {
  const child = spawn(process.execPath, [join(folder, 'scripts/start.ts')], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  }
  await eventually(() => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${output}`);
    return output.includes('Ctrl-C stops everything');
  }, READY_MS);
  const { api, database, processes } = JSON.parse(
    readFileSync(join(env['DATA_DIR'] ?? '', 'endpoints.json'), 'utf8'),
  ) as { api: string; database: string; processes: Record<string, number> };
  return {
    api,
    database,
    kill: () => Object.values(processes).forEach((pid) => process.kill(pid, 'SIGKILL')),
    ask: async (method, path, body) => {
      const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
      const response = await fetch(`${api}/api${path}`, {
        method,
        ...(body === undefined ? {} : json),
      });
      return { status: response.status, body: (await response.json()) as never };
    },
    query: async <T extends object>(text: string): Promise<T[]> => {
      const client = new pg.Client({ connectionString: database });
      await client.connect();
      try {
        return (await client.query<T>(text)).rows;
      } finally {
        await client.end();
      }
    },
  };
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  output: string;
}

/** Starts a script of the project, or of a copy in `folder`. */
export function startScript(
  env: Environment,
  script: string,
  args: readonly string[],
  folder = projectDir,
): { kill: (signal: NodeJS.Signals) => void; ended: Promise<Ended> } {
  const path = join(folder, 'scripts', script);
  const flags = ['--disable-warning=ExperimentalWarning'];
  const child = spawn(process.execPath, [...flags, path, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  }
  const ended = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal, output }));
  });
  return { kill: (signal) => child.kill(signal), ended };
}

/** Runs a script of the project to its end. */
export async function runScript(
  env: Environment,
  script: string,
  ...args: string[]
): Promise<{ code: number; output: string }> {
  const { code, output } = await startScript(env, script, args).ended;
  return { code: code ?? -1, output };
}

/** The tools of the runs. */
export interface Outside {
  url: string;
  /** The idempotency keys of the calls that a tool has accepted, each with the bodies that it came with. */
  accepted: ReadonlyMap<string, Set<string>>;
  /** The idempotency keys of the calls that the tool called `busy` has refused. */
  refused: ReadonlySet<string>;
  /** The addresses for callbacks, by the number of the run. */
  callbacks: ReadonlyMap<number, string>;
  /** Whether the tools called `busy` accept calls. */
  setCalm(calm: boolean): void;
  close(): Promise<void>;
}

export async function startOutside(): Promise<Outside> {
  const accepted = new Map<string, Set<string>>();
  const refused = new Set<string>();
  const callbacks = new Map<number, string>();
  let calm = false;
  const server: FakeServer = await startHttpServer(({ url, headers, body }, response) => {
    const key = String(headers['idempotency-key']);
    if (url === '/busy' && !calm) {
      refused.add(key);
      sendJson(response, 503, {});
      return;
    }
    const { n, notify } = JSON.parse(body || '{}') as { n?: number; notify?: string };
    accepted.set(key, (accepted.get(key) ?? new Set()).add(body));
    if (notify !== undefined) callbacks.set(Number(n), new URL(notify).pathname);
    sendJson(response, 200, {});
  });
  return {
    url: server.url,
    accepted,
    refused,
    callbacks,
    setCalm: (value) => {
      calm = value;
    },
    close: server.close,
  };
}
