import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '#client/index.ts';
import { Ending, exitCodes, refusal } from '#cli/endings.ts';
import type { Session } from '#cli/session.ts';
import { terminal } from '#cli/terminal.ts';

/** The service that `ops dev` works with. */
export interface DevService {
  client: Client;
  /** Rejects when a service that was started here ends by itself. */
  ended: Promise<never>;
  /** Stops the service if it was started here. */
  stop: () => Promise<void>;
}

const root = join(import.meta.dirname, '../..');
/** What `npm start` does, in this order. */
const setup = join(root, 'scripts/setup.mjs');
const start = join(root, 'scripts/start.ts');

/**
 * The service that the caller or a profile names, or that answers at the default address. Otherwise it starts the one
 * beside this command, as `npm start` does. Throws Ending without one.
 */
export async function serviceOf(
  { client, isDefault, clientAt }: Session,
  signal: AbortSignal,
): Promise<DevService> {
  const given = { client, ended: new Promise<never>(() => undefined), stop: async () => undefined };
  if (!isDefault || (await answers(client, signal))) return given;
  if (!existsSync(start)) {
    throw refusal(
      `No service answers at ${client.baseUrl}: name one with --url, or sign in with ops login`,
    );
  }
  const { process: child, url } = await startService(signal);
  const ended = once(child, 'exit').then((): never => {
    throw new Ending(exitCodes.unreachable, 'The service has ended');
  });
  // It also ends when it is stopped, and then no one waits.
  ended.catch(() => undefined);
  return { client: clientAt(url), ended, stop: () => stop(child) };
}

async function answers(client: Client, signal: AbortSignal): Promise<boolean> {
  try {
    await client.getHealth({ signal, timeout: 5 });
    return true;
  } catch {
    signal.throwIfAborted();
    return false;
  }
}

async function startService(signal: AbortSignal): Promise<{ process: ChildProcess; url: string }> {
  const preparing = run(setup);
  const abort = (): void => void preparing.kill();
  signal.addEventListener('abort', abort);
  const [code] = (await once(preparing, 'exit')) as [number | null];
  signal.removeEventListener('abort', abort);
  signal.throwIfAborted();
  if (code !== 0) throw refusal('The service cannot be prepared');
  const child = run(start);
  const ready = once(child, 'message', { signal }) as Promise<[{ api: string }]>;
  const failed = once(child, 'exit').then((): never => {
    throw refusal('The service did not start');
  });
  try {
    const [{ api }] = await Promise.race([ready, failed]);
    return { process: child, url: api };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

/** A process of the service. What it prints is on standard error. */
function run(script: string): ChildProcess {
  const child = spawn(process.execPath, [script], {
    cwd: root,
    env: terminal().env,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const { stderr } = terminal();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => void stderr.write(part));
  }
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  // A terminal has already sent a Ctrl-C to it, and both count as one.
  child.kill('SIGINT');
  await ended;
}
