import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { keepRunning, type Part } from '#scripts/cluster/part.ts';
import { type Child, startChild } from '#scripts/stack/children.ts';
import { readyMessage } from '#scripts/stack/supervisor.ts';

let folder = '';
let part: Part | undefined;
const seen: string[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'part-'));
  seen.length = 0;
});
afterEach(async () => {
  await part?.end([['SIGKILL', 1_000]]);
  rmSync(folder, { recursive: true, force: true });
});

/** Keeps a process running that executes the script. */
function keep(script: string): Part {
  part = keepRunning({
    name: 'part',
    start: async (onSpawn) => {
      const child = await startChild({
        name: 'part',
        command: process.execPath,
        args: ['-e', script],
        env: {},
        logFile: join(folder, 'part.log'),
        ipc: true,
      });
      onSpawn(child);
      await readyMessage(child, 20_000);
    },
    pauseMs: () => 10,
    onSpawn: () => seen.push('spawned'),
    onReady: () => seen.push('ready'),
    onNotReady: () => seen.push('not ready'),
    onExit: ({ code, signal }, wasReady) =>
      seen.push(`${signal ?? code} ${wasReady ? 'when ready' : 'while starting'}`),
  });
  return part;
}

const readyForever = 'process.send({ ready: true }); setInterval(() => 0, 1e6)';

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(10);
}

test('a process that is killed is started again', async () => {
  const kept = keep(readyForever);
  await kept.firstUp;
  const first = kept.child() as Child;
  process.kill(first.pid, 'SIGKILL');
  await until(() => kept.up() && kept.child() !== first);
  expect(seen).toEqual(['spawned', 'ready', 'SIGKILL when ready', 'spawned', 'ready']);
});

test('a process that ends before it is ready is started again', async () => {
  const kept = keep('process.exit(3)');
  await until(() => seen.filter((event) => event === '3 while starting').length >= 2);
  expect(kept.up()).toBe(false);
  expect(seen.slice(0, 3)).toEqual(['spawned', 'not ready', '3 while starting']);
});

test('a restart stops the process and resolves when the next one is ready', async () => {
  const kept = keep(`process.on('SIGTERM', () => process.exit(0)); ${readyForever}`);
  await kept.firstUp;
  const first = kept.child();
  await kept.restart([['SIGTERM', 10_000]], 20_000);
  expect(kept.up()).toBe(true);
  expect(kept.child()).not.toBe(first);
  expect(seen).toEqual(['spawned', 'ready', '0 when ready', 'spawned', 'ready']);
});

test('a restart rejects when the next process does not become ready in time', async () => {
  const kept = keep(
    `if (require('node:fs').existsSync('${join(folder, 'once')}')) setInterval(() => 0, 1e6);
     else { require('node:fs').writeFileSync('${join(folder, 'once')}', ''); ${readyForever} }`,
  );
  await kept.firstUp;
  await expect(kept.restart([['SIGKILL', 1_000]], 500)).rejects.toThrow('part did not come back');
});

test('after its end, no process is started and none is left', async () => {
  const kept = keep(readyForever);
  await kept.firstUp;
  const { pid } = kept.child() as Child;
  await kept.end([['SIGTERM', 5_000]]);
  await sleep(100);
  expect(seen).toEqual(['spawned', 'ready']);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('an end during the start kills the process that is starting', async () => {
  const kept = keep('setInterval(() => 0, 1e6)');
  await until(() => kept.child() !== undefined);
  const { pid } = kept.child() as Child;
  await kept.end([['SIGTERM', 5_000]]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});
