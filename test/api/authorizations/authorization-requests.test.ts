import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { createProvider, signInWith } from '#test/fakes/oauth-client.ts';
import {
  bearer,
  CALLBACK,
  challengeFor,
  newVerifier,
  useAuthorizations,
} from './authorization-stage.ts';

const stage = useAuthorizations();

const asked = async (change: Record<string, string | undefined> = {}) => ({
  client_id: change['client_id'] ?? (await stage.register()),
  redirect_uri: CALLBACK,
  response_type: 'code',
  code_challenge: challengeFor(newVerifier()),
  code_challenge_method: 'S256',
  state: 'xyz',
  ...change,
});
const preview = async (request: object, headers?: Record<string, string>) =>
  stage.send(
    'POST',
    '/api/authorizations/preview',
    { request },
    headers ?? (await stage.person()).session,
  );
const grant = async (request: object, scopes: string[], headers: Record<string, string>) =>
  stage.send('POST', '/api/authorizations', { request, scopes }, headers);
const register = (metadata: object) => stage.send('POST', '/api/oauth/register', metadata);

describe('a registration', () => {
  test('returns a public client, also to one that asks for a secret', async () => {
    const { status, body } = await register({
      client_name: ' Claude ',
      redirect_uris: ['https://claude.example/callback', 'http://localhost:8080/x'],
      token_endpoint_auth_method: 'client_secret_basic',
      unknown: true,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      client_id: expect.stringMatching(/^client_/),
      client_name: 'Claude',
      redirect_uris: ['https://claude.example/callback', 'http://localhost:8080/x'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
  });

  test('has a name on one line, without characters that turn text around', async () => {
    const named = async (client_name: string): Promise<string> =>
      (await register({ client_name, redirect_uris: [CALLBACK] })).body.client_name;
    expect(await named('Claude\u202E\n\tedoC\u200B!')).toBe('Claude edoC !');
    expect(await named('\u2066\u200D')).toBe('127.0.0.1:41999');
  });

  test.each([
    'http://example.com/callback',
    'javascript:alert(1)',
    'data:text/html,x',
    'cursor://callback',
    'file:///etc/passwd',
    'https://user:pass@example.com/',
    'https://example.com/#fragment',
    'http://127.0.0.1.example.com/',
    'http://localhost.example.com/',
    'http://127.1@example.com/',
    'https://example.com/\\@evil.example',
    'https://example.com/ x',
    '//example.com/callback',
    '/callback',
    'callback',
  ])('refuses the address %s', async (uri) => {
    const { status, body } = await register({ redirect_uris: [uri] });
    expect([status, body.error]).toEqual([400, 'invalid_redirect_uri']);
  });

  test.each([
    [{}, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: 'x' }, 'invalid_redirect_uri'],
    [{ redirect_uris: Array(11).fill(CALLBACK) }, 'invalid_redirect_uri'],
    [{ redirect_uris: [CALLBACK], client_name: '' }, 'invalid_client_metadata'],
    [[], 'invalid_client_metadata'],
  ])('refuses %j', async (metadata, error) => {
    const { status, body } = await register(metadata);
    expect([status, body.error]).toEqual([400, error]);
  });

  test('is refused once a network has a hundred unused clients, until one is used or a day is over', async () => {
    const { engine } = stage;
    await engine.db.query(sql.unsafe`DELETE FROM oauth_clients`);
    const answers = await Promise.all(
      Array.from({ length: 105 }, () => register({ redirect_uris: [CALLBACK] })),
    );
    const made = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 429);
    expect([made.length, refused.length]).toEqual([100, 5]);
    expect(refused[0]?.body.error).toBe('temporarily_unavailable');
    expect(refused[0]?.headers.get('retry-after')).toBe('3600');
    const person = await stage.person();
    await stage.codeFor(person, { client_id: made[0]?.body.client_id });
    expect((await register({ redirect_uris: [CALLBACK] })).status).toBe(201);
    await engine.db.query(sql.unsafe`
      UPDATE oauth_clients SET created_at = now() - interval '25 hours' WHERE used_at IS NULL`);
    expect((await register({ redirect_uris: [CALLBACK] })).status).toBe(201);
    const ended = await preview(await asked({ client_id: made[1]?.body.client_id }));
    expect([ended.status, ended.body.detail]).toEqual([
      400,
      'The client is not registered, or no longer: it has to register again',
    ]);
  });
});

describe('a request at the page', () => {
  test('names the client, where the code goes, the workspace and what is asked', async () => {
    const { status, body } = await preview(await asked({ scope: 'view run decide unknown' }));
    expect(status).toBe(200);
    expect(body).toEqual({
      client: {
        id: expect.stringMatching(/^client_/),
        name: 'Test client',
        host: '127.0.0.1:41999',
        verified: false,
        redirect_host: '127.0.0.1:41999',
      },
      workspace: { id: stage.engine.actor.workspaceId, name: expect.any(String) },
      scopes: [
        { scope: 'view', capabilities: ['view'], selected: true, required: true },
        {
          scope: 'run',
          capabilities: ['run_workflows', 'cancel_resume'],
          selected: true,
          required: false,
        },
        {
          scope: 'decide',
          capabilities: ['approve_gates', 'publish_workflows'],
          selected: false,
          required: false,
        },
      ],
      refusal: null,
      deny_url: expect.stringContaining(`${CALLBACK}?error=access_denied`),
    });
    const denied = new URL(body.deny_url).searchParams;
    expect([denied.get('state'), denied.get('iss')]).toEqual(['xyz', stage.apiUrl]);
  });

  test('proposes nothing that the member cannot do', async () => {
    const viewer = await stage.person('viewer');
    const { body } = await preview(await asked(), viewer.session);
    expect(body.scopes.map(({ scope, selected }: any) => [scope, selected])).toEqual([
      ['view', true],
      ['run', false],
      ['edit', false],
    ]);
  });

  test.each<[string, string]>([
    ['of another host', 'https://evil.example/callback'],
    ['with another path', `${CALLBACK}/x`],
    ['with a query', `${CALLBACK}?next=x`],
    ['with a fragment', `${CALLBACK}#x`],
    ['of another loopback name', 'http://localhost:41999/callback'],
    ['with a user', 'http://127.0.0.1:41999@evil.example/callback'],
    ['with another scheme', 'https://127.0.0.1:41999/callback'],
    ['that is a script', 'javascript:alert(1)'],
    ['that is empty', ''],
    ['that is no address', '//evil.example'],
  ])('leads nowhere with an address %s', async (_what, redirect_uri) => {
    const request = await asked({ redirect_uri });
    const person = await stage.person();
    for (const answer of [
      await preview(request, person.session),
      await grant(request, ['view'], person.session),
    ]) {
      expect([answer.status, answer.body]).toEqual([
        400,
        { detail: 'The redirect_uri is not one that the client has registered' },
      ]);
    }
  });

  test('accepts any port of this computer, and the only address without naming it', async () => {
    const client_id = await stage.register();
    const other = await preview(
      await asked({ client_id, redirect_uri: 'http://127.0.0.1:5/callback' }),
    );
    expect(other.body.client.redirect_host).toBe('127.0.0.1:5');
    const none = await preview(await asked({ client_id, redirect_uri: undefined }));
    expect(none.body.client.redirect_host).toBe('127.0.0.1:41999');
  });

  test.each<[string, Record<string, string | undefined>, string]>([
    ['without PKCE', { code_challenge: undefined }, 'invalid_request'],
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['with a challenge that is no digest', { code_challenge: 'x' }, 'invalid_request'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['for another resource', { resource: 'https://other.example/api/mcp' }, 'invalid_target'],
    ['for the service as a whole', { resource: 'ISSUER' }, 'invalid_target'],
  ])(
    '%s is shown as an error, which the client gets only if the member returns',
    async (_what, change, error) => {
      const changed = change['resource'] === 'ISSUER' ? { resource: stage.apiUrl } : change;
      const request = await asked(changed);
      const person = await stage.person();
      const { body } = await preview(request, person.session);
      expect(body.refusal.error).toBe(error);
      expect(new URL(body.deny_url).searchParams.get('error')).toBe(error);
      expect((await grant(request, ['view'], person.session)).status).toBe(400);
    },
  );

  test('is only answered by a member in a session', async () => {
    const person = await stage.person();
    const request = await asked();
    const { access } = await stage.tokensFor(person);
    expect((await grant(request, ['view'], {})).status).toBe(401);
    expect((await grant(request, ['view'], bearer(access))).status).toBe(401);
    const byKey = await grant(request, ['view'], person.key);
    expect([byKey.status, byKey.body.detail]).toEqual([
      403,
      'Only a member who is signed in can authorize a client',
    ]);
    expect((await preview(request, person.key)).status).toBe(403);
  });

  test('grants no more than the client asks for, nor than the member has', async () => {
    const editor = await stage.person('editor');
    const more = await grant(await asked({ scope: 'view' }), ['view', 'run'], editor.session);
    expect([more.status, more.body.detail]).toEqual([
      400,
      "Invalid body: scopes: the client does not ask for 'run'",
    ]);
    const granted = await grant(await asked({ scope: 'view manage' }), ['manage'], editor.session);
    expect(granted.body.authorization).toMatchObject({
      scopes: ['view', 'manage'],
      capabilities: ['view'],
    });
  });

  test('keeps the query of the address', async () => {
    const uri = 'https://client.example/callback?tenant=a%20b';
    const client_id = await stage.register({ redirect_uris: [uri] });
    const person = await stage.person();
    const request = await asked({ client_id, redirect_uri: uri, state: 'a b&c' });
    const { redirect_to } = (await grant(request, ['view'], person.session)).body;
    expect(redirect_to.startsWith(`${uri}&code=mcpc_`)).toBe(true);
    expect(new URL(redirect_to).searchParams.get('state')).toBe('a b&c');
  });

  test('is refused for a member who has authorized a hundred clients', async () => {
    const person = await stage.person();
    await stage.tokensFor(person);
    await stage.engine.db.query(sql.unsafe`
      WITH made AS (
        INSERT INTO authorizations (id, workspace_id, member_id, client_id, client_name, client_host, client_verified, scopes,
                                    capabilities, resource)
        SELECT 'auth_' || n, workspace_id, member_id, client_id, client_name, client_host, client_verified, scopes, capabilities,
               resource FROM authorizations, generate_series(1, 99) n WHERE member_id = ${person.id} RETURNING id)
      INSERT INTO authorization_tokens (token_hash, authorization_id, kind, expires_at)
      SELECT sha256(id::bytea), id, 'refresh', now() + interval '1 day' FROM made`);
    const refused = await grant(await asked(), ['view'], person.session);
    expect(refused.status).toBe(409);
  });
});

describe('a client with a metadata document', () => {
  let server: Server;
  let documents: Record<string, { status?: number; text: string; location?: string }>;
  let url: (name: string) => string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      const document = documents[request.url ?? ''] ?? { status: 404, text: '' };
      response.writeHead(document.status ?? 200, {
        'content-type': 'application/json',
        ...(document.location === undefined ? {} : { location: document.location }),
      });
      response.end(document.text);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const { port } = server.address() as AddressInfo;
    url = (name) => `http://127.0.0.1:${port}/${name}`;
    const document = (name: string, change: object = {}) =>
      JSON.stringify({
        client_id: url(name),
        client_name: 'Documented client',
        redirect_uris: [CALLBACK],
        token_endpoint_auth_method: 'none',
        ...change,
      });
    documents = {
      '/good': { text: document('good') },
      '/other': { text: document('good') },
      '/secret': {
        text: document('secret', { token_endpoint_auth_method: 'client_secret_basic' }),
      },
      '/script': { text: document('script', { redirect_uris: ['javascript:alert(1)'] }) },
      '/large': { text: document('large', { padding: 'x'.repeat(6_000) }) },
      '/moved': { status: 302, location: '/good', text: '' },
      '/text': { text: 'no JSON' },
      '/list': { text: '[]' },
    };
  });
  afterAll(() => {
    server.close();
  });

  test('signs in without registering', async () => {
    const person = await stage.person();
    // The SDK wants an https address, which no server of a test has.
    const provider = createProvider();
    provider.stored.client = { client_id: url('good'), issuer: stage.apiUrl };
    const signedIn = await signInWith(stage.mcpUrl, provider, (page) => stage.allow(page, person));
    expect(signedIn.page.searchParams.get('client_id')).toBe(url('good'));
    const { tools } = await signedIn.client.listTools();
    expect(tools.length).toBeGreaterThan(10);
    const [listed] = (await stage.send('GET', '/api/authorizations', undefined, person.session))
      .body;
    expect(listed).toMatchObject({
      client_id: url('good'),
      client_name: 'Documented client',
      client_host: new URL(url('good')).host,
      // Only https proves the host.
      client_verified: false,
    });
  });

  test.each([
    ['other', 'its client_id is another one'],
    ['secret', "its token_endpoint_auth_method is not 'none'"],
    ['moved', 'its host answered 302'],
    ['missing', 'its host answered 404'],
    ['text', 'it does not describe a client'],
    ['list', 'it does not describe a client'],
  ])('is refused with the document %s', async (name, why) => {
    const { status, body } = await preview(await asked({ client_id: url(name) }));
    expect([status, body.detail]).toEqual([
      400,
      `The client's metadata document cannot be used: ${why}`,
    ]);
  });

  test('is refused with a document that is large or names a script', async () => {
    expect((await preview(await asked({ client_id: url('large') }))).status).toBe(400);
    expect((await preview(await asked({ client_id: url('script') }))).body.detail).toContain(
      'https',
    );
  });

  test.each([
    'http://example.com/client',
    'https://example.com/',
    'https://example.com',
    'https://user@example.com/client',
    'https://example.com/client#x',
    'https://example.com/a/../client',
    'ftp://example.com/client',
    'file:///etc/passwd',
    'http://10.0.0.1/client',
    'https://169.254.169.254/latest',
  ])('is refused at %s', async (client_id) => {
    const { status, body } = await preview(await asked({ client_id }));
    expect([status, body.detail]).toEqual([
      400,
      expect.stringContaining("The client's metadata document cannot be used"),
    ]);
  });
});
