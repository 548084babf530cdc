import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRegistry } from '#shared/platform/process-metrics.ts';

const BLOCK_MS = 100;

test('the busy time of the main thread counts what it computes, and not what it waits for', async () => {
  const registry = createRegistry();
  const busyMs = async (): Promise<number> => {
    await sleep(30);
    const text = await registry.metrics();
    return Number(/^nodejs_eventloop_busy_max_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
  };
  await busyMs();
  const { user } = process.threadCpuUsage();
  while (process.threadCpuUsage().user - user < BLOCK_MS * 1_000);
  expect(await busyMs()).toBeGreaterThanOrEqual(BLOCK_MS - 1);
  await sleep(3 * BLOCK_MS);
  expect(await busyMs()).toBeLessThan(BLOCK_MS);
});
