import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '#scripts/stack/ports.ts';
import { run } from './engine.ts';

export const PASSWORD = 'correct horse battery';
const PROJECT = 'durable-workflows-test';
const READY_MS = 180_000;
/** So that a tool can call a container of the test. */
const PRIVATE_RANGES = '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16';

export interface Deployment {
  url: string;
  /** The name of the compose project, with which the names of its volumes and networks begin. */
  project: string;
  /** Runs `docker compose` with these arguments, and with further settings if given. Returns its output. */
  compose: (args: string[], settings?: Record<string, string>) => Promise<string>;
  /** A command in the running container of a service; its output. */
  inside: (
    service: string,
    command: string[],
    environment?: Record<string, string>,
  ) => Promise<string>;
  /** Runs `docker` with these arguments. Returns its output. */
  docker: (args: string[]) => Promise<string>;
  /** Runs a script of sh, in a folder of its own, where `docker compose` means this deployment. Returns its output. */
  shell: (script: string) => Promise<string>;
  /** `docker compose up`, until the API is ready. Returns the seconds it took. */
  up: () => Promise<number>;
  /** Resolves when the API is ready. */
  ready: () => Promise<void>;
}

/**
 * The compose file of the project, unchanged, under a name and at ports of its own, with a copy of .env.example as a new
 * operator makes it. `folder` gets the copy.
 */
export async function createDeployment(
  projectDir: string,
  env: NodeJS.ProcessEnv,
  folder: string,
): Promise<Deployment> {
  const [apiPort = 0, uiPort = 0] = await freePorts(2);
  const settings = join(folder, 'settings.env');
  const chosen = {
    SECRET_KEY: 'the test signs sessions with this',
    ENCRYPTION_KEY: 'the test seals secrets with this',
    ENCRYPTION_KEY_PREVIOUS: 'the test sealed secrets with this',
    OWNER_PASSWORD: PASSWORD,
    POSTGRES_PASSWORD: 'of-the-service',
    TEMPORAL_POSTGRES_PASSWORD: 'of-temporal',
    EGRESS_ALLOW: PRIVATE_RANGES,
    API_PORT: apiPort,
    TEMPORAL_UI_PORT: uiPort,
  };
  const lines = Object.entries(chosen).map(([name, value]) => `${name}=${value}`);
  const example = readFileSync(join(projectDir, '.env.example'), 'utf8');
  writeFileSync(settings, `${example}\n${lines.join('\n')}\n`);
  const url = `http://127.0.0.1:${apiPort}`;

  const own = {
    ...env,
    COMPOSE_PROJECT_NAME: PROJECT,
    COMPOSE_FILE: join(projectDir, 'docker-compose.yml'),
    COMPOSE_ENV_FILES: settings,
  };
  const output = async (command: string, args: string[], more: object = {}): Promise<string> =>
    (await run(command, args, { env: { ...own, ...more }, cwd: folder, maxBuffer: 1e8 })).stdout;
  const compose: Deployment['compose'] = (args, more) =>
    output('docker', ['compose', ...args], more);
  const ready = async (): Promise<void> => {
    const deadline = Date.now() + READY_MS;
    while (!(await isReady(url))) {
      if (Date.now() > deadline) {
        throw new Error(`Not ready:\n${await compose(['logs', '--tail', '20'])}`);
      }
      await sleep(100);
    }
  };
  return {
    url,
    project: PROJECT,
    compose,
    docker: (args) => output('docker', args),
    shell: (script) => output('sh', ['-euc', script]),
    inside: (service, command, environment = {}) => {
      const variables = Object.entries(environment).flatMap(([name, value]) => [
        '--env',
        `${name}=${value}`,
      ]);
      return compose(['exec', '--no-TTY', ...variables, service, ...command]);
    },
    up: async () => {
      const started = performance.now();
      await compose(['up', '--detach', '--no-build']);
      await ready();
      return (performance.now() - started) / 1_000;
    },
    ready,
  };
}

async function isReady(url: string): Promise<boolean> {
  try {
    const answer = await fetch(`${url}/api/ready`, { signal: AbortSignal.timeout(3_000) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
