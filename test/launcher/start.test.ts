import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { examples } from '#scripts/seed/index.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { findTemporalBinary } from '#scripts/stack/temporal-binary.mjs';
import { identityOf } from '#scripts/stack/process-identity.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';

// Tests `npm start` with all four real processes, on free ports and with a new data folder.

const projectDir = join(import.meta.dirname, '../..');
/** The launcher's own timeout for each of its processes. Other tests measure how fast a start is. */
const READY_MS = 60_000;
jest.setTimeout(2 * READY_MS + 30_000);

interface Endpoints {
  api: string;
  temporalUi: string;
  processes: Record<'launcher' | 'api' | 'worker' | 'temporal' | 'postgres', number>;
}

interface Launch {
  process: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
}

let dataDir = '';
let ports: Record<string, string> = {};
const launches: Launch[] = [];

type Command = [program: string, args: string[]];
const asNode: Command = [process.execPath, [join(projectDir, 'scripts/start.ts')]];

/** Starts the project as it would be in this folder, with links to its files, beside other ones. */
function startFrom(folder: string): Command {
  for (const name of readdirSync(projectDir)) {
    if (!['.data', '.env', '.git'].includes(name)) {
      symlinkSync(join(projectDir, name), join(folder, name));
    }
  }
  const links = ['--preserve-symlinks', '--preserve-symlinks-main'];
  return [process.execPath, [...links, join(folder, 'scripts/start.ts')]];
}

function launch(env: Record<string, string> = {}, [command, args]: Command = asNode): Launch {
  const { NODE_OPTIONS: _flags, WORKFLOW_BUNDLE: _bundle, ...inherited } = process.env;
  const child = spawn(command, args, {
    cwd: projectDir,
    // An empty value counts as unset and overrides the project's .env.
    env: {
      ...inherited,
      DATABASE_URL: '',
      TEMPORAL_ADDRESS: '',
      SEED: 'off',
      DATA_DIR: dataDir,
      ...ports,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => (text += chunk.toString('utf8')));
  }
  const started: Launch = {
    process: child,
    output: () => text,
    ended: new Promise((resolve) => child.once('close', resolve)),
  };
  launches.push(started);
  return started;
}

async function ready(started: Launch, folder = dataDir): Promise<Endpoints> {
  const path = join(folder, 'endpoints.json');
  const deadline = Date.now() + READY_MS;
  while (!started.output().includes('Ctrl-C stops everything')) {
    if (started.process.exitCode !== null) throw new Error(`start ended:\n${started.output()}`);
    if (Date.now() > deadline) {
      throw new Error(`start was not ready in ${READY_MS} ms:\n${started.output()}`);
    }
    await sleep(50);
  }
  return JSON.parse(readFileSync(path, 'utf8')) as Endpoints;
}

function alive(pids: Record<string, number>): string[] {
  return Object.entries(pids)
    .filter(([, pid]) => identityOf(pid) !== undefined)
    .map(([name]) => name);
}

async function gone(pids: Record<string, number>, withinMs: number): Promise<string[]> {
  const deadline = Date.now() + withinMs;
  while (alive(pids).length > 0 && Date.now() < deadline) await sleep(20);
  return alive(pids);
}

/** Starts a run that waits for an approval. */
async function pauseRun(api: string): Promise<void> {
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${api}/api${path}`, {
      ...{ method: 'POST', headers, body: JSON.stringify(body) },
    });
    return (await response.json()) as { id: string };
  };
  const graph = { nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] };
  const { id } = await post('/workflows', { name: 'Waits', graph });
  await post(`/workflows/${id}/runs`, { input: {} });
}

/** The types of the executions in the list of Temporal's UI that the banner links to, as soon as there are some. */
async function listedPaused(started: Launch): Promise<string[]> {
  const link = /Paused runs {2}(\S+)/.exec(started.output())?.[1] ?? '';
  const page = new URL(link);
  expect((await fetch(page)).status).toBe(200);
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(`${page.origin}/api/v1${page.pathname}${page.search}`);
    const { executions = [] } = (await answer.json()) as {
      executions?: { type: { name: string } }[];
    };
    if (executions.length > 0) return executions.map(({ type }) => type.name);
    if (Date.now() > deadline) throw new Error(`nothing is listed at ${link}`);
    await sleep(50);
  }
}

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'start-'));
  chmodSync(dataDir, 0o755);
  const [api, postgres, temporal, ui] = await freePorts(4);
  ports = {
    API_PORT: String(api),
    POSTGRES_PORT: String(postgres),
    TEMPORAL_PORT: String(temporal),
    TEMPORAL_UI_PORT: String(ui),
  };
});

/** Ends what is still running, as Ctrl-C does. */
async function stopAll(): Promise<void> {
  for (const started of launches.splice(0)) {
    if (started.process.exitCode === null && started.process.signalCode === null) {
      started.process.kill('SIGINT');
    }
    await started.ended;
  }
}

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** The end of a run that calls this address: its error, or its status. */
async function call(api: string, url: string): Promise<string> {
  const json = { method: 'POST', headers: { 'content-type': 'application/json' } };
  const graph = {
    nodes: [{ id: 'ask', kind: 'tool', tool_name: 'http_request', params: { url, method: 'GET' } }],
    edges: [],
  };
  const created = await fetch(`${api}/api/workflows`, {
    ...json,
    body: JSON.stringify({ name: `Ask ${url}`, graph }),
  });
  const { id } = (await created.json()) as { id: string };
  const triggered = await fetch(`${api}/api/workflows/${id}/runs`, { ...json, body: '{}' });
  const { run_id: runId } = (await triggered.json()) as { run_id: string };
  const deadline = Date.now() + READY_MS;
  for (;;) {
    const run = (await (await fetch(`${api}/api/runs/${runId}`)).json()) as {
      status: string;
      error: string | null;
    };
    if (run.status === 'failed' || run.status === 'success') return run.error ?? run.status;
    if (Date.now() > deadline) throw new Error(`the run is ${run.status}`);
    await sleep(50);
  }
}

async function withTool(work: (url: string) => Promise<void>): Promise<void> {
  const tool = createServer((_request, response) => response.end('{}'));
  await new Promise<void>((resolve) => tool.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(tool.address() as AddressInfo).port}/`);
  } finally {
    tool.close();
  }
}

describe('npm start with a copy of .env.example as .env', () => {
  let folder: string;
  let first: Launch;
  let endpoints: Endpoints;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'start-'));
    copyFileSync(join(projectDir, '.env.example'), join(folder, '.env'));
    // Empty variables count as unset; in the environment, too, as a shell or a unit file of systemd leaves them.
    const env = { TEMPORAL_READABLE_NAMES: 'off', OPENAI_BASE_URL: '', EGRESS_ALLOW: '' };
    first = launch(env, startFrom(folder));
    endpoints = await ready(first);
  });
  afterAll(async () => {
    await stopAll();
    rmSync(folder, { recursive: true, force: true });
  });

  test('starts all processes, with files that only their owner can read', async () => {
    const { api, temporalUi, processes } = endpoints;
    expect((await fetch(`${api}/api/health`)).status).toBe(200);
    expect((await fetch(`${api}/api/ready`)).status).toBe(200);
    expect((await fetch(temporalUi)).status).toBe(200);
    expect(await (await fetch(`${temporalUi}/api/v1/namespaces`)).text()).toContain('"default"');
    expect(first.output()).toContain('EGRESS_ALLOW=127.0.0.0/8');
    expect(alive(processes)).toHaveLength(5);
    for (const file of ['endpoints.json', 'temporal.db', 'logs/api.log', 'encryption-key']) {
      expect([file, statSync(join(dataDir, file)).mode & 0o077]).toEqual([file, 0]);
    }
    for (const part of [api, temporalUi, `${api}/docs`, 'Database', 'Ready in']) {
      expect(first.output()).toContain(part);
    }
    await pauseRun(api);
    expect(await listedPaused(first)).toEqual(['runGraph']);
  });

  test('refuses a second start and a taken port', async () => {
    const second = launch();
    expect(await second.ended).toBe(1);
    const { processes, temporalUi } = endpoints;
    expect(second.output().trim()).toMatch(
      new RegExp(`^\\S+ is in use by a running copy \\(process ${processes.launcher}\\)[^\\n]*$`),
    );

    const { port } = new URL(temporalUi);
    const other = mkdtempSync(join(tmpdir(), 'start-'));
    const [apiPort, postgresPort, temporalPort] = (await freePorts(3)).map(String);
    const third = launch({
      DATA_DIR: other,
      API_PORT: apiPort ?? '',
      POSTGRES_PORT: postgresPort ?? '',
      TEMPORAL_PORT: temporalPort ?? '',
      TEMPORAL_UI_PORT: port,
    });
    expect(await third.ended).toBe(1);
    expect(third.output().trim()).toBe(
      `Port ${port} is taken by another process; the Temporal UI needs it. Free it, or set TEMPORAL_UI_PORT to another port.`,
    );
    expect(existsSync(join(other, 'logs'))).toBe(false);
    rmSync(other, { recursive: true, force: true });
  });

  test('blocks workflows from its own servers, but not from this machine', async () => {
    const { api, temporalUi, processes } = endpoints;
    const args = execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(processes.temporal)], {
      encoding: 'utf8',
    });
    // Its metrics and its HTTP API, which no one needs.
    const others = [...args.matchAll(/--(?:metrics|http)-port (\d+)/g)].map(([, port]) => port);
    expect(others).toHaveLength(2);
    const own = [
      ...others.map((port) => `http://127.0.0.1:${port}/metrics`),
      `${api}/metrics`,
      `${temporalUi}/api/v1/namespaces`,
      `http://127.0.0.1:${ports['TEMPORAL_PORT']}/`,
      `http://localhost:${ports['POSTGRES_PORT']}/`,
    ];
    for (const url of own) {
      expect(await call(api, url)).toContain('belongs to this service itself');
    }
    await withTool(async (url) => expect(await call(api, url)).toBe('success'));
  });

  test('stops all processes at Ctrl-C', async () => {
    first.process.kill('SIGINT');
    expect(await first.ended).toBe(0);
    expect(alive(endpoints.processes)).toEqual([]);
    expect(existsSync(join(dataDir, 'endpoints.json'))).toBe(false);
  });
});

// Each test continues what the one before left: a start takes seconds of processor time.
soakDescribe('the data folder of an earlier start', () => {
  let running: Launch;
  let before: Endpoints;
  beforeAll(async () => {
    running = launch({ EGRESS_ALLOW: 'none' });
    before = await ready(running);
  });
  afterAll(stopAll);

  test('is used without calls to this machine if EGRESS_ALLOW is none', async () => {
    expect(running.output()).not.toContain('EGRESS_ALLOW');
    await withTool(async (url) =>
      expect(await call(before.api, url)).toContain("The address of '127.0.0.1' is not allowed"),
    );
  });

  test('is kept, and the start stops with an error when one of its processes crashes', async () => {
    const created = await fetch(`${before.api}/api/workflows`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'Kept over a restart' }),
    });
    expect(created.status).toBe(201);
    process.kill(before.processes.worker, 'SIGKILL');
    expect(await running.ended).toBe(1);
    expect(running.output()).toMatch(
      /^worker ended with signal SIGKILL\. Its last lines:\n {2}\S/m,
    );
    expect(alive(before.processes)).toEqual([]);

    running = launch();
    before = await ready(running);
    const listed = await fetch(`${before.api}/api/workflows`);
    expect(await listed.text()).toContain('Kept over a restart');
  });

  test('is left by API and worker when the launcher is killed, and by its servers at the next start', async () => {
    const { processes } = before;
    running.process.kill('SIGKILL');
    await running.ended;
    const { api, worker } = processes;
    expect(await gone({ api, worker }, 8_000)).toEqual([]);
    expect(alive(processes).sort()).toEqual(['postgres', 'temporal']);

    const temporal = { TEMPORAL_CLI_PATH: findTemporalBinary(projectDir, process.env) ?? '' };
    running = launch(temporal, ['npm', ['start']]);
    before = await ready(running);
    expect(running.output()).toMatch(
      /Ended processes of an earlier start: (?=.*temporal)(?=.*postgres)/,
    );
    expect(alive(processes)).toEqual([]);
    expect((await fetch(`${before.api}/api/health`)).status).toBe(200);
  });

  test('is left by all processes when the parent npm is killed', async () => {
    running.process.kill('SIGTERM');
    expect(await gone(before.processes, 10_000)).toEqual([]);
    expect(existsSync(join(dataDir, 'endpoints.json'))).toBe(false);
  });
});

describe('npm start', () => {
  afterEach(stopAll);

  test('reports why its data folder cannot be created or written', async () => {
    const refused = async (path: string): Promise<string> => {
      const started = launch({ DATA_DIR: path });
      expect(await started.ended).toBe(1);
      return started.output().trim();
    };
    // Not even root may write there.
    const reason = '(EROFS|EACCES|EPERM): [^\n]*$';
    expect(await refused('/sys/kernel/data/here')).toMatch(
      new RegExp(`^DATA_DIR /sys/kernel/data/here cannot be created: ${reason}`),
    );
    // Node's own recursive mkdir never ends there.
    expect(await refused('/proc/data/here')).toContain(
      'DATA_DIR /proc/data/here cannot be created',
    );
    expect(await refused('/sys/kernel')).toMatch(new RegExp(reason));
    const file = join(projectDir, 'package.json/data');
    expect(await refused(file)).toMatch(`DATA_DIR ${file} cannot be created: ENOTDIR: `);
  });

  soakTest('prints the owner password once, and still creates the examples', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'start-'));
    chmodSync(folder, 0o755);
    const required = { AUTH_MODE: 'required', SEED: 'on', DATA_DIR: folder };
    const login = async (api: string, password: string) =>
      fetch(`${api}/api/auth/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'owner@localhost', password }),
      });
    const list = async (api: string, token?: string) =>
      fetch(`${api}/api/workflows`, {
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });
    try {
      const first = launch(required);
      const { api } = await ready(first, folder);
      const password = /The password of the owner <owner@localhost> is: (\S+)/.exec(
        first.output(),
      )?.[1];
      expect(first.output()).toContain(
        `Sign in      POST ${api}/api/auth/login {"email": "owner@localhost", "password": ...}`,
      );
      expect(password).toBeDefined();
      expect(readFileSync(join(folder, 'logs/api.log'), 'utf8')).not.toContain(password);
      expect(first.output()).toContain('SECRET_KEY is not set');
      expect(first.output()).not.toContain('EGRESS_ALLOW');
      expect((await list(api)).status).toBe(401);
      const { token } = (await (await login(api, password ?? '')).json()) as { token: string };
      expect(await (await list(api, token)).json()).toHaveLength(examples.length);
      first.process.kill('SIGINT');
      await first.ended;

      const again = { ...required, SEED: 'off', OWNER_PASSWORD: 'of no use any more' };
      const second = launch(again);
      await ready(second, folder);
      expect(second.output()).not.toContain('The password of the owner');
      expect((await list(api, token)).status).toBe(401);
      expect((await login(api, 'of no use any more')).status).toBe(401);
      expect((await login(api, password ?? '')).status).toBe(200);
      second.process.kill('SIGINT');
      await second.ended;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  soakTest('leaves no process behind when stopped during startup', async () => {
    const started = launch();
    const claim = join(dataDir, 'launcher.json');
    while (!existsSync(claim) || !readFileSync(claim, 'utf8').includes('"postgres"')) {
      await sleep(5);
    }
    const { children } = JSON.parse(readFileSync(claim, 'utf8')) as {
      children: { name: string; pid: number }[];
    };
    started.process.kill('SIGTERM');
    const code = await started.ended;
    if (code !== 0) throw new Error(`ended with ${String(code)}: ${started.output()}`);
    expect(alive(Object.fromEntries(children.map(({ name, pid }) => [name, pid])))).toEqual([]);
  });
});
