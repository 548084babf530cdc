import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';

const api = useTestApi();

describe('health', () => {
  test('is always 200, and readiness only if all checks pass', async () => {
    const health = await api.call('GET', '/api/health');
    expect(health.status).toBe(200);
    expect(health.body).toEqual({
      status: 'degraded',
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      // This test has no worker.
      checks: { database: 'ok', temporal: 'ok', worker: 'down', migrations: 'ok' },
    });
    const ready = await api.call('GET', '/api/ready');
    expect([ready.status, ready.body]).toEqual([503, health.body]);
  });

  soakTest('reports a migration that has not run', async () => {
    const row = z.object({ name: z.string(), digest: z.string() });
    const taken = await api.db.one(sql.type(row)`
      DELETE FROM migrations WHERE name = (SELECT max(name) FROM migrations) RETURNING name, digest`);
    const { app, call } = await api.another();
    expect((await call('GET', '/api/ready')).body.checks.migrations).toBe('down');
    await app.close();
    await api.db.query(sql.type(z.object({}))`
      INSERT INTO migrations (name, digest) VALUES (${taken.name}, ${taken.digest})`);
  });
});

describe('metrics', () => {
  const read = async (remoteAddress: string, headers: Record<string, string> = {}) =>
    api.send({ method: 'GET', url: '/metrics', remoteAddress, headers });

  test('count requests by route pattern, method and status', async () => {
    await api.call('GET', '/api/workflows/wf_one');
    await api.call('GET', '/api/workflows/wf_two');
    const { status, text } = await read('127.0.0.1');
    expect(status).toBe(200);
    expect(text).toMatch(
      /http_request_duration_seconds_count\{method="GET",route="\/api\/workflows\/:id",status="404"\} 2/,
    );
    expect(text).not.toContain('wf_one');
  });

  test('are shown to allowed addresses only', async () => {
    expect((await read('127.8.8.8')).status).toBe(200);
    expect((await read('::1')).status).toBe(200);
    expect((await read('::ffff:127.0.0.1')).status).toBe(200);
    for (const address of ['10.0.0.7', '2001:db8::1']) {
      const { status, body } = await read(address);
      expect([address, status, body]).toEqual([address, 404, { detail: 'Not found' }]);
    }
    expect((await read('127.0.0.1', { 'x-forwarded-for': '10.0.0.7' })).status).toBe(404);
  });
});

describe('the prices of a workspace', () => {
  const prices = [
    { model: 'openai/large', input_usd_per_million: 2.5, output_usd_per_million: 10 },
    { model: 'openai/small', input_usd_per_million: 0.000001, output_usd_per_million: 0 },
  ];

  test('are replaced as a whole', async () => {
    expect((await api.call('GET', '/api/workspace/prices')).body).toEqual({ prices: [] });
    expect((await api.call('PUT', '/api/workspace/prices', { prices })).body).toEqual({ prices });
    const one = { prices: prices.slice(1) };
    expect((await api.call('PUT', '/api/workspace/prices', one)).body).toEqual(one);
    expect((await api.call('GET', '/api/workspace/prices')).body).toEqual(one);
  });

  test('cannot name a model twice', async () => {
    const { status, body } = await api.call('PUT', '/api/workspace/prices', {
      prices: [prices[0], prices[0]],
    });
    expect([status, body]).toEqual([400, { detail: 'Invalid body: prices names a model twice' }]);
  });
});

describe('the api process', () => {
  const environment = (port: string) => ({
    ...process.env,
    DATABASE_URL: api.databaseUrl,
    TEMPORAL_ADDRESS: api.config.temporal.address ?? '',
    LOG_LEVEL: 'info',
    API_PORT: port,
    NODE_OPTIONS: '',
  });
  const start = (port = '0') => {
    const child = spawn(process.execPath, [join(import.meta.dirname, '../../../api/main.ts')], {
      env: environment(port),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += String(chunk)));
    child.stderr?.on('data', (chunk) => (output += String(chunk)));
    return { child, exited: once(child, 'exit'), output: () => output };
  };
  const ready = async ({ child, exited, output }: ReturnType<typeof start>): Promise<number> => {
    const [message] = (await Promise.race([
      once(child, 'message'),
      exited.then(() => Promise.reject(new Error(output()))),
    ])) as [{ ready: boolean; port: number }];
    expect(message.ready).toBe(true);
    return message.port;
  };

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'stops on %s, with sockets and requests open',
    async (signal) => {
      const process = start();
      const port = await ready(process);
      const base = `http://127.0.0.1:${port}`;
      expect((await fetch(`${base}/api/workflows`)).status).toBe(200);
      const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/run_x/stream`);
      socket.on('error', () => undefined);
      await once(socket, 'open');
      process.child.kill(signal);
      expect(await process.exited).toEqual([0, null]);
    },
  );

  soakTest('stops when its parent disconnects', async () => {
    const process = start();
    await ready(process);
    process.child.disconnect();
    expect(await process.exited).toEqual([0, null]);
  });

  soakTest('exits with an error if its port is taken', async () => {
    const first = start();
    const port = await ready(first);
    const second = start(String(port));
    expect(await second.exited).toEqual([1, null]);
    expect(second.output()).toContain(`port ${port} is in use`);
    first.child.kill('SIGTERM');
    await first.exited;
  });
});
