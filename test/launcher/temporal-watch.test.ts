import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { startTemporal, type Temporal, type TemporalOptions } from '#scripts/stack/temporal.ts';
import { watchTemporal } from '#scripts/stack/temporal-watch.ts';

jest.setTimeout(120_000);

const projectDir = join(import.meta.dirname, '../..');
let dataDir = '';
let options: TemporalOptions;
let server: Temporal;
beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'watch-'));
  const [port = 0] = await freePorts(1);
  options = { dataDir, projectDir, port };
  server = await startTemporal(options);
});
afterAll(async () => {
  await server.stop(700);
  rmSync(dataDir, { recursive: true, force: true });
});

describe('the watchdog of the embedded Temporal server', () => {
  test('restarts only a server that does not respond', async () => {
    const reasons: string[] = [];
    const gaveUp: unknown[] = [];
    const watch = watchTemporal({
      address: server.address,
      namespace: 'default',
      restart: async (reason) => {
        reasons.push(reason);
        await server.stop(100);
        server = await startTemporal(options);
      },
      onFailure: (error) => gaveUp.push(error),
      everyMs: 50,
      deadlineMs: 2_000,
      failures: 2,
    });
    try {
      await sleep(2_000);
      expect(reasons).toEqual([]);
      const { pid } = server.child;
      process.kill(pid, 'SIGSTOP');
      const deadline = Date.now() + 60_000;
      while (server.child.pid === pid && Date.now() < deadline) await sleep(50);
      expect(server.child.pid).not.toBe(pid);
      expect(reasons).toHaveLength(1);
      await sleep(1_000);
      expect(reasons).toHaveLength(1);
      expect(gaveUp).toEqual([]);
    } finally {
      watch.stop();
    }
  });

  test('fails when the restart fails', async () => {
    const gaveUp = await new Promise<unknown>((resolve) => {
      watchTemporal({
        address: '127.0.0.1:1',
        namespace: 'default',
        restart: () => Promise.reject(new Error('port taken')),
        onFailure: resolve,
        everyMs: 10,
        deadlineMs: 200,
        failures: 2,
      });
    });
    expect(gaveUp).toEqual(new Error('port taken'));
  });
});
