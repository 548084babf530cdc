import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { oddTimes } from '#test/support/times.ts';
import { changeNothing, type MutationContext, mutationEnv, mutations } from './mutations.ts';
import { readEverything } from './reads.ts';

let engine: Engine;
let app: App;
let context: MutationContext;
/** Times in responses that are not in the standard format. */
const odd: string[] = [];
/** Every route as `METHOD /path/{parameter}`, from the OpenAPI documents; and the routes that are not reads. */
let routes: string[];
let mutating: string[];
/** The key for calls to the data API, with all scopes. */
const dataKey = { name: 'Data key of the tests', secret: '' };
beforeAll(async () => {
  engine = await startEngine({ env: mutationEnv });
  app = buildApp(engine.deps);
  await app.ready();
  context = {
    workspaceId: engine.actor.workspaceId,
    db: engine.db,
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
  routes = Object.entries<object>({ ...operations.paths, ...data.paths }).flatMap(
    ([path, methods]) => Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  mutating = routes.filter((route) => !/^(GET|HEAD|OPTIONS) /.test(route)).sort();
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
  headers: Record<string, string> = {},
): Promise<any> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers: {
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
  });
  if (answer.statusCode >= 300) {
    throw new Error(`${method} ${url} answered ${answer.statusCode}: ${answer.body}`);
  }
  if (answer.body === '') return undefined;
  const isLines = answer.headers['content-type']?.toString().includes('ndjson') === true;
  const body = isLines
    ? answer.body
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    : answer.json();
  // The OpenAPI documents also show accepted input formats.
  if (!url.endsWith('openapi.json')) {
    odd.push(...oddTimes(body).map((time) => `${method} ${url} ${time}`));
  }
  return body;
}

/** The actor: the owner, the target itself under its own name, or a data API key under the key's name. */
const actorOf = (route: string, by: string | undefined, targetId: string) => {
  if (route.includes(' /v1/')) return { actor_id: null, actor_name: dataKey.name };
  return { actor_id: by === undefined ? engine.actor.id : targetId, actor_name: by ?? 'Owner' };
};

const total = async (): Promise<number> => (await call('GET', '/api/audit?limit=1')).total;

test('every mutating route has an example, and every example has a route', () => {
  expect([...Object.keys(mutations), ...Object.keys(changeNothing)].sort()).toEqual(mutating);
});

test('every change leaves one audit entry with its action, target and actor', async () => {
  for (const [route, prepare] of Object.entries(mutations)) {
    const { url, body, token, headers, entry, by } = await prepare(context);
    const before = await total();
    const answer = await call(route.slice(0, route.indexOf(' ')), url, body, token, headers);
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

test('reads and no-op changes leave no audit entry', async () => {
  const reads = ['/api/workspace', '/api/usage', '/api/metrics/overview', '/api/audit/verify'];
  const before = await total();
  for (const url of reads) await call('GET', url);
  expect(await total()).toBe(before);
  for (const [route, prepare] of Object.entries(changeNothing)) {
    const { url, body } = await prepare(context);
    const prepared = await total();
    await call(route.slice(0, route.indexOf(' ')), url, body);
    expect({ route, added: (await total()) - prepared }).toEqual({ route, added: 0 });
  }
});

test('the worker seals all entries in one valid chain', async () => {
  for (;;) {
    const { valid, unsealed, sealed } = await call('GET', '/api/audit/verify');
    expect(valid).toBe(true);
    if (unsealed > 0) continue;
    expect(sealed).toBe(await total());
    break;
  }
});

// Runs last, when data of every kind exists.
test('every time in every response is UTC with milliseconds, in any input format', async () => {
  const feed = (await call('POST', '/api/data/feeds', { name: 'Of odd times' })).id as string;
  const evidence = { source_name: 's', retrieved_at: '2026-01-01T00:00:00.5+16:00' };
  const [entity, event] = [
    { type: 'entity', entity_type: 'project', canonical_name: 'P', attributes: {} },
    {
      type: 'event',
      event_type: 'permit_filed',
      primary_external_key: 'k',
      summary: 'S',
      occurred_at: '2026-01-01',
    },
  ].map((record) => ({ ...record, external_key: 'k', source_evidence: [evidence] }));
  const changed = { ...entity, source_evidence: [{ ...evidence, retrieved_at: '2026-02-01' }] };
  const ingest = { feed_id: feed, records: [entity, changed, event] };
  expect(await call('POST', '/api/data/ingest', ingest)).toMatchObject({ refused: 0, updated: 1 });

  expect(await readEverything(call, routes)).toBeGreaterThan(100);
  for (const format of ['ndjson', 'csv']) {
    const { body } = await app.inject({ method: 'GET', url: `/api/runs/export?format=${format}` });
    const times = body.match(/\d{4}-\d\d-\d\d[T ]\d\d:[\w:.+-]+/gu) ?? [];
    expect(times.length).toBeGreaterThan(2);
    odd.push(...oddTimes(times, `runs as ${format}`));
  }
  for (const format of ['json', 'csv']) {
    for (const kind of ['entities', 'events']) {
      const answer = await app.inject({
        method: 'POST',
        url: '/v1/exports',
        headers: { authorization: `Bearer ${dataKey.secret}` },
        payload: { kind, format },
      });
      expect(answer.statusCode).toBe(200);
      const times = answer.body.match(/\d{4}-\d\d-\d\d[T ]\d\d:[\w:.+-]+/gu) ?? [];
      expect(times.length).toBeGreaterThan(2);
      odd.push(...oddTimes(times, `${kind} as ${format}`));
    }
  }
  expect(odd).toEqual([]);
}, 60_000);
