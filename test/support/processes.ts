import { nodeFlags } from '#scripts/stack/node-flags.ts';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startChild, type Child } from '#scripts/stack/children.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { readyMessage } from '#scripts/stack/supervisor.ts';
import type { BuiltImage } from './image.ts';
import { patiently } from './patience.ts';

/** The API or the worker as a separate process, for tests that kill one or need two. */
export interface TestProcess {
  pid: number;
  /** The message that it sent when it was ready. */
  ready: Record<string, unknown>;
  /** The last lines of its log. */
  tail(lines?: number): string[];
  /** Resolves when the process has ended, also by itself. */
  exited: Child['exited'];
  /** SIGTERM, and SIGKILL after five seconds. */
  stop(): Promise<void>;
  /** SIGKILL, as in a crash. Resolves when the process has ended. */
  kill(): Promise<void>;
}

export interface TestApi extends TestProcess {
  url: string;
}

type Environment = Record<string, string | undefined>;

const projectDir = join(import.meta.dirname, '../..');
const readyTimeoutMs = 20_000;

/**
 * `env` has the settings of the test's database and Temporal, for example the `env` of an engine. `folder`: a copy of the
 * project, for a process of another version.
 */
export async function startApiProcess(env: Environment, folder = projectDir): Promise<TestApi> {
  const [port] = await freePorts(1);
  const settings: Environment = { API_PORT: String(port), ...env };
  const process = await start('api', settings, folder);
  return { ...process, url: `http://127.0.0.1:${settings.API_PORT}` };
}

export async function startWorkerProcess(
  env: Environment,
  folder = projectDir,
): Promise<TestProcess> {
  return start('worker', env, folder);
}

/** The same in an image that was built without containers. `env` has the settings that compose passes. */
export async function startImageProcess(
  image: BuiltImage,
  name: 'api' | 'worker',
  env: Environment,
): Promise<TestProcess> {
  return startCommand(name, {
    command: 'sh',
    args: [image.entrypoint, name],
    cwd: image.app,
    env: { ...image.environment, ...env },
  });
}

async function start(
  name: 'api' | 'worker',
  env: Environment,
  folder: string,
): Promise<TestProcess> {
  // The product must not inherit jest's flags.
  const { NODE_OPTIONS: _flags, JEST_WORKER_ID: _id, ...inherited } = process.env;
  return startCommand(name, {
    command: process.execPath,
    args: [...nodeFlags, join(folder, name, 'main.ts')],
    cwd: folder,
    // Creating demo data is slow, and tests count rows.
    env: { ...inherited, NODE_ENV: 'test', SEED: 'off', SHUTDOWN_GRACE_SECONDS: '1', ...env },
  });
}

async function startCommand(
  name: string,
  program: { command: string; args: string[]; cwd: string; env: Environment },
): Promise<TestProcess> {
  const child = await startChild({
    name,
    ...program,
    logFile: join(
      process.env.TEST_FOLDER ?? tmpdir(),
      'logs',
      `${name}-${randomBytes(4).toString('hex')}.log`,
    ),
    ipc: true,
  });
  return { pid: child.pid, ready: await readyOrEnd(child), ...controls(child) };
}

async function readyOrEnd(child: Child): Promise<Record<string, unknown>> {
  try {
    return await readyMessage(child, patiently(readyTimeoutMs));
  } catch (error) {
    child.kill();
    await child.exited;
    throw new Error(`${child.name} did not come up:\n${child.tail(20).join('\n')}`, {
      cause: error,
    });
  }
}

function controls(child: Child): Omit<TestProcess, 'pid' | 'ready'> {
  return {
    tail: (lines = 20) => child.tail(lines),
    exited: child.exited,
    stop: async () => {
      await child.stop([['SIGTERM', 5_000]]);
    },
    kill: async () => {
      child.kill();
      await child.exited;
    },
  };
}
