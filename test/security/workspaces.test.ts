import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import { capabilities } from '#shared/people/capabilities.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { newId } from '#shared/crypto/ids.ts';
import { operationsOf } from '#test/support/api-operations.ts';
import { aim, type Target, targetsOf } from '#test/support/attack-plan.ts';
import { invite } from '#test/support/people.ts';
import type { Kind } from '#test/support/populated-workspace.ts';
import { addEndpoint, addEntities } from '#test/api/data/records.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

/** The capabilities each route needs, from the committed table; a refusal names one. Omits routes without any. */
const needs = new Map<string, string[]>(
  readFileSync(join(import.meta.dirname, '../api/contract/access-matrix.md'), 'utf8')
    .split('\n')
    .slice(2, -1)
    .flatMap((line) => {
      const cells = line.split('|').map((cell) => cell.trim());
      const [needed = '', without = ''] = cells.slice(-3);
      const taken = needed === 'all of these' ? without.split(' ') : [needed];
      return needed === 'nothing' ? [] : [[cells[1] ?? '', taken] as const];
    }),
);

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(async () => api.stop());

const makeIds = async () => {
  const make = async (url: string, body: unknown): Promise<string> =>
    (await api.call('POST', url, body)).body.id;
  const workflow = await make('/api/workflows', { name: 'x', graph: oneStep });
  const feed = await make('/api/data/feeds', { name: 'x' });
  const endpoint_url = 'http://127.0.0.1:9/';
  const [entity = ''] = await addEntities(api, { ...api, id: feed, isDemo: false }, [{}]);
  return {
    workflow,
    run: await make(`/api/workflows/${workflow}/runs`, { ticket: 'x' }),
    budget: await make('/api/budgets', { name: 'x', limit_usd: 1_000 }),
    'api key': await make('/api/keys', { name: 'x', role: 'viewer' }),
    member: (await invite(api, { role: 'viewer' })).id,
    tool: await make('/api/tools', { name: newId('tool'), endpoint_url }),
    schedule: await make('/api/schedules', { workflow_id: workflow, cron: '@yearly' }),
    template: await make('/api/templates', { name: 'x', graph: oneStep }),
    feed,
    source: await make('/api/data/sources', { name: newId('source'), type: 'x' }),
    'data key': await make('/api/data/keys', { name: 'x', mode: 'live', scopes: ['usage:read'] }),
    entity,
    endpoint: await addEndpoint(api),
    version: '1',
  } satisfies Partial<Record<Kind, string>>;
};
/** Every operations route that needs a capability, with these ids in its path and its example as body. */
const guarded = (ids: Partial<Record<Kind, string>> = {}) =>
  operationsOf(api.app).flatMap((operation) => {
    const { name, method } = operation;
    const capability = needs.get(name);
    if (capability === undefined) return [];
    const idFor = ({ in: where, kind }: Target) =>
      where === 'path' ? (ids[kind] ?? 'x_unknown') : undefined;
    const { url, body } = aim(operation, targetsOf(operation), idFor);
    return [{ name, method, url, body, capability }];
  });

/** Calls as the owner with these overrides, in a process that has not loaded the owner before. */
const asOwner = async (
  overrides: Record<string, boolean>,
  act: (call: TestApi['call']) => Promise<void>,
) => {
  const override = async (value: Record<string, boolean>) =>
    api.db.query(sql.type(z.object({}))`
      UPDATE members SET overrides = ${JSON.stringify(value)}::jsonb WHERE is_owner
    `);
  await override(overrides);
  const { app, call } = await api.another();
  try {
    await act(call);
  } finally {
    await app.close();
    await override({});
  }
};

test('the committed table knows every route', () => {
  expect(guarded()).toHaveLength(needs.size);
  expect(needs.size).toBeGreaterThan(100);
});

describe('capabilities', () => {
  test('are required by every route, and the refusal names one', async () => {
    const ids = await makeIds();
    const none = Object.fromEntries(Object.keys(capabilities).map((name) => [name, false]));
    await asOwner(none, async (call) => {
      for (const { name, method, url, body: sent, capability } of guarded(ids)) {
        const { status, body } = await call(method, url, sent);
        expect([name, status, Object.keys(body)]).toEqual([name, 403, ['detail']]);
        expect(capability.map((one) => `This action requires the '${one}' permission`)).toContain(
          body.detail,
        );
      }
    });
  });

  test.each(Object.keys(capabilities))(
    'with %s alone give access to the routes that declare it',
    async (capability) => {
      const ids = await makeIds();
      const only = Object.fromEntries(
        Object.keys(capabilities).map((name) => [name, name === capability]),
      );
      await asOwner(only, async (call) => {
        for (const { name, method, url, body: sent, capability: taken } of guarded(ids)) {
          if (!taken.includes(capability)) continue;
          const { status, body } = await call(method, url, sent);
          // A caller who would grant more than they hold is also refused, with the name of another capability.
          const refused = body?.detail === `This action requires the '${capability}' permission`;
          expect([name, refused, status < 500 ? undefined : body]).toEqual([
            name,
            false,
            undefined,
          ]);
        }
      });
    },
  );
});

describe('credentials', () => {
  test.each([
    ['x-api-key', 'ops_nonsense'],
    ['x-api-key', ''],
    ['authorization', 'Bearer nonsense'],
    ['authorization', 'Basic bm9ib2R5Og=='],
  ])('that are invalid are refused in open mode too (%s: %s)', async (name, value) => {
    const { status, body, headers } = await api.call('GET', '/api/workflows', undefined, {
      [name]: value,
    });
    expect(status).toBe(401);
    expect(Object.keys(body)).toEqual(['detail']);
    expect(headers['www-authenticate']).toBe('Bearer');
  });

  test('are checked before the body', async () => {
    const { status } = await api.send({
      method: 'POST',
      url: '/api/workflows',
      headers: { 'content-type': 'application/json', 'x-api-key': 'ops_nonsense' },
      payload: '{',
    });
    expect(status).toBe(401);
  });

  describe('in required mode', () => {
    let closed: TestApi;
    beforeAll(async () => {
      closed = await startTestApi({ AUTH_MODE: 'required' });
    });
    afterAll(async () => closed.stop());

    test('are required on all but the exempt routes', async () => {
      for (const { name, method, url, body: sent } of guarded()) {
        const { status, body } = await closed.call(method, url, sent);
        expect([name, status, body]).toEqual([name, 401, { detail: 'Authentication required' }]);
      }
      expect((await closed.call('GET', '/api/health')).status).toBe(200);
      expect([200, 503]).toContain((await closed.call('GET', '/api/ready')).status);
      expect((await closed.call('GET', '/api/openapi.json')).status).toBe(200);
      expect((await closed.call('GET', '/v1/openapi.json')).status).toBe(200);
      expect((await closed.call('GET', '/docs/')).status).toBe(200);
    });

    test('are required to learn which API routes exist', async () => {
      expect((await closed.call('GET', '/api/nothing')).status).toBe(401);
      expect((await closed.call('GET', '/nothing')).status).toBe(404);
    });
  });
});

describe('pages of other origins', () => {
  test('cannot act in open mode, even with simple requests', async () => {
    const { run } = await makeIds();
    const foreign = { origin: 'https://evil.example', host: '127.0.0.1:8000' };
    const { status } = await api.call('POST', `/api/runs/${run}/cancel`, undefined, foreign);
    expect(status).toBe(403);
    expect((await api.call('GET', `/api/runs/${run}`)).body.status).toBe('pending');
  });

  test('cannot act by DNS rebinding', async () => {
    const rebound = { origin: 'http://evil.example:8000', host: 'evil.example:8000' };
    expect((await api.call('POST', '/api/workflows', { name: 'x' }, rebound)).status).toBe(403);
    for (const host of ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']) {
      const own = { origin: `http://${host}`, host };
      expect((await api.call('POST', '/api/workflows', { name: 'x' }, own)).status).toBe(201);
    }
  });

  test('can act if they are allowed or our own', async () => {
    for (const origin of ['http://localhost:3000', 'http://127.0.0.1:8000']) {
      const { status } = await api.call('GET', '/api/workflows', undefined, {
        origin,
        host: '127.0.0.1:8000',
      });
      expect(status).toBe(200);
    }
  });

  test('get CORS headers only if allowed', async () => {
    const preflight = async (origin: string) =>
      (
        await api.send({
          method: 'OPTIONS',
          url: '/api/workflows',
          headers: { origin, 'access-control-request-method': 'POST' },
        })
      ).headers['access-control-allow-origin'];
    expect(await preflight('http://localhost:3000')).toBe('http://localhost:3000');
    expect(await preflight('https://evil.example')).toBeUndefined();
  });
});

describe('every response', () => {
  test('has a request ID, from the caller if valid', async () => {
    const given = await api.call('GET', '/api/workflows', undefined, {
      'x-request-id': 'abc-1.2:3',
    });
    expect(given.headers['x-request-id']).toBe('abc-1.2:3');
    for (const name of ['a b', 'x'.repeat(101), '<script>']) {
      const { headers } = await api.call('GET', '/api/nothing', undefined, {
        'x-request-id': name,
      });
      expect(headers['x-request-id']).toMatch(/^req_[0-9a-z]{26}$/);
    }
    expect((await api.send({ method: 'GET', url: '/%E0%A4%A' })).headers['x-request-id']).toMatch(
      /^req_/,
    );
  });

  test('forbids MIME sniffing and framing', async () => {
    const { headers } = await api.call('GET', '/api/workflows');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
  });
});

describe('building the app', () => {
  const build = () => {
    const { db, temporal, config, app } = api;
    return buildApp({
      db,
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
  };

  test('fails on a route without a capability', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        schema: { response: { 200: z.string() } },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability/);
    await app.close();
  });

  test('fails on a data API route without a scope', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/v1/open',
        schema: { response: { 200: z.string() } },
        config: { capability: 'view' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability or scope/);
    await app.close();
  });

  test('fails on an operations API route with only a scope', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        schema: { response: { 200: z.string() } },
        config: { scope: 'usage:read' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no capability or scope/);
    await app.close();
  });

  test('fails on a route without a response', async () => {
    const app = build();
    expect(() =>
      app.route({
        method: 'GET',
        url: '/api/open',
        config: { capability: 'public' },
        handler: async () => 'x',
      }),
    ).toThrow(/declares no response/);
    await app.close();
  });
});

describe('over a real socket', () => {
  const port = async () => {
    if (!api.app.server.listening) await api.app.listen({ host: '127.0.0.1', port: 0 });
    return (api.app.server.address() as { port: number }).port;
  };
  const raw = async (text: string): Promise<string> => {
    const socket = connect(await port(), '127.0.0.1');
    socket.write(text);
    let answer = '';
    for await (const chunk of socket) answer += String(chunk);
    return answer;
  };

  test('invalid HTTP gets a JSON error', async () => {
    const answer = await raw('NONSENSE\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toMatch(/\{"detail":"Bad Request"\}$/);
  });

  test('too large a head returns 431', async () => {
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
  });

  test('a body of 2 MB gets 413', async () => {
    const answer = await fetch(`http://127.0.0.1:${await port()}/api/workflows`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'x'.repeat(2_000_000) }),
    });
    expect([answer.status, await answer.json()]).toEqual([
      413,
      { detail: 'The body is larger than 1 MB' },
    ]);
  });
});

describe('an internal failure', () => {
  test('returns 500 without details', async () => {
    const { db, temporal, config, app } = api;
    const broken = buildApp({
      db: new Proxy(db, {
        get: (target, key) =>
          key === 'any'
            ? async () => Promise.reject(new Error('secret table'))
            : Reflect.get(target, key),
      }),
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
    const answer = await broken.inject({ method: 'GET', url: '/api/workflows' });
    expect([answer.statusCode, answer.json()]).toEqual([500, { detail: 'Internal error' }]);
    await broken.close();
  });

  test('of the database connection returns 503 with Retry-After', async () => {
    const { temporal, config, app, databaseUrl } = api;
    const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
    const unreachable = buildApp({
      db,
      temporal,
      config,
      log: app.log as never,
      findRunnable,
    });
    await db.end();
    for (const [method, url] of [
      ['GET', '/api/workflows'],
      ['POST', '/api/workflows/wf_x/runs'],
    ] as const) {
      const answer = await unreachable.inject({ method, url });
      expect([url, answer.statusCode, Object.keys(answer.json())]).toEqual([url, 503, ['detail']]);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
    }
    const health = await unreachable.inject({ method: 'GET', url: '/api/ready' });
    expect([health.statusCode, health.json().checks.database]).toEqual([503, 'down']);
    await unreachable.close();
  });
});
