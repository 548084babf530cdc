import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Captured, captureCommand, type CaptureOptions } from '#cli/captured.ts';
import { eventually } from '#test/support/engine.ts';

export interface Ended extends Captured {
  /** Standard output parsed as JSON, of any shape. */
  json: () => any;
}

type OpsOptions = Partial<CaptureOptions>;

/** A command that serves until it is interrupted. */
export interface Started {
  /** What it has printed so far, on both streams. */
  output: () => string;
  /** Waits until it has printed this, and returns its output. */
  printed: (text: RegExp) => Promise<string>;
  /** Interrupts it. */
  end: () => Promise<Ended>;
  ended: Promise<Ended>;
}

export interface Ops {
  /** Runs the command in this process, with streams and an environment of its own. */
  (args: string[], options?: OpsOptions): Promise<Ended>;
  /** Starts a command that ends when it is interrupted. */
  start: (args: string[], options?: OpsOptions) => Started;
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
    { env: more, ...options }: OpsOptions = {},
  ): Promise<Ended> => {
    const ended = await captureCommand(args, { ...options, env: { ...own, ...more } });
    return { ...ended, json: () => JSON.parse(ended.stdout) };
  };
  const start = (args: string[], options: OpsOptions = {}): Started => {
    const interruption = new AbortController();
    let text = '';
    const ended = ops(args, {
      ...options,
      interrupted: interruption.signal,
      onOutput: (part) => (text += part),
    });
    let hasEnded = false;
    void ended.finally(() => (hasEnded = true));
    return {
      output: () => text,
      printed: async (expected) => {
        await eventually(() => {
          if (expected.test(text)) return true;
          if (hasEnded) throw new Error(`ended without ${String(expected)}: ${text}`);
          return false;
        }, 30_000);
        return text;
      },
      end: () => {
        interruption.abort();
        return ended;
      },
      ended,
    };
  };
  const script = join(import.meta.dirname, '../../cli/main.ts');
  return Object.assign(ops, { start, configFolder, env: own, script });
}
