import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Inputs } from './inputs.ts';

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
export type Ops = (args: readonly string[], stdin?: string) => Promise<Ended>;

const SCRIPT = join(import.meta.dirname, '../../cli/main.ts');

/** The command `ops` of this repository, for the service and the key of the inputs. */
export const opsFor =
  ({ url, apiKey }: Pick<Inputs, 'url' | 'apiKey'>): Ops =>
  async (args, stdin = '') => {
    const child = spawn(process.execPath, [SCRIPT, ...args], {
      env: { ...process.env, OPS_API_URL: url, OPS_API_KEY: apiKey, OPS_TOKEN: '', NO_COLOR: '1' },
    });
    // The command may end before it has read everything.
    child.stdin.on('error', () => undefined);
    child.stdin.end(stdin);
    const ended = new Promise<number>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve(code ?? 1));
    });
    const [code, stdout, stderr] = await Promise.all([
      ended,
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code, stdout, stderr };
  };
