import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../cli/main.ts');

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Standard output parsed as JSON, of any shape. */
  json: () => any;
}

export interface Ops {
  /** Runs the command in a child process. */
  (args: string[], options?: { input?: string; env?: Record<string, string> }): Promise<Ended>;
  configFolder: string;
  env: Record<string, string>;
  script: string;
}

/** `ops` with a separate configuration folder and without the settings of this shell. */
export async function createOps(env: Record<string, string> = {}): Promise<Ops> {
  const configFolder = await mkdtemp(join(tmpdir(), 'ops-config-'));
  const own = {
    PATH: process.env['PATH'] ?? '',
    HOME: configFolder,
    XDG_CONFIG_HOME: configFolder,
    TERM: 'xterm',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    ...env,
  };
  const ops = (
    args: string[],
    options: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> =>
    new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [main, ...args], { env: { ...own, ...options.env } });
      let stdout = '';
      let stderr = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.stdin.on('error', () => undefined).end(options.input ?? '');
      child.once('error', reject);
      child.once('close', (code) => {
        resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) });
      });
    });
  return Object.assign(ops, { configFolder, env: own, script: main });
}
