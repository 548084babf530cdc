import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { beside } from '#test/support/lock-waits.ts';
import { rowTexts } from '#test/support/stored-texts.ts';
import { readSignInCookie, signInCookie } from '#api/routes/ops/connections/cookie.ts';
import { useTestApi } from '#test/api/test-api.ts';
import {
  type AuthorizationServer,
  CLIENT,
  cookieOf,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';

const api = useTestApi({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
  PUBLIC_URL: 'http://ops.test',
});
const CALLBACK = 'http://ops.test/api/connections/callback';

let server: AuthorizationServer;
beforeAll(async () => {
  server = await startAuthorizationServer({ redirectUris: [CALLBACK] });
});
afterAll(() => server.close());

let number = 0;
async function create(change: object = {}): Promise<string> {
  const made = await api.call('POST', '/api/connections', {
    name: `C${(number += 1)}`,
    ...CLIENT,
    issuer: server.issuer,
    scopes: ['openid', 'offline_access', 'read'],
    authorization_params: { prompt: 'consent' },
    allowed_hosts: ['api.example.com'],
    ...change,
  });
  if (made.status !== 201) throw new Error(made.text);
  return made.body.id;
}

const begin = async (id: string, headers?: Record<string, string>) => {
  const begun = await api.call('POST', `/api/connections/${id}/authorize`, undefined, headers);
  return { begun, url: begun.body?.authorization_url as string, cookie: cookieOf(begun) };
};
/** What a browser with this cookie gets at an address of the callback. */
const arrive = async (address: string, cookie = '') => {
  const { pathname, search } = new URL(address);
  const answer = await api.call('GET', `${pathname}${search}`, undefined, { cookie });
  expect(answer.status).toBe(303);
  const target = new URL(String(answer.headers['location']));
  expect([target.origin, target.pathname]).toEqual(['http://ops.test', '/connections']);
  return { ...Object.fromEntries(target.searchParams), answer } as Record<string, unknown>;
};
const read = async (id: string) => (await api.call('GET', `/api/connections/${id}`)).body;
const expired = { result: 'error', reason: 'expired' };

describe('a sign-in', () => {
  test('does not begin for a connection that is deleted at that moment', async () => {
    const id = await create();
    const gone = sql.fragment`DELETE FROM connections WHERE id = ${id}`;
    const { begun } = await beside(api.db, gone, () => begin(id));
    expect([begun.status, begun.body]).toEqual([404, { detail: 'Connection not found' }]);
  });

  test('stores the tokens of the workspace, sealed, and shows none', async () => {
    const id = await create();
    const { begun, url, cookie } = await begin(id);
    expect(begun.headers['set-cookie']).toMatch(
      /^sign_in_sgn_\w+=[\w-]{43}; Path=\/api\/connections\/callback; Max-Age=600; HttpOnly; SameSite=Lax$/,
    );
    expect(Object.fromEntries(new URL(url).searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.client_id,
      redirect_uri: CALLBACK,
      scope: 'openid offline_access read',
      prompt: 'consent',
      code_challenge_method: 'S256',
      nonce: expect.any(String),
    });
    const back = await server.authorize(url);
    const { answer, ...shown } = await arrive(back, cookie);
    expect(shown).toEqual({ result: 'connected', connection: id });
    const { headers } = answer as { headers: Record<string, unknown> };
    expect([headers['set-cookie'], headers['cache-control']]).toEqual([
      expect.stringContaining('Max-Age=0'),
      'no-store',
    ]);
    const { body: me } = await api.call('GET', '/api/auth/me');
    expect(await read(id)).toMatchObject({
      status: 'connected',
      signed_in_by: me.id,
      expires_at: expect.any(String),
    });
    const rows = (await rowTexts(api.db)).join('\n');
    const code = new URL(back).searchParams.get('code')!;
    expect([rows.includes(code), rows.includes(CLIENT.client_secret)]).toEqual([false, false]);
    const { logs } = (await api.call('GET', '/api/audit?target_type=connection')).body;
    expect(logs[0]).toMatchObject({
      action: 'connect',
      target_id: id,
      target_name: (await read(id)).name,
      actor_id: me.id,
    });
  });

  test('counts once', async () => {
    const { url, cookie } = await begin(await create());
    const back = await server.authorize(url);
    const requests = server.granted.length;
    expect(await arrive(back, cookie)).toMatchObject({ result: 'connected' });
    expect(await arrive(back, cookie)).toMatchObject(expired);
    expect(server.granted.length).toBe(requests + 1);
  });

  test('counts once of two at the same time', async () => {
    const { url, cookie } = await begin(await create());
    const back = await server.authorize(url);
    const both = await Promise.all([arrive(back, cookie), arrive(back, cookie)]);
    expect(both.map(({ result }) => result).sort()).toEqual(['connected', 'error']);
  });

  test.each<[string, (cookie: string) => string]>([
    ['without the cookie', () => ''],
    ['with the cookie of another sign-in', (cookie) => cookie.replace(/=.*/, '=x'.repeat(20))],
  ])('does not count in another browser: %s', async (_what, change) => {
    const id = await create();
    const { url, cookie } = await begin(id);
    const back = await server.authorize(url);
    const requests = server.granted.length;
    expect(await arrive(back, change(cookie))).toMatchObject(expired);
    expect([(await read(id)).status, server.granted.length]).toEqual(['not_signed_in', requests]);
    // The browser in which it began can still finish it.
    expect(await arrive(back, cookie)).toMatchObject({ result: 'connected' });
  });

  test('does not count with another state, or with none', async () => {
    const { url, cookie } = await begin(await create());
    const back = new URL(await server.authorize(url));
    const state = back.searchParams.get('state')!;
    for (const wrong of [
      '',
      'x',
      '.',
      `${state}x`,
      `${state.split('.')[0]}.x`,
      'x'.repeat(5_000),
    ]) {
      back.searchParams.set('state', wrong);
      expect(await arrive(back.href, cookie)).toMatchObject(expired);
    }
    back.searchParams.delete('state');
    expect(await arrive(back.href, cookie)).toMatchObject(expired);
  });

  test('ends after ten minutes', async () => {
    const { url, cookie } = await begin(await create());
    const back = await server.authorize(url);
    await api.db.query(
      sql.unsafe`UPDATE connection_sign_ins SET expires_at = now() - interval '1 s'`,
    );
    expect(await arrive(back, cookie)).toMatchObject(expired);
  });

  test.each<[string, (url: URL) => void, string]>([
    ['an error', (url) => url.searchParams.set('error', 'access_denied'), 'denied'],
    ['no code', (url) => url.searchParams.delete('code'), 'denied'],
    ['another issuer', (url) => url.searchParams.set('iss', 'https://other.example.com'), 'issuer'],
    ['no issuer', (url) => url.searchParams.delete('iss'), 'issuer'],
    ['another code', (url) => url.searchParams.set('code', 'x'.repeat(43)), 'refused'],
  ])('ends without tokens with %s', async (_what, change, reason) => {
    const id = await create();
    const { url, cookie } = await begin(id);
    const right = await server.authorize(url);
    const back = new URL(right);
    change(back);
    expect(await arrive(back.href, cookie)).toMatchObject({
      result: 'error',
      reason,
      connection: id,
    });
    // A second answer comes too late, even the right one.
    expect(await arrive(right, cookie)).toMatchObject(expired);
    expect((await read(id)).status).toBe('not_signed_in');
  });

  test('ends when the connection was changed meanwhile', async () => {
    const id = await create();
    const { url, cookie } = await begin(id);
    const back = await server.authorize(url);
    const { client_secret } = CLIENT;
    const hosts = { allowed_hosts: ['b.example.com'], client_secret };
    expect((await api.call('PUT', `/api/connections/${id}`, hosts)).status).toBe(200);
    expect(await arrive(back, cookie)).toMatchObject({ result: 'error', reason: 'changed' });
    expect((await read(id)).status).toBe('not_signed_in');
  });

  test.each<[string, Parameters<AuthorizationServer['intercept']>[0], string]>([
    ['redirects', (r) => r.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(), 'refused'],
    ['fails', (r) => r.writeHead(503).end(), 'unavailable'],
    ['hangs up', (r) => r.destroy(), 'unavailable'],
    ['sends a page', (r) => r.writeHead(200).end('<html>'), 'refused'],
    ['sends no token', (r) => sendJson(r, 200, { ok: true }), 'refused'],
    [
      'sends a token that does not fit into a header',
      (r) => sendJson(r, 200, { access_token: 'with\r\nX-Header: 1', token_type: 'bearer' }),
      'refused',
    ],
    ['sends too much', (r) => void r.writeHead(200).end('x'.repeat(2_000_000)), 'refused'],
  ])('ends without tokens when the token endpoint %s', async (_what, answer, reason) => {
    const id = await create({ scopes: ['read'] });
    const { url, cookie } = await begin(id);
    const back = await server.authorize(url);
    server.intercept(answer);
    const shown = await arrive(back, cookie);
    server.intercept(undefined);
    expect(shown).toMatchObject({ result: 'error', reason });
    expect((await read(id)).status).toBe('not_signed_in');
  });
});

describe('services that deviate from the standard', () => {
  test.each<[string, object, number, string]>([
    [
      'a type of its own and a scope that is no text',
      { access_token: 'token-of-slack-0123', token_type: 'bot', scope: null, id_token: '' },
      200,
      'connected',
    ],
    ['an error with 200', { ok: false, error: 'invalid_code' }, 200, 'error'],
    [
      'seconds as text',
      { access_token: 'token-0123456', token_type: 'Bearer', expires_in: '60' },
      200,
      'connected',
    ],
  ])('with %s', async (_what, body, status, result) => {
    const token = await startHttpServer((_request, response) => sendJson(response, status, body));
    const id = await create({
      issuer: undefined,
      authorization_url: `${token.url}/authorize`,
      token_url: `${token.url}/token`,
      client_auth: 'post',
    });
    const { url, cookie } = await begin(id);
    const asked = new URL(url).searchParams;
    const back = `${asked.get('redirect_uri')}?code=abc&state=${asked.get('state')}`;
    expect(await arrive(back, cookie)).toMatchObject({ result, connection: id });
    const sent = new URLSearchParams(token.seen[0]!.body);
    expect([sent.get('client_secret'), sent.get('code_verifier')?.length]).toEqual([
      CLIENT.client_secret,
      43,
    ]);
    await token.close();
  });
});

describe('a service whose clock differs', () => {
  const seconds = () => Math.floor(Date.now() / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

  /** Signs in at a service whose ID tokens are valid for five minutes, and were issued then. */
  async function signInAt(issuedAt: number): Promise<{ result: unknown; id: string }> {
    let nonce = '';
    const service = await startHttpServer((request, response) => {
      if (request.url.startsWith('/.well-known/')) {
        const issuer = service.url;
        return sendJson(response, 200, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
        });
      }
      const claims = { iss: service.url, sub: 'a', aud: CLIENT.client_id, nonce };
      const times = { iat: issuedAt, exp: issuedAt + 300 };
      const id_token = `${part({ alg: 'RS256' })}.${part({ ...claims, ...times })}.c2ln`;
      const tokens = { access_token: 'token-0123456', token_type: 'Bearer', expires_in: 3_600 };
      return sendJson(response, 200, { ...tokens, id_token });
    });
    const id = await create({ issuer: service.url, scopes: ['openid', 'read'] });
    const { url, cookie } = await begin(id);
    const asked = new URL(url).searchParams;
    nonce = asked.get('nonce')!;
    const back = `${asked.get('redirect_uri')}?code=abc&state=${asked.get('state')}`;
    const { result } = await arrive(back, cookie);
    await service.close();
    return { result, id };
  }

  test.each([
    ['is right', 0],
    ['is an hour ahead', 3_600],
    ['is four minutes behind', -240],
    ['is nine minutes behind', -540],
  ])('signs in if it %s, and the token lasts as long as the service says', async (_what, ahead) => {
    const { result, id } = await signInAt(seconds() + ahead);
    expect(result).toBe('connected');
    const lasts = Date.parse((await read(id)).expires_at) / 1000 - seconds();
    expect(lasts).toBeGreaterThan(3_000);
    expect(lasts).toBeLessThan(3_700);
  });

  test('refuses an ID token that has ended long ago', async () => {
    const { result, id } = await signInAt(seconds() - 7_200);
    expect([result, (await read(id)).status]).toEqual(['error', 'not_signed_in']);
  });
});

describe('a mix-up of two issuers', () => {
  // The attacker's own service asks the victim to sign in elsewhere, to get the code that comes back.
  test('sends no code to another token endpoint', async () => {
    const evil = await startHttpServer((_request, response) =>
      sendJson(response, 200, { access_token: 'token-of-evil', token_type: 'bearer' }),
    );
    const honest = await create();
    const other = await create({
      issuer: undefined,
      authorization_url: `${evil.url}/authorize`,
      token_url: `${evil.url}/token`,
    });
    const { url, cookie } = await begin(other);
    const { url: honestUrl } = await begin(honest);
    const target = new URL(honestUrl);
    target.searchParams.set('state', new URL(url).searchParams.get('state')!);
    const back = await server.authorize(target.href);
    expect(await arrive(back, cookie)).toMatchObject({ result: 'error', reason: 'issuer' });
    expect(evil.seen).toEqual([]);
    // Nor if it names itself, as only the honest one can.
    const { url: again, cookie: second } = await begin(other);
    const [code, state] = [new URL(back), new URL(again)].map(({ searchParams }) => searchParams);
    const own = `${CALLBACK}/${honest}?code=${code!.get('code')}&state=${state!.get('state')}`;
    expect(await arrive(own, second)).toMatchObject({ result: 'error', reason: 'issuer' });
    expect(evil.seen).toEqual([]);
    await evil.close();
  });
});

test('with TLS, no other host can set the cookie', () => {
  const cookie = { id: 'sgn_1', value: 'abc', seconds: 600 };
  expect(signInCookie('https://ops.example/base', cookie)).toBe(
    '__Host-sign_in_sgn_1=abc; Path=/; Secure; Max-Age=600; HttpOnly; SameSite=Lax',
  );
  const read = (header: string) => readSignInCookie('https://ops.example', header, 'sgn_1');
  expect(read('other=1; __Host-sign_in_sgn_1=abc')).toBe('abc');
  expect([read('sign_in_sgn_1=abc'), read('__Host-sign_in_sgn_2=abc')]).toEqual([
    undefined,
    undefined,
  ]);
});
