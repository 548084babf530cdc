import { expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const projectDir = join(import.meta.dirname, '../..');

/** The length of the storm, and the time to start, settle and judge. */
const SECONDS = 60;
const AROUND_SECONDS = 145;

test(
  'a short storm loses, blocks and repeats nothing',
  async () => {
    const { code, output } = await storm('--seconds', String(SECONDS), '--seed', '20');
    expect({ code, output }).toEqual({
      code: 0,
      output: expect.stringMatching(/^Violations +0$/m),
    });
    // Without deaths it would prove nothing.
    expect(Number(/^Deaths +(\d+)/m.exec(output)?.[1])).toBeGreaterThan(5);
  },
  (SECONDS + AROUND_SECONDS) * 1_000,
);

/** The script of `npm run storm`. It exits by itself, with 2 after its timeout. */
function storm(...args: string[]): Promise<{ code: number | null; output: string }> {
  // The script must not inherit jest's flags.
  const { NODE_OPTIONS: _flags, JEST_WORKER_ID: _id, ...env } = process.env;
  const folder = join(process.env['TEST_FOLDER'] ?? tmpdir(), 'storm');
  const child = spawn(
    process.execPath,
    [join(projectDir, 'scripts/storm.ts'), ...args, '--folder', folder],
    { cwd: projectDir, env, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const output: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output: Buffer.concat(output).toString() }));
  });
}
