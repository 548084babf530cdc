import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHttpRequest } from '#activities/tools/http-request.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { secretPlace } from '#shared/db/secrets/secrets.ts';
import { renderWithSecrets } from '#shared/graph/expression/secret-template.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { toolCall } from '#test/fakes/node-call.ts';
import { echoed, gives, startSecretWorld, VALUE } from '#test/support/secret-world.ts';

// An author who can use a secret, but never saw it, tries to get it out. The far side repeats what it receives in every
// form that a server might, and another server plays the attacker's.

let world: Awaited<ReturnType<typeof startSecretWorld>>;
let call: typeof world.call;
let run: typeof world.run;
let refusals: typeof world.refusals;
let home: typeof world.home;
let away: typeof world.away;
beforeAll(async () => {
  world = await startSecretWorld();
  ({ call, run, refusals, home, away } = world);
}, 120_000);
afterAll(() => world.close());

const auth = { Authorization: 'Bearer {secrets.CANARY}' };
const http = (params: object) => ({ id: 'a', kind: 'tool', tool_name: 'http_request', params });

test('a secret reaches its host in headers, query and body', async () => {
  home.seen.length = 0;
  const sent = await run(
    http({
      url: `${home.url}/x`,
      method: 'POST',
      headers: auth,
      query: { key: '{secrets.CANARY}' },
      body: { token: 'k={secrets.CANARY}', list: ['{secrets.CANARY}'] },
    }),
  );
  expect(sent.status).toBe('success');
  const [seen] = home.seen;
  expect(seen?.headers['authorization']).toBe(`Bearer ${VALUE}`);
  expect(new URL(seen!.url, home.url).searchParams.get('key')).toBe(VALUE);
  expect(JSON.parse(seen!.body)).toEqual({ token: `k=${VALUE}`, list: [VALUE] });
  expect(gives(sent.text)).toEqual([]);
  // Its name stays where its value was.
  expect(sent.text).toContain('Bearer {secrets.CANARY}');
  const [listed] = (await call('GET', '/api/secrets')).body;
  expect(listed).toEqual({
    name: 'CANARY',
    allowed_hosts: [`127.0.0.1:${home.port}`],
    description: '',
    created_at: expect.any(String),
    updated_at: expect.any(String),
    last_used_at: expect.any(String),
    etag: expect.any(String),
  });
});

describe('a result that repeats the value is redacted', () => {
  test.each(Object.keys(echoed))('as %s, in body and headers', async (form) => {
    const given = await run(http({ url: `${home.url}/echo/${form}`, headers: auth }));
    expect([given.status, gives(given.text)]).toEqual(['success', []]);
  });

  test.each(['plain', 'base64-1', 'percent', 'json-unicode'])(
    'as %s, in an error',
    async (form) => {
      const given = await run(http({ url: `${home.url}/echo/${form}/400`, headers: auth }));
      expect([given.status, gives(given.text)]).toEqual(['failed', []]);
      expect(given.error).toContain('answered 400: before');
    },
  );

  test('in keys and values of JSON', async () => {
    const given = await run(http({ url: `${home.url}/json`, headers: auth }));
    expect([given.status, gives(given.text)]).toEqual(['success', []]);
  });
});

describe('the value does not go to another host', () => {
  const caught = (): string[] => gives(JSON.stringify(away.seen));
  const redirect = (status: number, params: object, query = '') =>
    run(http({ url: `${home.url}/to/${status}${query}`, ...params }));

  test.each([301, 302, 303, 307, 308])('after a redirect with %i, in a header', async (status) => {
    away.seen.length = 0;
    const followed = await redirect(status, { headers: auth });
    expect([followed.status, away.seen.length, caught()]).toEqual(['success', 1, []]);
  });

  test.each([
    ['in the body', { method: 'POST', body: { key: '{secrets.CANARY}' } }, ''],
    ['in a header that follows', { headers: { 'User-Agent': '{secrets.CANARY}' } }, ''],
    ['in an address that repeats it', { query: { copy: '{secrets.CANARY}' } }, ''],
    [
      'in a request to another name of the host',
      { headers: { 'User-Agent': '{secrets.CANARY}' } },
      '?host=localhost',
    ],
  ])('after a redirect, %s', async (_what, params, query) => {
    away.seen.length = 0;
    const refused = await redirect(307, params, query);
    expect([refused.status, away.seen.length, gives(refused.text)]).toEqual(['failed', 0, []]);
    expect(refused.error).toContain("redirects to where the secret 'CANARY' may not be sent");
  });

  test('named in the host of a redirect', async () => {
    const refused = await run(http({ url: `${home.url}/named`, headers: auth }));
    expect([refused.status, gives(refused.text)]).toEqual(['failed', []]);
  });

  test.each([
    ['another port', () => `${away.url}/`],
    ['another name of the host', () => `http://localhost:${home.port}/`],
    ['another name with a dot', () => `http://127.0.0.1.:${home.port}/`],
    ['another scheme and port', () => 'https://127.0.0.1/'],
  ])('at %s of the URL', async (_what, url) => {
    const codes = (await refusals(http({ url: url(), headers: auth }))).map(([code]) => code);
    // A name that URLs write the same is the same host.
    if (new URL(url()).host === `127.0.0.1:${home.port}`) return;
    expect(codes).toContain('secret_host_not_allowed');
  });

  test('a host that was removed from it since the run began gets nothing', async () => {
    away.seen.length = 0;
    await call('PUT', '/api/secrets/MOVED', {
      value: VALUE,
      allowed_hosts: [`127.0.0.1:${away.port}`],
    });
    const gate = { id: 'g', kind: 'human_gate', prompt: 'Send?' };
    const node = http({ url: `${away.url}/`, headers: { 'X-Key': '{secrets.MOVED}' } });
    const graph = { nodes: [gate, node], edges: [{ source: 'g', target: 'a' }] };
    const made = await world.define(graph);
    const started = await call('POST', `/api/workflows/${made.body.id}/runs`, {});
    await world.engine.until(started.body.id, ['paused']);
    await call('PUT', '/api/secrets/MOVED', { value: VALUE, allowed_hosts: ['api.example.com'] });
    await call('POST', `/api/runs/${started.body.id}/approve`, { approved: true });
    const ended = await world.engine.until(started.body.id, ['failed']);
    expect(ended.error).toContain(`The secret 'MOVED' may not be sent to '127.0.0.1:${away.port}'`);
    expect(away.seen).toEqual([]);
  });
});

test('a name that leads to an internal address gets nothing', async () => {
  const sealer = createSealer({ encryptionKey: 'a key of this test' })!;
  const secret = {
    workspaceId: 'ws',
    name: 'CANARY',
    hosts: ['rebind.example', `rebind.example:${home.port}`],
  };
  const sealed = sealer.seal(VALUE, secretPlace(secret));
  home.seen.length = 0;
  for (const found of [['127.0.0.1'], ['93.184.215.14', '10.0.0.1']]) {
    const egress = createEgress({ allow: [], resolve: () => Promise.resolve(found) });
    const { params, secrets } = renderWithSecrets(
      'http_request',
      { url: `http://rebind.example:${home.port}/`, headers: auth },
      {},
    );
    const call = toolCall('http_request', params, {
      secrets: {
        places: secrets,
        sealed: new Map([['CANARY', { ...secret, sealed }]]),
        addresses: new Map(),
      },
    });
    await expect(createHttpRequest(egress, sealer)(call)).rejects.toThrow('is not allowed');
    await egress.close();
  }
  expect(home.seen).toEqual([]);
});

test.each(['rows', 'logs', 'histories', 'traces', 'answers of every route that reads'] as const)(
  'the secret is nowhere in the %s',
  async (place) => {
    const texts = await world.places[place]();
    expect(texts.join('').length).toBeGreaterThan(100);
    expect(texts.filter((text) => gives(text).length > 0)).toEqual([]);
  },
);
