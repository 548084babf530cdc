import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { runCommand } from '#cli/run-command.ts';
import { withTerminal } from '#cli/terminal.ts';

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
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
    const [stdout, stderr] = [collector(), collector()];
    const code = await withTerminal(
      {
        stdin: Readable.from([Buffer.from(options.input ?? '')]),
        stdout: stdout.stream,
        stderr: stderr.stream,
        env: { ...own, ...options.env },
      },
      () => runCommand(args),
    );
    return {
      code,
      stdout: stdout.text(),
      stderr: stderr.text(),
      json: () => JSON.parse(stdout.text()),
    };
  };
  const script = join(import.meta.dirname, '../../cli/main.ts');
  return Object.assign(ops, { configFolder, env: own, script });
}

function collector(): { stream: Writable; text: () => string } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write: (part: Buffer, _encoding, done) => {
      parts.push(part);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString('utf8') };
}
