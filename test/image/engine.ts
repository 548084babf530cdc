import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startChild } from '#scripts/stack/children.ts';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { findOnPath } from '#scripts/stack/temporal-binary.mjs';

export const run = promisify(execFile);

/** What the machine lacks for the test; its message is for the person who runs it. */
export class Missing extends Error {
  override name = 'Missing';
}

export interface Engine {
  /** The environment of its commands, without settings of the service. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const FORWARDING = '/proc/sys/net/ipv4/ip_forward';

/**
 * The Docker engine of this machine. If none answers, starts one of its own, which keeps its images in
 * `.cache/docker`. Throws `Missing` where it cannot.
 */
export async function findEngine(projectDir: string): Promise<Engine> {
  const env = cleanEnvironment();
  if (findOnPath('docker', env) === undefined) throw new Missing('docker is not on PATH');
  if (await answers(env)) return { env, stop: async () => undefined };
  if (findOnPath('dockerd', env) === undefined) {
    throw new Missing('no Docker engine answers, and dockerd is not on PATH');
  }
  if (process.getuid?.() !== 0) {
    throw new Missing('no Docker engine answers, and only root can start one');
  }
  return startEngine(projectDir, env);
}

async function answers(env: NodeJS.ProcessEnv): Promise<boolean> {
  try {
    await run('docker', ['info'], { env });
    return true;
  } catch {
    return false;
  }
}

async function startEngine(projectDir: string, inherited: NodeJS.ProcessEnv): Promise<Engine> {
  // Sockets need a short path.
  const folder = mkdtempSync(join(tmpdir(), 'docker-'));
  const data = join(projectDir, '.cache/docker');
  mkdirSync(data, { recursive: true });
  const host = `unix://${join(folder, 'docker.sock')}`;
  const restoreNetwork = await rememberNetwork();
  const child = await startChild({
    name: 'dockerd',
    command: 'dockerd',
    args: [
      ...['--data-root', data, '--exec-root', join(folder, 'exec')],
      ...['--host', host, '--pidfile', join(folder, 'dockerd.pid')],
    ],
    env: inherited,
    logFile: join(folder, 'dockerd.log'),
    // It ends its containers itself.
    killSignal: 'SIGTERM',
  });
  process.once('exit', () => {
    child.kill();
    restoreNetwork();
  });
  const engine = {
    env: { ...inherited, DOCKER_HOST: host },
    stop: async () => {
      await child.stop([['SIGTERM', 30_000]]);
      restoreNetwork();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const deadline = Date.now() + READY_MS;
  while (!(await answers(engine.env))) {
    if (child.exit !== undefined || Date.now() > deadline) {
      const log = child.tail(5).join('\n');
      await engine.stop();
      throw new Missing(`the Docker engine did not start:\n${log}`);
    }
    await sleep(200);
  }
  return engine;
}

/** The engine forwards packets, and drops those that are not of its containers. Returns what restores both. */
async function rememberNetwork(): Promise<() => void> {
  const forwarding = readFileSync(FORWARDING, 'utf8');
  const { stdout } = await run('iptables', ['-S', 'FORWARD']);
  const policy = /^-P FORWARD (\w+)$/m.exec(stdout)?.[1];
  if (policy === undefined) throw new Missing('iptables does not know the chain FORWARD');
  // Also as the process exits.
  return () => {
    execFileSync('iptables', ['-P', 'FORWARD', policy]);
    writeFileSync(FORWARDING, forwarding);
  };
}
