import { beforeAll, describe, expect, test } from '@jest/globals';
import { operationsOf } from '#test/support/api-operations.ts';
import { type Answer, useTestApi } from '#test/api/test-api.ts';
import { type Mutation, type MutationContext, mutationEnv, mutations } from './mutations.ts';

const api = useTestApi({ ...mutationEnv, EGRESS_ALLOW: '127.0.0.0/8' });
let context: MutationContext;
beforeAll(async () => {
  const key = { name: 'x', mode: 'live', scopes: ['webhooks:write', 'webhooks:read'] };
  const { secret } = (await api.call('POST', '/api/data/keys', key)).body;
  context = {
    workspaceId: api.workspaceId,
    db: api.db,
    call: async (method, url, payload) => {
      const headers: Record<string, string> = url.startsWith('/v1/') ? { 'x-api-key': secret } : {};
      const { status, text, body } = await api.call(method, url, payload, headers);
      if (status >= 300) throw new Error(`${method} ${url} answered ${status}: ${text}`);
      return body;
    },
    until: async () => {
      throw new Error('There is no worker');
    },
  };
});

/** Changes without a condition, each with the reason. */
const unconditional = [
  // A key of the data API cannot read or edit one of its endpoints, only create and delete it.
  'DELETE /v1/webhooks/{id}',
  // Pins are private to the caller: no one else changes them.
  'PUT /api/workflows/{id}/pins/{node_id}',
  'DELETE /api/workflows/{id}/pins/{node_id}',
  // Nothing about an authorization changes.
  'DELETE /api/authorizations/{id}',
  // Only the member changes which account of Slack is theirs.
  'DELETE /api/slack/account',
  // So are views.
  'PUT /api/run-views/{name}',
  'DELETE /api/run-views/{name}',
];
/** People send these documents back whole, so their tag is only in the header. */
const wholeDocuments = ['/api/workspace/policies', '/api/workspace/prices'];
/** Their record has tests of its own: `test/api/workflows/drafts.test.ts`. */
const ofDrafts = ['PUT /api/workflows/{id}/draft', 'DELETE /api/workflows/{id}/draft'];

const conditional = (): string[] =>
  operationsOf(api.app)
    .filter(({ parameters }) => parameters.some(({ name }) => name === 'if-match'))
    .map(({ name }) => name);

const send = (
  route: string,
  { url, body, token }: Pick<Mutation, 'url' | 'body' | 'token'>,
  ifMatch: string,
): Promise<Answer> =>
  api.call(route.split(' ', 1)[0]!, url, body, {
    'if-match': ifMatch,
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  });

const auditTotal = async (): Promise<number> =>
  (await api.call('GET', '/api/audit?limit=1')).body.total;

/** The address of the record that a route changes. */
const recordAt = (url: string): string =>
  url.replace(/\/(checks|permissions|config|plan|publish)$/, '');

test('every change of a record accepts If-Match', () => {
  const changes = operationsOf(api.app)
    .filter(({ method }) => /^(PUT|PATCH|DELETE)$/.test(method))
    .map(({ name }) => name);
  const also = ['POST /api/workflows/{id}/publish', 'POST /api/workspace/plan'];
  expect([...conditional(), ...unconditional].sort()).toEqual([...changes, ...also].sort());
});

test('every change is refused with the present record if the record has changed', async () => {
  for (const route of conditional().filter((each) => !ofDrafts.includes(each))) {
    const request = await mutations[route]!(context);
    if (route === 'PUT /api/secrets/{name}') {
      expect((await send(route, request, '"stale"')).body.current).toBeNull();
      expect((await send(route, request, '*')).status).toBe(412);
      await context.call('PUT', request.url, request.body);
    }
    const before = await auditTotal();
    const read = await api.call('GET', recordAt(request.url));
    const tag = String(read.headers['etag']);
    expect({ route, tag }).toEqual({ route, tag: expect.stringMatching(/^"[\w-]{22}"$/) });
    for (const stale of ['"stale"', `W/${tag}`, `"a", W/${tag}`]) {
      const { status, body, headers } = await send(route, request, stale);
      expect({ route, status, body, tag: headers['etag'] }).toEqual({
        ...{ route, status: 412, tag },
        body: {
          detail: expect.stringMatching(/^This has changed since you read it/),
          current: read.body,
        },
      });
    }
    expect([route, (await send(route, request, tag.slice(1, -1))).status]).toEqual([route, 400]);
    expect([route, await auditTotal()]).toEqual([route, before]);

    const done = await send(route, request, `"other", ${tag}`);
    expect([route, done.status]).toEqual([route, route.startsWith('DELETE ') ? 204 : 200]);
    if (done.status === 200) {
      const after = await api.call('GET', recordAt(request.url));
      expect({ route, tag: done.headers['etag'] }).toEqual({ route, tag: after.headers['etag'] });
      const changed = after.text !== read.text;
      expect({ route, changed: after.headers['etag'] !== tag }).toEqual({ route, changed });
    }
  }
}, 120_000);

test('`*` accepts any existing record, and no tag is needed', async () => {
  for (const route of conditional().filter((each) => !ofDrafts.includes(each))) {
    const request = await mutations[route]!(context);
    if (route === 'PUT /api/secrets/{name}') await context.call('PUT', request.url, request.body);
    const { status } = await send(route, request, '*');
    expect([route, status]).toEqual([route, route.startsWith('DELETE ') ? 204 : 200]);
  }
}, 60_000);

test('every record can be read on its own, with the same tag there, in changes and in lists', async () => {
  const routes = conditional().filter((each) => !ofDrafts.includes(each));
  const reads = operationsOf(api.app).map(({ name }) => name);
  const paths = new Set(routes.map((route) => recordAt(route.split(' ')[1]!)));
  for (const path of paths) {
    const route =
      routes.find((each) => each.endsWith(` ${path}`)) ??
      routes.find((each) => each.includes(path))!;
    const { url, body } = await mutations[route]!(context);
    if (path === '/api/secrets/{name}') await context.call('PUT', url, body);
    expect(reads).toContain(`GET ${path}`);
    const read = await api.call('GET', recordAt(url));
    const inBody = wholeDocuments.includes(path) ? undefined : read.headers['etag'];
    expect([path, quoted(read.body.etag)]).toEqual([path, inBody]);
    const list = path.replace(/\/\{\w+\}$/, '');
    if (list === path || !reads.includes(`GET ${list}`)) continue;
    const listed: any[] = (await api.call('GET', list)).body;
    const same = ({ id, name }: any) => (id ?? name) === (read.body.id ?? read.body.name);
    expect([path, listed.find(same)?.etag]).toEqual([path, read.body.etag]);
  }
}, 60_000);

const quoted = (tag: string | undefined): string | undefined =>
  tag === undefined ? undefined : `"${tag}"`;

test('statistics that change without an edit do not change the tag', async () => {
  const graph = { nodes: [{ id: 'a', kind: 'agent', mock: {} }], edges: [] };
  const { id } = await context.call('POST', '/api/workflows', { name: 'x', graph });
  const budget = await context.call('POST', '/api/budgets', {
    name: 'x',
    limit_usd: 5,
    reservation_estimate_usd: 1,
  });
  const urls = [`/api/workflows/${id}`, `/api/budgets/${budget.id}`];
  const look = () => Promise.all(urls.map((url) => api.call('GET', url)));
  const before = await look();
  await context.call('POST', `/api/workflows/${id}/runs`, {});
  const after = await look();
  expect(after[0]!.body.stats).not.toEqual(before[0]!.body.stats);
  expect(after[1]!.body.status).not.toEqual(before[1]!.body.status);
  expect(after.map(({ headers }) => headers['etag'])).toEqual(
    before.map(({ headers }) => headers['etag']),
  );
});

describe('of several concurrent changes with the same tag', () => {
  const ROUNDS = 8;
  const settings: Record<string, (n: number) => object> = {
    '/api/workspace': (n) => ({ name: `Name ${n}` }),
    '/api/workspace/policies': (n) => ({ model_allowlist: [`model-${n}`] }),
    '/api/workspace/prices': (n) => ({
      prices: [{ model: 'x/y', input_usd_per_million: n, output_usd_per_million: n }],
    }),
  };
  const made: Record<string, [create: object, change: (n: number) => object]> = {
    '/api/budgets': [{ name: 'x', limit_usd: 1 }, (n) => ({ limit_usd: n + 2 })],
    '/api/workflows': [{ name: 'x' }, (n) => ({ name: `n${n}` })],
    '/api/templates': [{ name: 'x', graph: { nodes: [], edges: [] } }, (n) => ({ name: `n${n}` })],
    '/api/tools': [
      { name: 'raced', endpoint_url: 'http://127.0.0.1:9/' },
      (n) => ({ label: `n${n}` }),
    ],
    '/api/data/feeds': [{ name: 'x' }, (n) => ({ name: `n${n}` })],
    '/api/data/sources': [{ name: 'x', type: 'portal' }, (n) => ({ name: `n${n}` })],
  };

  test('exactly one succeeds, across processes', async () => {
    const other = await api.another();
    const changes: [url: string, change: (n: number) => object][] = Object.entries(settings);
    for (const [url, [body, change]] of Object.entries(made)) {
      changes.push([`${url}/${(await context.call('POST', url, body)).id}`, change]);
    }
    const { id: workflow_id } = await context.call('POST', '/api/workflows', { name: 'x' });
    const { id } = await context.call('POST', '/api/schedules', { workflow_id, cron: '@yearly' });
    changes.push([`/api/schedules/${id}`, (n) => ({ name: `n${n}` })]);
    const triggers = `/api/workflows/${workflow_id}/triggers`;
    const trigger = await context.call('POST', triggers, { event: 'x.happened' });
    const limit = (n: number) => ({ concurrency: { limit: n + 1 } });
    changes.push([`/api/workflows/${workflow_id}/limits`, limit]);
    changes.push([`/api/triggers/${trigger.id}`, (n) => ({ match: `event.data == ${n}` })]);
    let n = 0;
    for (const [url, change] of changes) {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { etag } = (await api.call('GET', url)).headers;
        const answers = await Promise.all(
          [api.call, other.call, api.call].map((call) => {
            n += 1;
            return call('PUT', url, change(n), { 'if-match': String(etag) });
          }),
        );
        const statuses = answers.map(({ status }) => status).sort();
        expect([url, statuses]).toEqual([url, [200, 412, 412]]);
      }
    }
    await other.app.close();
  }, 120_000);
});
