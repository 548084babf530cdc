import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildApp } from '../../api/app.ts';
import type { App } from '../../api/deps.ts';
import { dataScopeNames } from '../../shared/contract/data/envelope.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { changeNothing, type Kitchen, recipes } from './mutations.ts';

let engine: Engine;
let app: App;
let kitchen: Kitchen;
/** `METHOD /path/{parameter}` of every route that is no read, as the OpenAPI document names them. */
let mutating: string[];
/** Of the data API, with all scopes: what calls there are made with. */
const dataKey = { name: 'Data key of the recipes', secret: '' };
beforeAll(async () => {
  engine = await startEngine({
    env: {
      ENCRYPTION_KEY: 'a key for the tests alone',
      DELIVERY_BACKOFF_SECONDS: '0.01',
      CHAT_WEBHOOK_URL: 'http://127.0.0.1:9/',
    },
  });
  app = buildApp(engine.deps);
  await app.ready();
  kitchen = {
    workspaceId: engine.actor.workspaceId,
    call,
    until: async (runId, status) => {
      await engine.until(runId, [status]);
    },
  };
  const { secret } = await call('POST', '/api/data/keys', {
    name: dataKey.name,
    mode: 'live',
    scopes: dataScopeNames,
  });
  dataKey.secret = secret;
  const [operations, data] = [
    await call('GET', '/api/openapi.json'),
    await call('GET', '/v1/openapi.json'),
  ];
  mutating = Object.entries<object>({ ...operations.paths, ...data.paths })
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    .filter((route) => !/^(GET|HEAD|OPTIONS) /.test(route))
    .sort();
}, 60_000);
afterAll(async () => {
  await app.close();
  await engine.close();
});

async function call(
  method: string,
  url: string,
  payload?: unknown,
  token = url.startsWith('/v1/') ? dataKey.secret : undefined,
): Promise<any> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  });
  if (answer.statusCode >= 300) {
    throw new Error(`${method} ${url} answered ${answer.statusCode}: ${answer.body}`);
  }
  return answer.body === '' ? undefined : answer.json();
}

/** Who did it: the owner, the target itself under its own name, or a key of the data API under the key's. */
const actorOf = (route: string, by: string | undefined, targetId: string) => {
  if (route.includes(' /v1/')) return { actor_id: null, actor_name: dataKey.name };
  return { actor_id: by === undefined ? engine.actor.id : targetId, actor_name: by ?? 'Owner' };
};

const total = async (): Promise<number> => (await call('GET', '/api/audit?limit=1')).total;

test('every route that may change something has a recipe, and every recipe its route', () => {
  expect([...Object.keys(recipes), ...Object.keys(changeNothing)].sort()).toEqual(mutating);
});

test('every change leaves one entry that names the act, its target and who did it', async () => {
  for (const [route, prepare] of Object.entries(recipes)) {
    const { url, body, token, entry, by } = await prepare(kitchen);
    const before = await total();
    const answer = await call(route.slice(0, route.indexOf(' ')), url, body, token);
    expect({ route, added: (await total()) - before }).toEqual({ route, added: 1 });
    const [newest] = (await call('GET', '/api/audit?limit=1')).logs;
    expect({ route, ...newest }).toMatchObject({
      route,
      target_id: entry.target_id ?? answer.data?.id ?? answer.id,
      ...actorOf(route, by, newest.target_id),
      ...entry,
    });
  }
}, 60_000);

test('what changes nothing, and every read, leaves none', async () => {
  const reads = ['/api/workspace', '/api/usage', '/api/metrics/overview', '/api/audit/verify'];
  const before = await total();
  for (const url of reads) await call('GET', url);
  expect(await total()).toBe(before);
  for (const [route, prepare] of Object.entries(changeNothing)) {
    const { url, body } = await prepare(kitchen);
    const prepared = await total();
    await call(route.slice(0, route.indexOf(' ')), url, body);
    expect({ route, added: (await total()) - prepared }).toEqual({ route, added: 0 });
  }
});

test('the worker seals what was written, in one chain that holds', async () => {
  for (;;) {
    const { valid, unsealed, sealed } = await call('GET', '/api/audit/verify');
    expect(valid).toBe(true);
    if (unsealed > 0) continue;
    expect(sealed).toBe(await total());
    break;
  }
});
