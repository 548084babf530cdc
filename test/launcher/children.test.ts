import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { startChild } from '../../scripts/stack/children.ts';

test('the output of a process is split at line feeds only, not at Unicode line separators', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'child-'));
  const logFile = join(folder, 'child.log');
  const entry = JSON.stringify({ msg: 'before\u2028after' });
  const lines: string[] = [];
  try {
    const child = await startChild({
      name: 'child',
      command: process.execPath,
      args: [
        '-e',
        `process.stdout.write(${JSON.stringify(`${entry}\nlast`)}); console.error('error')`,
      ],
      env: {},
      logFile,
      onLine: (line) => lines.push(line),
    });
    expect((await child.exited).code).toBe(0);
    const written = (): string[] => readFileSync(logFile, 'utf8').trim().split('\n').sort();
    while (written().length < 3) await sleep(10);
    expect([...lines].sort()).toEqual(['error', 'last', entry].sort());
    expect(written()).toEqual([...lines].sort());
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
