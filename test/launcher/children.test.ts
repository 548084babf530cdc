import { mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { logTo, startChild } from '#scripts/stack/children.ts';

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

test('a full disk loses lines of a log, and is reported once', async () => {
  const report = jest.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    const log = logTo(openSync('/dev/full', 'w'), 'api');
    for (const line of ['one\n', 'two\n']) {
      await new Promise<void>((resolve, reject) => {
        log.write(line, (error) => (error ? reject(error) : resolve()));
      });
    }
    await new Promise<void>((resolve) => log.end(() => resolve()));
    expect(report.mock.calls).toEqual([
      [expect.stringMatching(/^The log of api cannot be written, lines are lost: ENOSPC/)],
    ]);
  } finally {
    report.mockRestore();
  }
});
