import { describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { bearer, CALLBACK, newVerifier, useAuthorizations } from './authorization-stage.ts';

const stage = useAuthorizations();

const exchange = (form: Record<string, string | undefined>) => stage.post('/api/oauth/token', form);
const use = async (token: string) => (await stage.callTool(token, 'get_usage')).status;
/** The code with which the service closes a stream. */
const streamCode = (token: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${stage.apiUrl.replace('http', 'ws')}/api/stream?token=${token}`);
    socket.once('close', resolve);
    socket.once('error', reject);
  });
const lastAction = () =>
  stage.engine.db.oneFirst(
    sql.type(z.object({ action: z.string() }))`
      SELECT action FROM audit_log WHERE target_type = 'authorization' ORDER BY seq DESC LIMIT 1`,
  );

describe('a code', () => {
  test('is exchanged for tokens that work for the member, and only there', async () => {
    const form = await stage.codeFor(await stage.person('editor'));
    const { status, body, headers } = await exchange(form);
    expect([status, body]).toEqual([
      200,
      {
        access_token: expect.stringMatching(/^mcpa_[\w-]{43}$/),
        token_type: 'Bearer',
        expires_in: 3_600,
        refresh_token: expect.stringMatching(/^mcpr_[\w-]{43}$/),
        scope: 'view run edit',
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(await use(body.access_token)).toBe(200);
  });

  test.each<[string, Record<string, string | undefined>, string]>([
    ['another verifier', { code_verifier: newVerifier() }, 'invalid_grant'],
    ['no verifier', { code_verifier: undefined }, 'invalid_request'],
    ['a verifier that is too short', { code_verifier: 'short' }, 'invalid_request'],
    ['another address', { redirect_uri: `${CALLBACK}/other` }, 'invalid_grant'],
    [
      'another port of the address',
      { redirect_uri: 'http://127.0.0.1:1/callback' },
      'invalid_grant',
    ],
    ['no address', { redirect_uri: undefined }, 'invalid_request'],
    ['another client', { client_id: 'client_other' }, 'invalid_grant'],
    ['another resource', { resource: 'https://other.example/api/mcp' }, 'invalid_target'],
    ['a resource with a slash', { resource: 'SLASH' }, 'invalid_target'],
    ['another code', { code: 'mcpc_unknown' }, 'invalid_grant'],
    ['another grant type', { grant_type: 'password' }, 'unsupported_grant_type'],
    ['no grant type', { grant_type: undefined }, 'invalid_request'],
  ])('is refused with %s, and still works for its client', async (_what, change, error) => {
    const form = await stage.codeFor(await stage.person());
    const changed = change['resource'] === 'SLASH' ? { resource: `${stage.mcpUrl}/` } : change;
    const refused = await exchange({ ...form, ...changed });
    expect([refused.status, refused.body.error]).toEqual([400, error]);
    expect(refused.body.error_description).toMatch(/\S/);
    expect((await exchange(form)).status).toBe(200);
  });

  test('works once: a second use ends what the first one got', async () => {
    const form = await stage.codeFor(await stage.person());
    const { access_token: token } = (await exchange(form)).body;
    expect(await use(token)).toBe(200);
    const again = await exchange(form);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect(await use(token)).toBe(401);
    expect(await lastAction()).toBe('authorization_reuse');
  });

  test('of two exchanges at the same time, at most one succeeds, and its tokens end', async () => {
    const form = await stage.codeFor(await stage.person());
    const both = await Promise.all([exchange(form), exchange(form)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
    const won = both.find(({ status }) => status === 200);
    expect(await use(won?.body.access_token)).toBe(401);
  });

  test('ends after a minute', async () => {
    const form = await stage.codeFor(await stage.person());
    const left = await stage.engine.db.oneFirst(sql.type(z.object({ left: z.number() }))`
      SELECT round(extract(epoch FROM expires_at - now()))::int AS left FROM authorization_codes
      ORDER BY expires_at DESC LIMIT 1`);
    expect(left).toBeGreaterThan(30);
    expect(left).toBeLessThanOrEqual(60);
    await stage.engine.db.query(sql.unsafe`UPDATE authorization_codes SET expires_at = now()`);
    expect((await exchange(form)).body.error).toBe('invalid_grant');
  });

  test('is stored only as a hash, as are tokens', async () => {
    const form = await stage.codeFor(await stage.person());
    const { body } = await exchange(form);
    const rows = await stage.engine.db.any(sql.type(z.object({ row: z.string() }))`
      SELECT to_jsonb(c)::text AS row FROM authorization_codes c
      UNION ALL SELECT to_jsonb(t)::text FROM authorization_tokens t
      UNION ALL SELECT to_jsonb(l)::text FROM audit_log l`);
    const all = rows.map(({ row }) => row).join('\n');
    for (const secret of [form['code'], body.access_token, body.refresh_token]) {
      expect(all).not.toContain(secret.slice(5));
    }
  });
});

describe('the token endpoint', () => {
  test('refuses a client that authenticates, a repeated parameter and a body that is no form', async () => {
    const form = await stage.codeFor(await stage.person());
    const withSecret = await stage.post('/api/oauth/token', form, { authorization: 'Basic eDp5' });
    expect([withSecret.status, withSecret.body.error]).toEqual([401, 'invalid_client']);
    const twice = await fetch(`${stage.apiUrl}/api/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=authorization_code&code=a&code=b',
    });
    expect([twice.status, await twice.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'code is given more than once' },
    ]);
    const text = await fetch(`${stage.apiUrl}/api/oauth/token`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'x',
    });
    const large = await stage.post('/api/oauth/token', { ...form, more: 'x'.repeat(40_000) });
    expect([large.status, large.body.error_description]).toEqual([
      413,
      'The body is larger than 32 kB',
    ]);
    expect(text.status).toBe(415);
    expect(await text.json()).toMatchObject({ error: 'invalid_request' });
    expect((await exchange(form)).status).toBe(200);
  });
});

describe('a refresh', () => {
  const refresh = (token: string, clientId: string, change = {}) =>
    exchange({ grant_type: 'refresh_token', refresh_token: token, client_id: clientId, ...change });
  /** Makes what happened before count as earlier than the time in which a refresh can be repeated. */
  const laterOn = () =>
    stage.engine.db.query(sql.unsafe`
      UPDATE authorization_tokens SET used_at = used_at - interval '11 seconds' WHERE used_at IS NOT NULL`);

  test('replaces both tokens, and keeps the earlier access token until it expires', async () => {
    const { access, refresh: token, clientId } = await stage.tokensFor(await stage.person());
    const { status, body } = await refresh(token, clientId);
    expect(status).toBe(200);
    expect(body.refresh_token).not.toBe(token);
    expect([await use(access), await use(body.access_token)]).toEqual([200, 200]);
    expect((await refresh(body.refresh_token, clientId)).status).toBe(200);
  });

  test('of two at the same time, both get the same tokens, and the authorization continues', async () => {
    const { refresh: token, clientId } = await stage.tokensFor(await stage.person());
    const [one, other] = await Promise.all([refresh(token, clientId), refresh(token, clientId)]);
    expect([one.status, other.status]).toEqual([200, 200]);
    expect(other.body.access_token).toBe(one.body.access_token);
    expect(other.body.refresh_token).toBe(one.body.refresh_token);
    expect((await refresh(one.body.refresh_token, clientId)).status).toBe(200);
  });

  test('repeated later ends the authorization with all of its tokens', async () => {
    const { access, refresh: token, clientId } = await stage.tokensFor(await stage.person());
    const { body } = await refresh(token, clientId);
    await laterOn();
    expect((await refresh(token, clientId)).body.error).toBe('invalid_grant');
    expect([await use(access), await use(body.access_token)]).toEqual([401, 401]);
    expect((await refresh(body.refresh_token, clientId)).body.error).toBe('invalid_grant');
    expect(await lastAction()).toBe('authorization_reuse');
  });

  test('repeated after the new token was used ends the authorization, however soon', async () => {
    const { refresh: token, clientId } = await stage.tokensFor(await stage.person());
    const { body } = await refresh(token, clientId);
    const { body: next } = await refresh(body.refresh_token, clientId);
    expect((await refresh(token, clientId)).body.error).toBe('invalid_grant');
    expect(await use(next.access_token)).toBe(401);
  });

  test.each<[string, Record<string, string>, string]>([
    ['for another client', { client_id: 'client_other' }, 'invalid_grant'],
    ['for another resource', { resource: 'https://other.example/' }, 'invalid_target'],
    ['for more than was granted', { scope: 'view run decide' }, 'invalid_scope'],
  ])('is refused %s, and changes nothing', async (_what, change, error) => {
    const { refresh: token, clientId } = await stage.tokensFor(await stage.person());
    expect((await refresh(token, clientId, change)).body.error).toBe(error);
    expect((await refresh(token, clientId)).status).toBe(200);
  });

  test('can name less than was granted, and scopes that are unknown', async () => {
    const { refresh: token, clientId } = await stage.tokensFor(await stage.person(), 'view run');
    const less = await refresh(token, clientId, { scope: 'view offline_access' });
    expect([less.status, less.body.scope]).toEqual([200, 'view run']);
    const unknown = { scope: 'offline_access' };
    expect((await refresh(less.body.refresh_token, clientId, unknown)).status).toBe(200);
  });

  test('does not accept an access token, nor does a call accept a refresh token', async () => {
    const { access, refresh: token, clientId } = await stage.tokensFor(await stage.person());
    expect((await refresh(access, clientId)).body.error).toBe('invalid_grant');
    expect(await use(token)).toBe(401);
  });

  test('ends after thirty days', async () => {
    const { refresh: token, clientId } = await stage.tokensFor(await stage.person());
    await stage.engine.db.query(sql.unsafe`
      UPDATE authorization_tokens SET expires_at = expires_at - interval '30 days'`);
    expect((await refresh(token, clientId)).body.error).toBe('invalid_grant');
  });
});

describe('a revocation by the client', () => {
  test.each(['access', 'refresh'] as const)('with its %s token ends both', async (kind) => {
    const tokens = await stage.tokensFor(await stage.person());
    const form = { token: tokens[kind], client_id: tokens.clientId };
    expect((await stage.post('/api/oauth/revoke', form)).status).toBe(200);
    expect(await use(tokens.access)).toBe(401);
    const form2 = { refresh_token: tokens.refresh, client_id: tokens.clientId };
    expect((await exchange({ grant_type: 'refresh_token', ...form2 })).status).toBe(400);
    expect(await lastAction()).toBe('authorization_revoke');
  });

  test('by another client has no effect, and says the same', async () => {
    const tokens = await stage.tokensFor(await stage.person());
    const form = { token: tokens.access, client_id: 'client_other' };
    expect((await stage.post('/api/oauth/revoke', form)).status).toBe(200);
    expect(await use(tokens.access)).toBe(200);
  });
});

const probes = ['/api/health', '/api/ready'];

describe('an access token', () => {
  test('is 401 on every other route, and on streams', async () => {
    const { access } = await stage.tokensFor(await stage.person());
    const { paths } = (await stage.send('GET', '/api/openapi.json')).body as { paths: object };
    const open = new Set<string>();
    let walked = 0;
    for (const [path, methods] of Object.entries<Record<string, { security?: unknown[] }>>(
      paths as never,
    )) {
      for (const [method, operation] of Object.entries(methods)) {
        if (operation.security?.length === 0 || probes.includes(path)) {
          open.add(path);
          continue;
        }
        if (path === '/api/mcp') continue;
        const url = path.replaceAll(/\{[^}]+\}/g, 'x');
        const body = method === 'get' || method === 'delete' ? undefined : {};
        const { status } = await stage.send(method.toUpperCase(), url, body, bearer(access));
        expect({ method, path, status }).toEqual({ method, path, status: 401 });
        walked += 1;
      }
    }
    expect(walked).toBeGreaterThan(150);
    expect(
      [...open].every((path) => /^\/api\/(auth|decide|health|ready|hooks|callbacks)/.test(path)),
    ).toBe(true);
    const { paths: data } = (await stage.send('GET', '/v1/openapi.json')).body as { paths: object };
    for (const path of Object.keys(data)) {
      const url = path.replaceAll(/\{[^}]+\}/g, 'x');
      const { status } = await stage.send('GET', url, undefined, bearer(access));
      expect([401, 404, 405]).toContain(status);
    }
    expect(await streamCode(access)).toBe(4401);
    expect(await use(access)).toBe(200);
  });

  test('gets 405 for a stream at its own route, as every other credential does', async () => {
    const { access } = await stage.tokensFor(await stage.person());
    const { status } = await stage.send('GET', '/api/mcp', undefined, bearer(access));
    expect(status).toBe(405);
  });

  test('has what its member has now: less after a lower role, nothing after a removal', async () => {
    const admin = await stage.person('admin');
    const person = await stage.person('editor');
    const { access } = await stage.tokensFor(person);
    const workflow = await stage.engine.define({
      nodes: [{ id: 'a', kind: 'agent', prompt: 'x' }],
      edges: [],
    } as never);
    const run = async () =>
      (await stage.callTool(access, 'run_workflow', { workflow })).body.result;
    expect((await run()).isError).not.toBe(true);
    await stage.send('PUT', `/api/members/${person.id}`, { role: 'viewer' }, admin.session);
    expect((await run()).content[0].text).toBe(
      "This action requires the 'run_workflows' permission",
    );
    await stage.send('DELETE', `/api/members/${person.id}`, undefined, admin.session);
    expect(await use(access)).toBe(401);
  });

  test('never has what was not granted, even if its member has it', async () => {
    const person = await stage.person('admin');
    const { access } = await stage.tokensFor(person, 'view');
    const refused = await stage.callTool(access, 'run_workflow', { workflow: 'x' });
    expect(refused.body.result.content[0].text).toBe(
      "This action requires the 'run_workflows' permission",
    );
    expect(await use(access)).toBe(200);
  });
});
