import { get } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import { type ConnectionLimits, connectionLimits } from '#api/http/connections.ts';
import type { App } from '#api/deps.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { eventually } from '#test/support/engine.ts';
import {
  handshake,
  openConnection,
  type RawConnection,
  requestHead,
  trickle,
} from '#test/support/raw-http.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';

let api: TestApi;
let runId: string;
beforeAll(async () => {
  api = await startTestApi();
  const workflow = await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep });
  runId = (await api.call('POST', `/api/workflows/${workflow.body.id}/runs`, {})).body.id;
});
afterAll(async () => {
  for (const process of shared.values()) await (await process).app.close();
  await api.stop();
});

const apps = new Set<App>();
/** Processes without limits that several tests use, by the mode of authentication. */
const shared = new Map<Start['authMode'], ReturnType<typeof start>>();
const connections = new Set<RawConnection>();
afterEach(async () => {
  for (const { socket } of connections) socket.destroy();
  connections.clear();
  for (const app of apps) await app.close();
  apps.clear();
});

interface Start {
  limits?: Partial<ConnectionLimits>;
  settings?: Partial<TestApi['config']['api']>;
  authMode?: 'required';
  extend?: (app: App) => void;
  host?: string;
}

const HOUR_MS = 3_600_000;
/** A limit that a test does not wait for closes nothing during it. */
const unlimited = {
  ...{ headMs: HOUR_MS, requestMs: HOUR_MS, handlerMs: HOUR_MS, exchangeMs: HOUR_MS },
  ...{ handshakeMs: HOUR_MS, idleMs: HOUR_MS, pingEveryMs: HOUR_MS },
};

/** Starts a listening process without limits of time, except these. */
const start = async ({ limits, settings, authMode, extend, host = '127.0.0.1' }: Start = {}) => {
  const config = {
    ...api.config,
    api: { ...api.config.api, ...settings },
    auth: { ...api.config.auth, ...(authMode && { mode: authMode }) },
  };
  const { db, temporal, app: first } = api;
  const app = buildApp(
    { db, temporal, config, log: first.log as never, findRunnable },
    { ...connectionLimits, ...unlimited, ...limits },
  );
  apps.add(app);
  extend?.(app);
  const base = await app.listen({ host, port: 0 });
  const port = Number(new URL(base).port);
  const open = (options?: Parameters<typeof openConnection>[1]) => {
    const connection = openConnection(port, options);
    connections.add(connection);
    return connection;
  };
  return { app, base, port, open };
};

/** A process that tests share if they neither change it nor count its connections. */
const share = async (authMode?: Start['authMode']) => {
  const process =
    shared.get(authMode) ??
    start({ authMode }).then((started) => {
      apps.delete(started.app);
      return started;
    });
  shared.set(authMode, process);
  return process;
};

/** Adds a route for the test. */
const serve = (app: App, url: string, handler: () => Promise<unknown>) =>
  app.route({
    method: ['GET', 'POST'],
    url,
    schema: { hide: true, response: { 200: z.any() } },
    config: { capability: 'public' },
    handler,
  });
const openSockets = async (app: App): Promise<number> =>
  new Promise((resolve, reject) =>
    app.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

describe('CORS', () => {
  const allowed = 'http://localhost:3000';
  const headersOf = async (base: string, path: string, headers: Record<string, string>) => {
    const answer = await fetch(`${base}${path}`, { headers });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };

  test('lets the local front end read responses and needed headers', async () => {
    const { base } = await share();
    for (const origin of [allowed, 'http://127.0.0.1:3000']) {
      const { status, headers } = await headersOf(base, '/api/workflows', { origin });
      expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin]);
      expect(headers.get('access-control-expose-headers')?.split(', ').sort()).toEqual([
        'debounce-joined',
        'etag',
        'idempotent-replayed',
        'ratelimit-limit',
        'ratelimit-remaining',
        'ratelimit-reset',
        'retry-after',
        'x-credits-consumed',
        'x-credits-remaining',
        'x-ratelimit-limit',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
        'x-request-id',
      ]);
      expect(headers.get('vary')).toMatch(/\bOrigin\b/);
      // Credentials are sent in headers that a page sets itself, never in cookies.
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
  });

  test.each([
    'https://evil.example',
    'null',
    'http://localhost:3001',
    'https://localhost:3000',
    'http://localhost:3000.evil.example',
    'http://LOCALHOST:3000',
    `${allowed}, https://evil.example`,
    '*',
    '',
  ])('denies access to pages of %j in both modes', async (origin) => {
    for (const authMode of [undefined, 'required'] as const) {
      const { base } = await share(authMode);
      for (const path of ['/api/workflows', '/api/health', '/api/openapi.json', '/api/nothing']) {
        const { headers } = await headersOf(base, path, { origin });
        expect([path, headers.get('access-control-allow-origin')]).toEqual([path, null]);
        expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
      }
    }
  });

  test('refuses data to foreign pages in open mode', async () => {
    const { base } = await share();
    for (const origin of ['https://evil.example', 'null']) {
      const { status, text } = await headersOf(base, `/api/runs/${runId}`, { origin });
      expect([status, Object.keys(JSON.parse(text))]).toEqual([403, ['detail']]);
    }
  });

  test('refuses foreign host names in open mode, against DNS rebinding', async () => {
    const { base, port } = await share();
    const statusFor = (host: string, path = `/api/runs/${runId}`, headers = {}) =>
      new Promise<number>((resolve, reject) => {
        get(`${base}${path}`, { headers: { ...headers, host } }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        }).on('error', reject);
      });
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', '..']) {
      expect([host, await statusFor(host)]).toEqual([host, 403]);
      expect(await statusFor(host, '/api/health')).toBe(200);
      expect(await statusFor(host, undefined, { 'x-api-key': 'ops_unknown' })).toBe(401);
    }
    for (const host of ['localhost', '127.0.0.1:1', '[::1]:8000', 'api:8000', 'a.localhost']) {
      // Interleaved: an accepted host does not make another one acceptable.
      for (const [asked, status] of [
        [host, 200] as const,
        ['evil.example', 403] as const,
        [host, 200] as const,
      ]) {
        expect([asked, await statusFor(asked)]).toEqual([asked, status]);
      }
    }
  });

  test('answers preflights for credential and idempotency headers', async () => {
    const { base } = await share('required');
    const asked = 'x-api-key,authorization,idempotency-key,content-type';
    const preflight = async (origin: string, method: string) =>
      fetch(`${base}/api/workflows`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': method,
          'access-control-request-headers': asked,
        },
      });
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await preflight(allowed, method);
      expect([status, headers.get('access-control-allow-origin')]).toEqual([204, allowed]);
      expect(headers.get('access-control-allow-headers')?.split(/, ?/)).toEqual(asked.split(','));
      expect(headers.get('access-control-allow-methods')?.split(', ')).toContain(method);
      expect(headers.get('access-control-max-age')).toBe('600');
      expect(headers.get('access-control-allow-credentials')).toBeNull();
    }
    for (const origin of ['https://evil.example', 'null']) {
      expect((await preflight(origin, 'POST')).headers.has('access-control-allow-origin')).toBe(
        false,
      );
    }
  });

  test('returns an empty 204 for other OPTIONS requests', async () => {
    const { base } = await share();
    const answer = await fetch(`${base}/api/workflows`, { method: 'OPTIONS' });
    expect([answer.status, await answer.text()]).toEqual([204, '']);
    expect(answer.headers.has('access-control-allow-origin')).toBe(false);
  });
});

describe('security headers', () => {
  const expected: Record<string, string> = {
    'content-security-policy': "default-src 'none';frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  };
  /** Parses a raw response. */
  const parse = (text: string) => {
    const [head = '', body = ''] = text.split('\r\n\r\n');
    const [line = '', ...lines] = head.split('\r\n');
    const headers = Object.fromEntries(
      lines.map((each) => [
        each.slice(0, each.indexOf(':')).toLowerCase(),
        each.slice(each.indexOf(':') + 2),
      ]),
    );
    return { status: Number(line.split(' ')[1]), headers, body };
  };
  const json = { 'content-type': 'application/json' };
  const close = { connection: 'close' };

  const failing: Start = { extend: (app) => serve(app, '/api/failing', async () => fail()) };
  const fail = () => Promise.reject(new Error('secret'));

  test.each<[number, string, string, Start?]>([
    [200, 'an answer', requestHead('GET', '/api/workflows', close)],
    [
      204,
      'a preflight',
      requestHead('OPTIONS', '/api/workflows', {
        origin: 'http://localhost:3000',
        'access-control-request-method': 'GET',
        ...close,
      }),
    ],
    [301, 'a redirect', requestHead('GET', '/docs', close)],
    [400, 'a body that is no JSON', `${requestHead('POST', '/api/workflows', { ...json, 'content-length': '1', ...close })}{`], // prettier-ignore
    [400, 'a path that is no URL', requestHead('GET', '/api/%E0%A4%A', close)],
    [400, 'bytes that are no request', 'NONSENSE\r\n\r\n'],
    [401, 'a refused credential', requestHead('GET', '/api/runs', { 'x-api-key': 'x', ...close })],
    [401, 'an address nobody may ask for', requestHead('GET', '/api/x', close), { authMode: 'required' }], // prettier-ignore
    [404, 'an unknown address', requestHead('GET', '/api/x', close)],
    [404, 'an unknown address elsewhere', requestHead('GET', '/x', close)],
    [404, 'an unknown run', requestHead('GET', '/api/runs/run_x', close)],
    [404, 'a path that is too long', requestHead('GET', `/api/runs/${'x'.repeat(2_000)}`, close)],
    [408, 'a head that stays away', 'GET / HT', { limits: { headMs: 200, checkEveryMs: 50 } }],
    [413, 'a large body', requestHead('POST', '/api/workflows', { ...json, 'content-length': '9999999' })], // prettier-ignore
    [415, 'a body of another kind', `${requestHead('POST', '/api/workflows', { 'content-type': 'text/plain', 'content-length': '1', ...close })}x`], // prettier-ignore
    [431, 'a large head', requestHead('GET', '/', { 'x-long': 'x'.repeat(40_000) })],
    [500, 'a failure', requestHead('GET', '/api/failing', close), failing],
    [400, 'a handshake without a key', handshake(`/api/runs/run_x/stream`, { 'sec-websocket-key': '' })], // prettier-ignore
    [400, 'a handshake of another protocol', handshake(`/api/runs/run_x/stream`, { upgrade: 'h2c', connection: 'close, Upgrade' })], // prettier-ignore
    [404, 'a handshake with an unknown address', handshake('/api/x')],
    [401, 'a handshake with an address nobody may ask for', handshake('/api/x'), { authMode: 'required' }], // prettier-ignore
    [431, 'a handshake with a large head', handshake(`/api/runs/run_x/stream`, { 'x-long': 'x'.repeat(40_000) })], // prettier-ignore
  ])('are on %i, %s', async (status, _what, request, ...[settings]) => {
    const { authMode, ...own } = settings ?? {};
    const { open } = await (Object.keys(own).length === 0 ? share(authMode) : start(settings));
    const { socket, closed } = open();
    socket.write(request);
    const answer = parse((await closed).text);
    expect(answer.status).toBe(status);
    expect(answer.headers).toMatchObject(expected);
    expect(answer.headers).not.toHaveProperty('x-powered-by');
    expect(answer.headers).not.toHaveProperty('server');
    if (status >= 400) expect(Object.keys(JSON.parse(answer.body))).toEqual(['detail']);
  });

  test.each([
    ['an answer', requestHead('GET', '/api/workflows', close)],
    ['a handshake', handshake('/api/runs/run_x/stream')],
    ['a path that is no URL', requestHead('GET', '/api/%E0%A4%A', close)],
  ])('are on 429, %s', async (_what, request) => {
    const { base, open } = await start({ settings: { rateLimitPerMinute: 1 } });
    await fetch(`${base}/api/workflows`);
    const { socket, closed } = open();
    socket.write(request);
    const answer = parse((await closed).text);
    expect(answer.status).toBe(429);
    expect(answer.headers).toMatchObject({ ...expected, 'retry-after': '60' });
  });

  test('allow the OpenAPI document to be cached for a minute, and page assets for a day', async () => {
    const { base } = await share();
    const kept = async (path: string) =>
      (await fetch(`${base}${path}`)).headers.get('cache-control');
    expect(await kept('/api/openapi.json')).toBe('public, max-age=60');
    expect(await kept('/docs/js/scalar.js')).toBe('public, max-age=86400');
    expect(await kept('/api/health')).toBe('no-store');
  });
});

describe('a slow client', () => {
  test('sending its head gets 408 after the limit', async () => {
    const { open } = await start({ limits: { headMs: 400, checkEveryMs: 50 } });
    const { socket, closed } = open();
    await trickle(socket, requestHead('GET', '/api/health'), 20);
    const { text, ms } = await closed;
    expect(text).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
    expect(text).toMatch(/\{"detail":"Request Timeout"\}$/);
    expect(ms).toBeGreaterThan(350);
  });

  soakTest('starting no request gets 408, also after a response', async () => {
    const { open } = await start({ limits: { headMs: 400, checkEveryMs: 50 } });
    const silent = open();
    const second = open();
    second.socket.write(requestHead('GET', '/api/nothing'));
    await second.until(/Not found/);
    await trickle(second.socket, 'GET /api/health HTTP/1.1\r\nx: aaaaaaaaaaaaa', 20);
    expect((await silent.closed).text).toMatch(/^HTTP\/1\.1 408 /);
    expect((await second.closed).text).toMatch(/Not found"\}HTTP\/1\.1 408 /);
  });

  soakTest('sending its body gets 408 after the limit, and its route is not called', async () => {
    const limits = { headMs: 300, requestMs: 600, checkEveryMs: 50 };
    let asked = 0;
    const { open } = await start({
      limits,
      extend: (app) => serve(app, '/api/asked', async () => (asked += 1)),
    });
    const { socket, closed } = open();
    const json = { 'content-type': 'application/json', 'content-length': '200' };
    socket.write(requestHead('POST', '/api/asked', json));
    await trickle(socket, `{"name":"${'x'.repeat(190)}"}`.slice(0, 199), 20);
    const { text, ms } = await closed;
    expect(text).toMatch(/^HTTP\/1\.1 408 /);
    expect(ms).toBeGreaterThan(500);
    expect(asked).toBe(0);
  });

  soakTest('is disconnected on every address of a host name', async () => {
    const { app } = await start({ limits: { headMs: 200, checkEveryMs: 50 }, host: 'localhost' });
    for (const { address, port } of app.addresses() as AddressInfo[]) {
      const socket = connect(port, address);
      socket.on('error', () => undefined).resume();
      await new Promise((resolve) => socket.on('close', resolve));
    }
  });

  soakTest('is disconnected if it does not close after a refusal', async () => {
    const { app, open } = await start();
    const { socket } = open({ onRead: 'never' });
    socket.allowHalfOpen = true;
    const refused = new Promise((resolve) => app.server.once('clientError', resolve));
    socket.write('NONSENSE\r\n\r\n');
    await refused;
    await eventually(async () => (await openSockets(app)) === 0);
  });

  soakTest('is disconnected if it reads no response, also among many', async () => {
    const answer = Buffer.alloc(16_000_000, 'x');
    const exchangeMs = 700;
    const ends: { taken: boolean; ms: number }[] = [];
    const { app, open } = await start({
      limits: { exchangeMs },
      extend: (each) => {
        serve(each, '/api/large', async () => answer);
        each.server.on('request', (_request, response) => {
          const began = performance.now();
          response.once('close', () =>
            ends.push({ taken: response.writableFinished, ms: performance.now() - began }),
          );
        });
      },
    });
    const clients = Array.from({ length: 30 }, () => open({ onRead: 'never' }));
    for (const { socket } of clients) {
      socket.pause();
      socket.write(requestHead('GET', '/api/large'));
    }
    await eventually(() => ends.length === clients.length);
    expect(ends.filter(({ taken }) => taken)).toEqual([]);
    // The deadline begins with the connection, which on a busy machine is well before the request is seen.
    expect(Math.min(...ends.map(({ ms }) => ms))).toBeGreaterThan(exchangeMs / 2);
    await eventually(async () => (await openSockets(app)) === 0);
  });

  soakTest('that reads its response in time gets all of it', async () => {
    const answer = Buffer.alloc(16_000_000, 'x');
    const { open } = await start({
      limits: { exchangeMs: 5_000 },
      extend: (each) => serve(each, '/api/large', async () => answer),
    });
    const { socket, closed } = open();
    socket.write(requestHead('GET', '/api/large', { connection: 'close' }));
    socket.pause();
    await sleep(500);
    socket.resume();
    expect((await closed).text.length).toBeGreaterThan(answer.length);
  });
});

describe('a large body', () => {
  const json = { 'content-type': 'application/json' };

  test('announced as 1 GB is refused before any byte is sent', async () => {
    const { open } = await share();
    const { socket, closed } = open();
    socket.write(
      requestHead('POST', '/api/workflows', { ...json, 'content-length': '1073741824' }),
    );
    const { text } = await closed;
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
    expect(text).toMatch(/\{"detail":"The body is larger than 1 MB"\}$/);
  });

  test.each<[string, Record<string, string>, string, Start]>([
    ['too large', { 'transfer-encoding': 'chunked' }, '/api/workflows', {}],
    ['without a credential', { 'content-length': '1073741824' }, '/api/workflows', { authMode: 'required' }], // prettier-ignore
    ['without a credential', { 'transfer-encoding': 'chunked' }, '/api/workflows', { authMode: 'required' }], // prettier-ignore
    ['to an unknown address', { 'transfer-encoding': 'chunked' }, '/api/x', {}],
  ])('%s, %j, is not read to its end', async (_why, length, path, settings) => {
    const { open } = await share(settings.authMode);
    const { socket, closed } = open();
    socket.write(requestHead('POST', path, { ...json, ...length }));
    const block = Buffer.alloc(65_536, ' ');
    const chunk = Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]);
    const send = () => {
      while (!socket.destroyed && socket.write('content-length' in length ? block : chunk));
    };
    socket.on('drain', send);
    send();
    await closed;
    // Bytes in flight when the connection ends only fill buffers.
    expect(socket.bytesWritten).toBeLessThan(40_000_000);
  });

  test('that is small and refused keeps the connection open', async () => {
    const { open } = await share();
    const { socket, until } = open();
    for (const round of [1, 2, 3]) {
      socket.write(
        `${requestHead('POST', '/api/x', { ...json, 'content-length': '13' })}{"name": "x"}`,
      );
      await until(new RegExp(`(HTTP/1\\.1 404 [^]*){${round}}`));
    }
  });
});

describe('a connection', () => {
  soakTest('that pipelines endlessly is served up to the limit and read no further', async () => {
    let [inFlight, most] = [0, 0];
    const gate = Promise.withResolvers<undefined>();
    const { app, open } = await start({
      limits: { requestsPerConnection: 1_000 },
      extend: (each) =>
        serve(each, '/api/slow', async () => {
          inFlight += 1;
          most = Math.max(most, inFlight);
          await gate.promise;
          inFlight -= 1;
          return 'done';
        }),
    });
    const reads: (() => number)[] = [];
    app.server.on('connection', (socket) => reads.push(() => socket.bytesRead));
    const { socket, closed } = open();
    const batch = requestHead('GET', '/api/slow').repeat(1_000);
    const send = () => {
      while (!socket.destroyed && socket.write(batch));
    };
    socket.on('drain', send);
    send();
    await eventually(() => most >= 1_000);
    await sleep(1_000);
    const [read = () => NaN] = reads;
    const before = read();
    await sleep(1_000);
    expect(most).toBe(1_000);
    expect(read()).toBe(before);
    expect(before).toBeLessThan(4_000_000);
    gate.resolve(undefined);
    // The client keeps sending, so it may lose some responses; its connection is closed.
    const { text } = await closed;
    expect(text.match(/HTTP\/1\.1 200 OK/g)?.length).toBeGreaterThan(0);
    expect(text).not.toMatch(/HTTP\/1\.1 503/);
  });

  soakTest(
    'with 1,000 pipelined requests gets 1,000 responses, and only the last one closes it',
    async () => {
      const { open } = await start();
      const { socket, closed } = open();
      socket.write(requestHead('GET', '/api/workflows').repeat(999));
      socket.write(requestHead('GET', '/api/x'));
      const { text } = await closed;
      expect(text.match(/HTTP\/1\.1 200 OK/g)?.length).toBe(999);
      expect(text.match(/\r\nconnection: close/gi)?.length).toBe(1);
      expect(text).toMatch(/HTTP\/1\.1 404 [^]*\{"detail":"Not found"\}$/);
    },
  );

  test('over the process limit is refused immediately, and accepted once there is room', async () => {
    const { open } = await start({ limits: { connections: 5 } });
    const held = Array.from({ length: 5 }, () => open());
    for (const each of held) {
      each.socket.write(requestHead('GET', '/api/x'));
      await each.until(/404/);
    }
    const { closed, socket } = open();
    socket.write(requestHead('GET', '/api/x'));
    expect((await closed).text).toBe('');
    held[0]?.socket.destroy();
    await held[0]?.closed;
    await eventually(async () => {
      const next = open();
      next.socket.write(requestHead('GET', '/api/x', { connection: 'close' }));
      return (await next.closed).text.includes('404');
    });
  });
});

describe('a WebSocket', () => {
  const path = () => `/api/runs/${runId}/stream`;
  const follow = async (base: string, options: WebSocket.ClientOptions = {}) => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}${path()}`, options);
    const closed = new Promise<number>((resolve) => socket.on('close', resolve));
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    return { socket, closed };
  };

  test('is closed with 1009 on a 65 kB message, also if fragmented', async () => {
    const { base } = await share();
    const whole = await follow(base);
    whole.socket.send('x'.repeat(65 * 1_024));
    expect(await whole.closed).toBe(1009);
    const parted = await follow(base);
    for (let part = 0; part < 65; part += 1) {
      parted.socket.send('x'.repeat(1_024), { fin: part === 64 });
    }
    expect(await parted.closed).toBe(1009);
  });

  soakTest('that answers no pings is dropped, and a live one is kept', async () => {
    const pingEveryMs = 200;
    const { app, base } = await start({ limits: { pingEveryMs } });
    const [alive, dead] = [await follow(base), await follow(base, { autoPong: false })];
    expect(await dead.closed).toBe(1006);
    await sleep(5 * pingEveryMs);
    expect(alive.socket.readyState).toBe(alive.socket.OPEN);
    expect(app.websocketServer.clients.size).toBe(1);
    alive.socket.terminate();
  });

  test('gets replies to its pings', async () => {
    const { base } = await share();
    const { socket } = await follow(base);
    const pong = new Promise<Buffer>((resolve) => socket.on('pong', resolve));
    socket.ping('are you there?');
    expect(String(await pong)).toBe('are you there?');
    socket.terminate();
  });

  soakTest('that sends pings and reads no replies is dropped', 60_000, async () => {
    const { app, base } = await start();
    const { socket, closed } = await follow(base);
    socket.pause();
    socket.on('error', () => undefined);
    const payload = 'x'.repeat(125);
    let sent = 0;
    while (app.websocketServer.clients.size > 0 && sent < 1_000_000) {
      for (let batch = 0; batch < 1_000; batch += 1) socket.ping(payload);
      sent += 1_000;
      await sleep(1);
    }
    expect(app.websocketServer.clients.size).toBe(0);
    socket.terminate();
    await closed;
  });

  test.each<[string, () => string]>([
    ['an address that is no URL', () => handshake('/api/%E0%A4%A')],
    ['an address that is none for WebSockets', () => handshake('/api/workflows')],
    ['a key that is none', () => handshake(path(), { 'sec-websocket-key': 'x' })],
  ])('upgrading with %s is disconnected', async (_what, head) => {
    const { app, open } = await start({ limits: { handshakeMs: 500, pingEveryMs: 200 } });
    const arrived = new Promise((resolve) => app.server.once('upgrade', resolve));
    const { socket } = open({ onRead: 'never' });
    socket.allowHalfOpen = true;
    socket.resume();
    socket.write(head());
    await arrived;
    await eventually(async () => (await openSockets(app)) === 0);
  });

  soakTest('stays open past the handshake timeout', async () => {
    const { base } = await start({
      limits: { handshakeMs: 1_000, exchangeMs: 1_000, headMs: 1_000 },
    });
    const { socket } = await follow(base);
    await sleep(1_500);
    expect(socket.readyState).toBe(socket.OPEN);
    socket.terminate();
  });
});
