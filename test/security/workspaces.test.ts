import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import { capabilities } from '#shared/people/capabilities.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { newId } from '#shared/crypto/ids.ts';
import { capabilitiesOfRoutes } from '#test/support/access-matrix.ts';
import { operationsOf } from '#test/support/api-operations.ts';
import { aim, type Target, targetsOf } from '#test/support/attack-plan.ts';
import { invite } from '#test/support/people.ts';
import type { Kind } from '#test/support/populated-workspace.ts';
import { addEndpoint, addEntities } from '#test/api/data/records.ts';
import { oneStep, startTestApi, useTestApi, type TestApi } from '#test/api/test-api.ts';

const needs = new Map(
  [...capabilitiesOfRoutes()].filter(([, capabilities]) => capabilities.length > 0),
);

const answers = { response: { 200: z.string() } };

const api = useTestApi();

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
    trigger: await make(`/api/workflows/${workflow}/triggers`, { event: 'x.happened' }),
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

test('the committed table contains every route', () => {
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
});

test.each<[string, string, object, RegExp]>([
  ['without a capability', '/api/open', { schema: answers }, /declares no capability/],
  [
    'of the data API without a scope',
    '/v1/open',
    { schema: answers, config: { capability: 'view' } },
    /declares no capability or scope/,
  ],
  [
    'of the operations API with only a scope',
    '/api/open',
    { schema: answers, config: { scope: 'usage:read' } },
    /declares no capability or scope/,
  ],
  ['without a response', '/api/open', { config: { capability: 'public' } }, /declares no response/],
])('building the app fails on a route %s', async (_which, url, route, why) => {
  const { db, temporal, config, app: first } = api;
  const app = buildApp({ db, temporal, config, log: first.log as never, findRunnable });
  expect(() => app.route({ method: 'GET', url, handler: async () => 'x', ...route })).toThrow(why);
  await app.close();
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
