import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { openConnection, requestHead } from '#test/support/raw-http.ts';
import { useTestApi, type TestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';

const api = useTestApi();

const apps = new Set<App>();
afterEach(async () => {
  jest.restoreAllMocks();
  for (const app of apps) await app.close();
  apps.clear();
});

/** Starts a listening process with these settings, for requests over real sockets. */
const start = async (settings: Partial<TestApi['config']['api']>) => {
  const { db, temporal } = api;
  const config = { ...api.config, api: { ...api.config.api, ...settings } };
  const app = buildApp({ db, temporal, config, log: api.app.log as never, findRunnable });
  apps.add(app);
  const base = await app.listen({ host: '127.0.0.1', port: 0 });
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await fetch(`${base}${path}`, { method, headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  return { base, ask, port: Number(new URL(base).port) };
};

/** The number of requests that were not rate limited. */
const admitted = async (requests: Promise<{ status: number }>[]): Promise<number> =>
  (await Promise.all(requests)).filter(({ status }) => status !== 429).length;
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('the setting', () => {
  test('is off by default, and accepts integers from 0', () => {
    expect(loadConfig({}).api.rateLimitPerMinute).toBe(0);
    expect(loadConfig({ RATE_LIMIT_PER_MINUTE: '120' }).api.rateLimitPerMinute).toBe(120);
    for (const wrong of ['-1', '1.5', 'many']) {
      expect(() => loadConfig({ RATE_LIMIT_PER_MINUTE: wrong })).toThrow(/RATE_LIMIT_PER_MINUTE/);
    }
  });

  test('of 0 disables the limit and its headers', async () => {
    const { ask } = await start({ rateLimitPerMinute: 0 });
    expect(await admitted(times(300, async () => ask('/api/workflows')))).toBe(300);
    const { headers } = await ask('/api/workflows');
    expect([...headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
  });
});

describe('above the limit', () => {
  test('an address gets 429 with a detail and the time until the reset', async () => {
    const { ask } = await start({ rateLimitPerMinute: 3 });
    const began = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(began);
    for (const remaining of [2, 1, 0]) {
      const { status, headers } = await ask('/api/workflows');
      expect([status, headers.get('x-ratelimit-limit')]).toEqual([200, '3']);
      expect(headers.get('x-ratelimit-remaining')).toBe(String(remaining));
      expect(headers.get('x-ratelimit-reset')).toBe('60');
      expect(headers.get('retry-after')).toBeNull();
    }
    for (const [passedMs, left] of [
      [0, 60],
      [100, 60],
      [20_000, 40],
      [59_999, 1],
    ] as const) {
      clock.mockReturnValue(began + passedMs);
      const { status, headers, text } = await ask('/api/workflows');
      const detail = `Too many requests: at most 3 a minute. Try again in ${left} s`;
      expect([status, JSON.parse(text)]).toEqual([429, { detail }]);
      expect(headers.get('retry-after')).toBe(String(left));
      expect(headers.get('x-ratelimit-reset')).toBe(String(left));
      expect(headers.get('x-ratelimit-remaining')).toBe('0');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
    clock.mockReturnValue(began + 60_000);
    expect((await ask('/api/workflows')).status).toBe(200);
  });

  soakTest('exactly the limit of concurrent requests is admitted', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { ask } = await start({ rateLimitPerMinute: 20 });
      expect(await admitted(times(60, async () => ask('/api/workflows')))).toBe(20);
    }
  });

  test.each([
    ['GET', '/api/workflows'],
    ['HEAD', '/api/workflows'],
    ['POST', '/api/workflows'],
    ['GET', '/api/nothing'],
    ['DELETE', '/api/nothing/at/all'],
    ['GET', '/%61pi/workflows'],
    ['GET', '/api%2Fworkflows'],
    ['GET', '//api/workflows'],
    ['GET', '/api/openapi.json'],
    ['GET', '/api'],
    ['GET', '/api/%E0%A4%A'],
    ['GET', `/api/workflows/${'x'.repeat(2_000)}`],
  ])('%s %s is refused', async (method, path) => {
    const { ask } = await start({ rateLimitPerMinute: 1 });
    expect((await ask('/api/workflows')).status).toBe(200);
    expect((await ask(path, {}, method)).status).toBe(429);
  });

  test('a refused credential counts, and is no longer checked', async () => {
    const { ask } = await start({ rateLimitPerMinute: 2 });
    const wrong = { 'x-api-key': 'ops_nonsense' };
    const statuses = [await ask('/api/runs', wrong), await ask('/api/nothing', wrong)];
    expect(statuses.map(({ status }) => status)).toEqual([401, 401]);
    expect((await ask('/api/runs', wrong)).status).toBe(429);
  });

  test('a body is not awaited', async () => {
    const { ask, port } = await start({ rateLimitPerMinute: 1 });
    await ask('/api/workflows');
    const { socket, closed } = openConnection(port);
    const headers = { 'content-type': 'application/json', 'content-length': '1073741824' };
    socket.write(requestHead('POST', '/api/workflows', headers));
    const { text } = await closed;
    expect(text).toMatch(/^HTTP\/1\.1 429 /);
    expect(text).toMatch(/\r\nconnection: close\r\n/i);
  });

  test('a WebSocket handshake is refused with 429', async () => {
    const { ask, base } = await start({ rateLimitPerMinute: 1 });
    await ask('/api/workflows');
    const socket = new WebSocket(`${base.replace('http', 'ws')}/api/runs/run_x/stream`);
    const status = await new Promise((resolve, reject) => {
      socket.on('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
      socket.on('open', () => reject(new Error('It was opened')));
      socket.on('error', reject);
    });
    expect(status).toBe(429);
  });

  test('WebSocket handshakes count', async () => {
    const { ask, base } = await start({ rateLimitPerMinute: 2 });
    for (let count = 0; count < 2; count += 1) {
      const socket = new WebSocket(`${base.replace('http', 'ws')}/api/runs/run_x/stream`);
      expect(await new Promise((resolve) => socket.on('close', resolve))).toBe(4404);
    }
    expect((await ask('/api/workflows')).status).toBe(429);
  });

  test.each(['/api/health', '/api/ready', '/metrics', '/docs/'])(
    '%s still responds, and does not count',
    async (path) => {
      const { ask } = await start({ rateLimitPerMinute: 2 });
      expect(await admitted(times(20, async () => ask(path)))).toBe(20);
      expect(await admitted(times(5, async () => ask('/api/workflows')))).toBe(2);
      const { status, headers } = await ask(path);
      expect([200, 503]).toContain(status);
      expect(headers.get('x-ratelimit-limit')).toBeNull();
    },
  );

  test('an allowed origin can read the refusal, and its preflights are answered', async () => {
    const { ask } = await start({ rateLimitPerMinute: 1 });
    const origin = 'http://localhost:3000';
    await ask('/api/workflows');
    const refused = await ask('/api/workflows', { origin });
    expect([refused.status, refused.headers.get('access-control-allow-origin')]).toEqual([
      429,
      origin,
    ]);
    const exposed = refused.headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(['retry-after', 'x-ratelimit-reset']));
    const preflight = { origin, 'access-control-request-method': 'POST' };
    expect((await ask('/api/workflows', preflight, 'OPTIONS')).status).toBe(204);
  });
});

describe('behind a proxy', () => {
  const forwarded = (value: string) => ({ 'x-forwarded-for': value });

  test('that is not trusted, forged headers are ignored and the peer is counted', async () => {
    const { ask } = await start({ rateLimitPerMinute: 5, trustedProxies: [] });
    const forged = times(20, async (n) => ask('/api/workflows', forwarded(`203.0.113.${n}`)));
    expect(await admitted(forged)).toBe(5);
  });

  test('outside the trusted networks, the peer is counted', async () => {
    const { ask } = await start({ rateLimitPerMinute: 5, trustedProxies: ['10.0.0.0/8'] });
    const forged = times(20, async (n) => ask('/api/workflows', forwarded(`203.0.113.${n}`)));
    expect(await admitted(forged)).toBe(5);
  });

  describe('that is trusted', () => {
    const trusted = { rateLimitPerMinute: 3, trustedProxies: ['127.0.0.1', '10.0.0.0/8'] };

    test('each client has a separate limit', async () => {
      const { ask } = await start(trusted);
      for (const client of ['203.0.113.1', '203.0.113.2', '2001:db8:1::1']) {
        const asked = times(10, async () => ask('/api/workflows', forwarded(client)));
        expect([client, await admitted(asked)]).toEqual([client, 3]);
      }
    });

    test('the right-most untrusted address counts, regardless of those to its left', async () => {
      const { ask } = await start(trusted);
      const asked = times(20, async (n) =>
        ask('/api/workflows', forwarded(`198.51.100.${n}, 10.9.9.9, 203.0.113.1, 10.0.0.7`)),
      );
      expect(await admitted(asked)).toBe(3);
      expect((await ask('/api/workflows', forwarded('198.51.100.1'))).status).toBe(200);
    });

    test('addresses of one IPv6 network share a limit, those of the next do not', async () => {
      const { ask } = await start(trusted);
      const asked = times(20, async (n) =>
        ask('/api/workflows', forwarded(`2001:db8:1:2:${n}:${n}::${n}`)),
      );
      expect(await admitted(asked)).toBe(3);
      expect((await ask('/api/workflows', forwarded('2001:db8:1:3::1'))).status).toBe(200);
    });

    test('an IPv4-mapped IPv6 address counts as its IPv4 address', async () => {
      const { ask } = await start(trusted);
      const written = ['203.0.113.1', '::ffff:203.0.113.1', '::FFFF:cb00:7101'];
      const asked = times(12, async (n) => ask('/api/workflows', forwarded(written[n % 3]!)));
      expect(await admitted(asked)).toBe(3);
      expect((await ask('/api/workflows', forwarded('::ffff:203.0.113.2'))).status).toBe(200);
    });

    test('an invalid address counts for the proxy that forwarded it', async () => {
      const { ask } = await start(trusted);
      const garbage = [
        'unknown',
        '203.0.113.1:4711',
        '[2001:db8::1]:80',
        '999.1.1.1',
        'a'.repeat(5_000),
        ','.repeat(5_000),
        '-1',
        '0x7f000001',
        "'; DROP TABLE runs; --",
      ];
      const asked = garbage.map(async (text) => ask('/api/workflows', forwarded(text)));
      expect(await admitted(asked)).toBe(3);
      expect((await ask('/api/workflows', forwarded('203.0.113.1'))).status).toBe(200);
    });

    test('garbage to the left of an address is ignored', async () => {
      const { ask } = await start(trusted);
      const asked = times(10, async (n) =>
        ask('/api/workflows', forwarded(`garbage-${n}, ::1%x, , 203.0.113.1`)),
      );
      expect(await admitted(asked)).toBe(3);
    });

    test('the zone of an address is ignored', async () => {
      const { ask } = await start(trusted);
      const asked = times(10, async (n) => ask('/api/workflows', forwarded(`fe80::1%eth${n}`)));
      expect(await admitted(asked)).toBe(3);
    });
  });
});

soakTest('the number of tracked addresses is bounded', 60_000, async () => {
  const { ask } = await start({ rateLimitPerMinute: 1, trustedProxies: ['127.0.0.1'] });
  const from = async (n: number) => {
    const address = `198.18.${Math.floor(n / 250)}.${n % 250}`;
    return ask('/api/nothing', { 'x-forwarded-for': address });
  };
  expect((await from(0)).status).toBe(404);
  expect((await from(0)).status).toBe(429);
  for (let at = 1; at <= 10_000; at += 100) {
    await Promise.all(times(100, async (n) => from(at + n)));
  }
  // The oldest address was evicted, a recent one was not.
  expect((await from(0)).status).toBe(404);
  expect((await from(9_999)).status).toBe(429);
});
