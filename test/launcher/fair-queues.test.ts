import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { startTemporal } from '#scripts/stack/temporal.ts';

const projectDir = join(import.meta.dirname, '../..');
let dataDir = '';
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'queues-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts the server on the data folder and returns whether its task queues are fair, by its command line. */
async function startsWithFairQueues(): Promise<boolean> {
  const [port = 0] = await freePorts(1);
  const server = await startTemporal({ dataDir, projectDir, port });
  try {
    const values = readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8').split('\0');
    return values.includes('matching.enableFairness=true');
  } finally {
    await server.stop(500);
  }
}

test('a new data folder gets fair task queues and keeps them', async () => {
  expect(await startsWithFairQueues()).toBe(true);
  expect(await startsWithFairQueues()).toBe(true);
});

test('an existing data folder keeps its queues, with the tasks in them', async () => {
  await startsWithFairQueues();
  rmSync(join(dataDir, 'fair-queues'));
  expect(await startsWithFairQueues()).toBe(false);
});
