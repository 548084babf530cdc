import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Captured, captureCommand } from '#cli/captured.ts';

export interface Ended extends Captured {
  /** Standard output parsed as JSON, of any shape. */
  json: () => any;
}

export interface Ops {
  /** Runs the command in this process, with streams and an environment of its own. */
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
  const ops = async (
    args: string[],
    options: { input?: string; env?: Record<string, string> } = {},
  ): Promise<Ended> => {
    const { input = '', env: more } = options;
    const ended = await captureCommand(args, { input, env: { ...own, ...more } });
    return { ...ended, json: () => JSON.parse(ended.stdout) };
  };
  const script = join(import.meta.dirname, '../../cli/main.ts');
  return Object.assign(ops, { configFolder, env: own, script });
}
