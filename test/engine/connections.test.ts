import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createSealer } from '#shared/crypto/sealing.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { NodeError } from '#shared/node-error.ts';
import {
  type ConnectionTokens,
  createConnectionTokens,
} from '#shared/operations/connections/tokens.ts';
import { resealEverything } from '#shared/operations/secrets/reseal.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { CLIENT } from '#test/fakes/authorization-server.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { historyTexts, rowTexts } from '#test/support/stored-texts.ts';

const { engine, call } = useEngineApi({ env: CONNECTION_ENV });

let world: ConnectionWorld;
beforeAll(async () => {
  world = await startConnectionWorld(call);
});
afterEach(() => world.server.intercept(undefined));
afterAll(() => world.close());

const NO_VALUES = { places: [], sealed: new Map(), addresses: new Map() };
let number = 0;
const nextName = () => `C${(number += 1)}`;
async function signedIn(change: object = {}): Promise<{ name: string; id: string }> {
  const name = nextName();
  const id = await world.connect(name, change);
  expect(await world.signIn(id)).toContain('result=connected');
  return { name, id };
}
const graph = (node: object) =>
  ({ nodes: [node], edges: [] }) as Parameters<typeof engine.start>[0];
const statusOf = async (id: string) => (await call('GET', `/api/connections/${id}`)).body.status;
const stepOf = async (runId: string) => (await call('GET', `/api/runs/${runId}`)).body.steps[0];
const expire = (id: string, refreshable = true) =>
  engine.db.query(sql.unsafe`
    UPDATE connection_tokens SET expires_at = now() - interval '1 s', refresh_at = now() - interval '1 s',
      sealed_refresh = CASE WHEN ${refreshable}::boolean THEN sealed_refresh END
    WHERE connection_id = ${id}`);
const lastGrants = (since: number) => world.server.granted.slice(since).map(({ grant }) => grant);

describe('a step with a connection', () => {
  test('sends the token for an imported operation, and never shows it', async () => {
    const { name } = await signedIn();
    const { body } = await call('POST', '/api/tools/import', {
      openapi: {
        openapi: '3.1.0',
        info: { title: 'Account', version: '1' },
        servers: [{ url: world.target.url }],
        paths: { '/me': { get: { operationId: `me-${name}`, responses: {} } } },
      },
      auth: { connection: name, as: 'bearer' },
    });
    expect(body).toMatchObject({ created: [{ operation: `me-${name}` }] });
    const tool_name = `custom:${body.created[0].name}`;
    const node = { id: 'ask', kind: 'tool', tool_name, params: {} };
    const run = await engine.ended(await engine.start(graph(node)));
    expect(run.error).toBeNull();
    const token = world.tokens().at(-1)!;
    expect(await world.server.accepts(token)).toBe(true);
    expect(JSON.stringify(await stepOf(run.id))).toContain(`"authorization":"***"`);
    expect(JSON.stringify(await stepOf(run.id))).not.toContain(token);
  });

  test('sends the token, and its result and record do not contain it', async () => {
    const { name, id } = await signedIn();
    const run = await engine.ended(
      await engine.start(graph(withToken(name, `${world.target.url}/me`))),
    );
    expect(run.error).toBeNull();
    const token = world.tokens().at(-1)!;
    expect(await world.server.accepts(token)).toBe(true);
    const step = await stepOf(run.id);
    expect(step.input.headers.Authorization).toBe(`Bearer {connections.${name}}`);
    expect(run.output).toMatchObject({
      ask: { body: { headers: { authorization: '***' } } },
    });
    const { body } = await call('GET', `/api/connections/${id}`);
    expect(body.last_used_at).not.toBeNull();
    const places = [
      ...(await rowTexts(engine.db)),
      ...(await historyTexts(engine.deps.temporal)),
      JSON.stringify(run),
      JSON.stringify(body),
    ];
    expect(places.filter((text) => text.includes(token))).toEqual([]);
  });

  test('refreshes a token before it ends, and keeps the next refresh token', async () => {
    const { name, id } = await signedIn();
    const node = withToken(name, `${world.target.url}/me`);
    for (let round = 0; round < 3; round += 1) {
      await expire(id);
      const since = world.server.granted.length;
      expect((await engine.ended(await engine.start(graph(node)))).status).toBe('success');
      expect(lastGrants(since)).toEqual(['refresh_token']);
    }
    expect(new Set(world.tokens().slice(-3)).size).toBe(3);
  });

  test('keeps its refresh token where a service issues no other', async () => {
    const { name, id } = await signedIn();
    await expire(id);
    world.server.intercept((response) => {
      world.server.intercept(undefined);
      const access_token = 'a-token-that-is-not-valid';
      sendJson(response, 200, { access_token, token_type: 'bearer', expires_in: 3_600 });
    });
    const run = await engine.ended(
      await engine.start(graph(withToken(name, `${world.target.url}/me`))),
    );
    expect([run.status, await statusOf(id)]).toEqual(['success', 'connected']);
    expect(world.tokens().at(-2)).toBe('a-token-that-is-not-valid');
  });

  test('refreshes a token once that the service no longer accepts', async () => {
    const { name } = await signedIn();
    const node = withToken(name, `${world.target.url}/me`);
    await engine.ended(await engine.start(graph(node)));
    await world.server.endAccess();
    const since = world.server.granted.length;
    const run = await engine.ended(await engine.start(graph(node)));
    expect([run.status, lastGrants(since)]).toEqual(['success', ['refresh_token']]);
    const [refused, accepted] = world.tokens().slice(-2);
    expect(refused).not.toBe(accepted);
  });

  test('fails as the service says if a new token is not accepted either', async () => {
    const refusing = await startHttpServer((_request, response) =>
      sendJson(response, 401, { error: 'scope' }),
    );
    const { name } = await signedIn({ allowed_hosts: [`127.0.0.1:${refusing.port}`] });
    const since = world.server.granted.length;
    const run = await engine.ended(
      await engine.start(graph(withToken(name, refusing.url, { retry: { max_attempts: 1 } }))),
    );
    expect([run.status, run.error]).toEqual(['failed', expect.stringContaining('answered 401')]);
    expect([refusing.seen.length, lastGrants(since)]).toEqual([2, ['refresh_token']]);
    await refusing.close();
  });

  test('fails with the kind connection after a revocation, and succeeds after a sign-in and a resume', async () => {
    const { name, id } = await signedIn();
    await world.server.revokeAll();
    await expire(id);
    const node = withToken(name, `${world.target.url}/me`, {
      retry: { max_attempts: 3, initial_interval_seconds: 1, backoff: 1 },
    });
    const since = world.server.granted.length;
    const runId = await engine.start(graph(node));
    const run = await engine.until(runId, ['failed']);
    expect(run.error).toContain(
      `Sign in to the connection '${name}' again at http://ops.test/connections`,
    );
    expect([await statusOf(id), lastGrants(since)]).toEqual(['needs_sign_in', ['refresh_token']]);
    const step = await stepOf(runId);
    expect([step.error_kind, step.attempts.length]).toEqual(['connection', 1]);
    expect(await world.signIn(id)).toContain('result=connected');
    await engine.resume(runId);
    expect((await engine.ended(runId)).status).toBe('success');
  });

  test.each<[string, (name: string) => Promise<void>, string]>([
    ['nobody has signed in', async () => undefined, 'Sign in to the connection'],
    [
      'it was deleted',
      async (name) => {
        const { body } = await call('GET', '/api/connections');
        const { id } = body.find((each: { name: string }) => each.name === name);
        await call('DELETE', `/api/connections/${id}`);
      },
      'There is no connection',
    ],
  ])('fails at once when %s', async (_what, change, error) => {
    const name = nextName();
    await world.connect(name);
    const workflow = await engine.define(graph(withToken(name, `${world.target.url}/me`)));
    const runId = await engine.trigger(workflow);
    await engine.until(runId, ['failed']);
    await change(name);
    await engine.resume(runId);
    await engine.carriedOut(runId);
    expect((await engine.until(runId, ['failed'])).error).toContain(error);
  });

  test('tries again when the token endpoint fails for a moment', async () => {
    const { name, id } = await signedIn();
    await expire(id);
    let failures = 0;
    world.server.intercept((response) => {
      failures += 1;
      response.writeHead(503).end();
      if (failures === 2) world.server.intercept(undefined);
    });
    const node = withToken(name, `${world.target.url}/me`, {
      retry: { max_attempts: 3, initial_interval_seconds: 0.1, backoff: 1 },
    });
    const run = await engine.ended(await engine.start(graph(node)));
    expect([run.status, failures, await statusOf(id)]).toEqual(['success', 2, 'connected']);
  });

  test.each([400, 401])(
    'does not ask for a sign-in when the client is refused with %s',
    async (status) => {
      const { name, id } = await signedIn();
      await expire(id);
      world.server.intercept((response) => sendJson(response, status, { error: 'invalid_client' }));
      const run = await engine.ended(await engine.start(graph(withToken(name, world.target.url))));
      expect(run.error).toContain('refuses to issue a token (invalid_client)');
      expect(
        await engine.db.any(sql.unsafe`
      SELECT needs_sign_in FROM connection_tokens WHERE connection_id = ${id}`),
      ).toEqual([{ needs_sign_in: false }]);
    },
  );

  test('gets a token of the client itself when it needs one', async () => {
    const name = nextName();
    const id = await world.connect(name, {
      grant: 'client_credentials',
      scopes: ['read'],
      authorization_params: {},
    });
    const since = world.server.granted.length;
    const node = withToken(name, `${world.target.url}/me`);
    for (let round = 0; round < 2; round += 1) {
      expect((await engine.ended(await engine.start(graph(node)))).status).toBe('success');
    }
    expect([await statusOf(id), lastGrants(since)]).toEqual(['connected', ['client_credentials']]);
    await world.server.endAccess();
    expect((await call('POST', `/api/connections/${id}/authorize`)).status).toBe(409);
  });

  test('sends no token to a host that a redirect names', async () => {
    const away = await startHttpServer((_request, response) => sendJson(response, 200, {}));
    const { name, id } = await signedIn();
    const home = await startHttpServer(
      (_request, response) =>
        void response.writeHead(307, { location: `${away.url}/caught` }).end(),
    );
    const { client_secret } = CLIENT;
    const hosts = { allowed_hosts: [`127.0.0.1:${home.port}`], client_secret };
    await call('PUT', `/api/connections/${id}`, hosts);
    await world.signIn(id);
    const node = {
      ...withToken(name, home.url),
      params: { url: home.url, method: 'POST', body: `{connections.${name}}` },
    };
    const run = await engine.ended(await engine.start(graph(node)));
    expect(run.error).toContain(
      `redirects to where the token of the connection '${name}' may not be sent`,
    );
    expect(away.seen).toEqual([]);
    await Promise.all([home.close(), away.close()]);
  });
});

describe('twenty steps at once', () => {
  test('request one refresh', async () => {
    const { name, id } = await signedIn();
    const nodes = Array.from({ length: 20 }, (_, at) =>
      withToken(name, `${world.target.url}/${at}`, { id: `ask${at}` }),
    );
    const workflow = await engine.define({ nodes, edges: [] });
    await expire(id);
    const since = world.server.granted.length;
    const seen = world.tokens().length;
    const run = await engine.ended(await engine.trigger(workflow));
    expect([run.error, lastGrants(since)]).toEqual([null, ['refresh_token']]);
    expect([world.tokens().length - seen, new Set(world.tokens().slice(seen)).size]).toEqual([
      20, 1,
    ]);
  });

  test('request one refresh in three processes, also after a 401', async () => {
    const { name, id } = await signedIn();
    const { config } = engine.deps;
    const egress = createEgress({ allow: ['127.0.0.0/8'] });
    const deps = { sealer: createSealer(config), egress, publicUrl: 'http://ops.test' };
    const databases = await Promise.all(
      Array.from({ length: 3 }, () => connectDatabase(engine.databaseUrl, { maxPoolSize: 2 })),
    );
    const processes = databases.map((db) => createConnectionTokens({ db, ...deps }));
    const wanted = {
      workspaceId: engine.actor.workspaceId,
      names: [name],
      account: async () => ({ missing: 'no one' }),
    };
    const send = async (process: ConnectionTokens) =>
      process.use(wanted, NO_VALUES, async ({ tokens }) => {
        const { value } = tokens!.get(name)!;
        if (await world.server.accepts(value)) return value;
        throw new NodeError('not accepted', { status: 401 });
      });
    const sendAll = () =>
      Promise.all(Array.from({ length: 20 }, (_, at) => send(processes[at % 3]!)));
    for (const change of [() => expire(id), () => world.server.endAccess()]) {
      await sendAll();
      await change();
      const since = world.server.granted.length;
      const values = await sendAll();
      expect([new Set(values).size, lastGrants(since)]).toEqual([1, ['refresh_token']]);
    }
    await egress.close();
    await Promise.all(databases.map((db) => db.end()));
  });
});

test('a token that ends while a run waits is refreshed when the run continues', async () => {
  const { name, id } = await signedIn();
  const first = withToken(name, `${world.target.url}/first`, { id: 'first' });
  const second = withToken(name, `${world.target.url}/second`, { id: 'second' });
  const workflow = await engine.define({
    nodes: [first, { id: 'gate', kind: 'human_gate' }, second],
    edges: [
      { source: 'first', target: 'gate' },
      { source: 'gate', target: 'second' },
    ],
  });
  const runId = await engine.trigger(workflow);
  await engine.until(runId, ['paused']);
  await expire(id);
  await world.server.endAccess();
  await engine.approve(runId);
  expect((await engine.ended(runId)).error).toBeNull();
});

test('a token that cannot be refreshed ends with a sign-in, and its status says so', async () => {
  const { name, id } = await signedIn();
  await expire(id, false);
  expect(await statusOf(id)).toBe('needs_sign_in');
  const run = await engine.ended(await engine.start(graph(withToken(name, world.target.url))));
  expect(run.error).toContain(`Sign in to the connection '${name}' again`);
});

describe('a change that leads elsewhere', () => {
  test('deletes the tokens, so that no other host gets them', async () => {
    const { name, id } = await signedIn();
    const away = await startHttpServer((_request, response) => sendJson(response, 200, {}));
    const path = `/api/connections/${id}`;
    const body = { allowed_hosts: [`127.0.0.1:${away.port}`], client_secret: CLIENT.client_secret };
    expect((await call('PUT', path, body)).body.status).toBe('not_signed_in');
    const run = await engine.ended(await engine.start(graph(withToken(name, away.url))));
    expect([run.error, away.seen]).toEqual([expect.stringContaining('Sign in'), []]);
    await away.close();
  });

  test('keeps them for other scopes, and for fewer hosts', async () => {
    const { id } = await signedIn({ allowed_hosts: ['a.example.com', 'b.example.com'] });
    const path = `/api/connections/${id}`;
    const body = { scopes: ['openid'], allowed_hosts: ['a.example.com'] };
    expect((await call('PUT', path, body)).body.status).toBe('connected');
  });
});

test('a new encryption key opens client secrets, tokens and open sign-ins', async () => {
  const { name, id } = await signedIn();
  await call('POST', `/api/connections/${id}/authorize`);
  const { encryptionKey } = engine.deps.config;
  const another = 'another key of this test, long enough';
  const rotate = (to: string, from: string) =>
    resealEverything(engine.db, createSealer({ encryptionKey: to, previousEncryptionKey: from })!);
  const totals = (await rotate(another, encryptionKey!)).filter(({ table }) =>
    table.includes('connections'),
  );
  expect(totals.map(({ resealed, unreadable }) => [resealed > 0, unreadable])).toEqual([
    [true, 0],
    [true, 0],
    [true, 0],
  ]);
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const sealer = createSealer({ encryptionKey: another });
  const { db, actor } = engine;
  const tokens = createConnectionTokens({ db, sealer, egress, publicUrl: 'http://ops.test' });
  const { workspaceId } = actor;
  const account = async () => ({ missing: 'no one' });
  const use = () =>
    tokens.use({ workspaceId, names: [name], account }, NO_VALUES, async (values) =>
      world.server.accepts(values.tokens!.get(name)!.value),
    );
  expect(await use()).toBe(true);
  await expire(id);
  expect(await use()).toBe(true);
  await egress.close();
  await rotate(encryptionKey!, another);
  const run = await engine.ended(await engine.start(graph(withToken(name, world.target.url))));
  expect(run.error).toBeNull();
});

test('a disconnect deletes the tokens', async () => {
  const { id } = await signedIn();
  const ended = await call('POST', `/api/connections/${id}/disconnect`);
  expect([ended.status, ended.body.status]).toEqual([200, 'not_signed_in']);
});
