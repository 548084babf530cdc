import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { withinTime } from '#shared/operations/connections/mcp-servers.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { rowTexts } from '#test/support/stored-texts.ts';
import { useTestApi } from '#test/api/test-api.ts';
import {
  type AuthorizationServer,
  cookieOf,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import {
  type ProtectedMcpServer,
  startProtectedMcpServer,
} from '#test/fakes/protected-mcp-server.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';

const ENV = {
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
  PUBLIC_URL: 'http://ops.test',
};
const api = useTestApi(ENV);
const secured = useTestApi({ ...ENV, PUBLIC_URL: 'https://ops.test' });

let server: AuthorizationServer;
let tools: ProtectedMcpServer;
beforeAll(async () => {
  server = await startAuthorizationServer({ redirectUris: [], isOfMcp: true });
  tools = await startProtectedMcpServer(server);
});
afterEach(() => tools.reset());
afterAll(() => Promise.all([server.close(), tools.close()]));

let number = 0;
const create = (change: object = {}, { call } = api) =>
  call('POST', '/api/connections', {
    name: `C${(number += 1)}`,
    mcp_server_url: tools.address,
    ...change,
  });
/** A server whose metadata names these addresses, besides what a usable one has. */
async function startIssuer(
  change: Record<string, unknown> = {},
  register: Parameters<typeof startHttpServer>[0] = (_request, response) =>
    sendJson(response, 201, { client_id: 'registered-0123' }),
) {
  const issuing = await startHttpServer((request, response) => {
    if (request.url === '/register') return register(request, response);
    if (request.url !== '/.well-known/oauth-authorization-server') {
      return sendJson(response, 404, {});
    }
    return sendJson(response, 200, {
      issuer: issuing.url,
      authorization_endpoint: `${issuing.url}/authorize`,
      token_endpoint: `${issuing.url}/token`,
      registration_endpoint: `${issuing.url}/register`,
      code_challenge_methods_supported: ['S256'],
      ...change,
    });
  });
  tools.says.metadata = { ...tools.says.metadata, authorization_servers: [issuing.url] };
  return issuing;
}
/** What a connection to such a server is, or why there is none. */
async function createAt(
  change: Record<string, unknown>,
  {
    input = {},
    register,
    on = api,
  }: {
    input?: object;
    register?: Parameters<typeof startHttpServer>[0];
    on?: typeof api;
  } = {},
) {
  const issuing = await startIssuer(change, register);
  try {
    return { ...(await create(input, on)), seen: issuing.seen, issuer: issuing.url };
  } finally {
    await issuing.close();
  }
}

describe('a connection to an MCP server', () => {
  test('takes everything from the metadata, and registers a client', async () => {
    const { status, body } = await create();
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        issuer: server.issuer,
        authorization_url: `${server.issuer}/auth`,
        token_url: `${server.issuer}/token`,
        callback_url: 'http://ops.test/api/connections/callback',
        client_id: expect.stringMatching(/.{8}/),
        client_auth: 'basic',
        resource: tools.address,
        scopes: ['tools:read', 'tools:call', 'offline_access'],
        authorization_params: { prompt: 'consent' },
        allowed_hosts: [`127.0.0.1:${tools.port}`],
        status: 'not_signed_in',
      }),
    ]);
    const registered = server.registered.at(-1)!;
    expect(registered).toMatchObject({
      client_id: body.client_id,
      redirect_uris: ['http://ops.test/api/connections/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
    });
    const secret = registered['client_secret'] as string;
    const { logs } = (await api.call('GET', '/api/audit?target_type=connection')).body;
    expect(logs[0]).toMatchObject({ action: 'create', details: { resource: tools.address } });
    const texts = [...(await rowTexts(api.db)), JSON.stringify([body, logs])];
    expect([secret.length > 20, texts.filter((text) => text.includes(secret))]).toEqual([true, []]);
  });

  test('signs in with a token for the server only, and refreshes it', async () => {
    const { body } = await create();
    const begun = await api.call('POST', `/api/connections/${body.id}/authorize`);
    const url = new URL(begun.body.authorization_url);
    expect(url.searchParams.get('resource')).toBe(tools.address);
    const { pathname, search } = new URL(await server.authorize(url.href));
    const cookie = cookieOf(begun);
    const ended = await api.call('GET', `${pathname}${search}`, undefined, { cookie });
    expect(ended.headers['location']).toContain('result=connected');
    expect(server.resources.at(-1)).toBe(tools.address);
  });

  test('finds the metadata without a challenge, at the path or at the root', async () => {
    tools.says.challenge = undefined;
    expect((await create()).body.scopes).toEqual(['tools:read', 'offline_access']);
    const { metadata } = tools.says;
    tools.says.metadata = undefined;
    tools.says.first = ({ url }, response) => {
      if (url !== '/.well-known/oauth-protected-resource') return false;
      sendJson(response, 200, metadata);
      return true;
    };
    expect((await create()).body).toMatchObject({ resource: tools.address });
  });

  test('finds the authorization server of an older server at its origin', async () => {
    tools.says.challenge = 'Bearer';
    tools.says.metadata = undefined;
    tools.says.first = ({ url }, response) => {
      if (url === '/register') sendJson(response, 201, { client_id: 'old-client' });
      else if (url === '/.well-known/oauth-authorization-server') {
        sendJson(response, 200, {
          issuer: tools.url,
          authorization_endpoint: `${tools.url}/authorize`,
          token_endpoint: `${tools.url}/token`,
          registration_endpoint: `${tools.url}/register`,
          code_challenge_methods_supported: ['S256'],
        });
      } else return false;
      return true;
    };
    const { body } = await create();
    expect(body).toMatchObject({
      issuer: tools.url,
      client_id: 'old-client',
      client_auth: 'none',
      resource: tools.address,
    });
    expect(body.callback_url).toBe(`http://ops.test/api/connections/callback/${body.id}`);
  });

  test('uses the client, the scopes and the account that are given', async () => {
    const registrations = server.registered.length;
    const given = { client_id: 'mine', client_secret: 'secret-of-mine', client_auth: 'post' };
    const { body } = await create({ ...given, scopes: ['tools:read'], owner: 'member' });
    expect(body).toMatchObject({
      ...{ client_id: 'mine', client_auth: 'post', scopes: ['tools:read'], owner: 'member' },
      authorization_params: {},
    });
    expect(server.registered.length).toBe(registrations);
  });

  test('chooses one of several authorization servers, and takes the first otherwise', async () => {
    const both = [server.issuer, 'https://other.example.com'];
    tools.says.metadata = { ...tools.says.metadata, authorization_servers: both };
    expect((await create()).body.issuer).toBe(server.issuer);
    const wanted = await create({ issuer: server.issuer });
    expect(wanted.body.issuer).toBe(server.issuer);
    const wrong = await create({ issuer: 'https://evil.example.com' });
    expect([wrong.status, wrong.body.detail]).toEqual([
      400,
      expect.stringContaining('issuer: the server only accepts tokens of'),
    ]);
  });

  test('has the address of a document as its client where the server reads it', async () => {
    const reads = { client_id_metadata_document_supported: true };
    const { body } = await createAt(reads, { on: secured });
    const id = `https://ops.test/api/connections/client-metadata/${body.id}`;
    expect(body).toMatchObject({ client_id: id, client_auth: 'none' });
    const document = await secured.call('GET', new URL(id).pathname, undefined, NO_CREDENTIAL);
    expect([document.status, document.body]).toEqual([
      200,
      {
        client_id: id,
        client_name: 'Durable workflows',
        client_uri: 'https://ops.test',
        redirect_uris: [body.callback_url],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
      },
    ]);
    const names = { ...reads, authorization_response_iss_parameter_supported: true };
    const shared = await createAt(names, { on: secured });
    expect(shared.body.client_id).toBe('https://ops.test/api/connections/client-metadata');
    const { body: both } = await secured.call('GET', '/api/connections/client-metadata');
    expect(both.redirect_uris).toEqual(['https://ops.test/api/connections/callback']);
    // Servers would not find the document of a service without TLS.
    expect((await createAt(reads)).body.client_id).toBe('registered-0123');
  });

  test('registers nothing when its name is taken', async () => {
    await create({ name: 'TAKEN' });
    const registrations = server.registered.length;
    expect((await create({ name: 'TAKEN' })).status).toBe(409);
    expect(server.registered.length).toBe(registrations);
  });
});

const NO_CREDENTIAL = { authorization: '' };

describe('metadata of a server', () => {
  test.each<[string, () => object, string]>([
    ['about another resource', () => ({ resource: 'https://other.example.com/mcp' }), 'another'],
    ['about a part of its address', () => ({ resource: tools.url }), 'another resource'],
    ['about a longer address', () => ({ resource: `${tools.address}/` }), 'another resource'],
    ['about no resource', () => ({ resource: undefined }), 'publishes no metadata'],
    ['without an authorization server', () => ({ authorization_servers: [] }), 'names no'],
    [
      'with an authorization server without TLS',
      () => ({ authorization_servers: ['http://login.example.com'] }),
      'no https:// address',
    ],
    [
      'with an authorization server in the network',
      () => ({ authorization_servers: ['https://10.0.0.1'] }),
      'not allowed',
    ],
  ])('%s is refused', async (_what, change, detail) => {
    tools.says.metadata = { ...tools.says.metadata, ...change() };
    const refused = await create();
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });

  test('that redirects is not followed', async () => {
    const away = await startHttpServer((_request, response) =>
      sendJson(response, 200, { resource: tools.address, authorization_servers: [server.issuer] }),
    );
    tools.says.first = ({ url }, response) => {
      if (!url.startsWith('/.well-known/')) return false;
      response.writeHead(302, { location: away.url }).end();
      return true;
    };
    const refused = await create();
    expect([refused.status, away.seen]).toEqual([400, []]);
    expect(refused.body.detail).toContain('publishes no metadata');
    await away.close();
  });

  test('on another origin is not read', async () => {
    const away = await startHttpServer((_request, response) =>
      sendJson(response, 200, { resource: tools.address, authorization_servers: [away.url] }),
    );
    tools.says.challenge = `Bearer resource_metadata="${away.url}/metadata"`;
    const { body } = await create();
    expect([body.issuer, away.seen]).toEqual([server.issuer, []]);
    await away.close();
  });

  test('of more than 256 kB is not used', async () => {
    tools.says.metadata = { ...tools.says.metadata, more: 'x'.repeat(300_000) };
    expect((await create()).body.detail).toContain('publishes no metadata');
  });

  test.each<[string, string]>([
    ['tabs in its texts', 'Bearer resource_metadata="\t", scope="\t"'],
    ['nothing that can be read', 'Bearer ="",,,= "'],
    ['another scheme', 'Basic realm="x", Digest nonce="y"'],
    ['too much', `Bearer scope="${'x '.repeat(5_000)}"`],
  ])('is found without a challenge that has %s', async (_what, challenge) => {
    tools.says.first = ({ url }, response) => {
      if (url !== '/mcp') return false;
      response.socket?.end(
        `HTTP/1.1 401 Unauthorized\r\nwww-authenticate: ${challenge}\r\ncontent-length: 0\r\n\r\n`,
      );
      return true;
    };
    expect((await create()).body).toMatchObject({ issuer: server.issuer });
  });

  test.each([
    ['control characters', '\u0001\u0002'],
    ['100 kB', 'x'.repeat(100_000)],
  ])('is not looked for when the challenge has %s', async (_what, scope) => {
    tools.says.first = ({ url }, response) => {
      if (url !== '/mcp') return false;
      response.socket?.end(
        `HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer scope="${scope}"\r\n\r\n`,
      );
      return true;
    };
    const { status, body } = await create();
    expect([status, body.detail]).toEqual([400, expect.stringContaining('could not be reached')]);
  });
});

describe('an authorization server', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['that is another one', { issuer: 'https://evil.example.com' }, 'cannot be used'],
    ['without PKCE', { code_challenge_methods_supported: undefined }, 'does not support PKCE'],
    ['with plain PKCE', { code_challenge_methods_supported: ['plain'] }, 'does not support PKCE'],
    ['without a place to sign in', { authorization_endpoint: undefined }, 'authorization_endpoint'],
    ['with a script', { authorization_endpoint: 'javascript:alert(1)' }, 'authorization_url'],
    ['with tokens in the network', { token_endpoint: 'https://10.0.0.1/' }, 'not allowed'],
    ['without registration', { registration_endpoint: undefined }, 'give its client_id'],
    ['with registration in the network', { registration_endpoint: 'https://10.0.0.1/' }, 'allowed'],
    ['with registration without TLS', { registration_endpoint: 'http://a.example/' }, 'https://'],
    ['with other clients', { token_endpoint_auth_methods_supported: ['tls'] }, 'its client_id'],
  ])('%s is refused', async (_what, change, detail) => {
    const refused = await createAt(change);
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });

  test.each<[string, Parameters<typeof startHttpServer>[0], string]>([
    [
      'refuses',
      (_r, response) => sendJson(response, 400, { error: 'invalid_redirect_uri' }),
      '(invalid_redirect_uri)',
    ],
    ['fails', (_r, response) => void response.writeHead(500).end('<html>'), '(500)'],
    ['hangs up', (_r, response) => void response.destroy(), 'could not be reached'],
    ['sends a page', (_r, response) => void response.writeHead(201).end('<html>'), 'no client'],
    ['sends no id', (_r, response) => sendJson(response, 201, { client_id: '' }), 'no client'],
    [
      'sends an id that is no text',
      (_r, r) => sendJson(r, 201, { client_id: 'a\r\nb' }),
      'no client',
    ],
    [
      'sends a secret that has ended',
      (_r, response) =>
        sendJson(response, 201, {
          client_id: 'abc',
          client_secret: 'secret-0123',
          client_secret_expires_at: 1,
        }),
      'no client',
    ],
    [
      'wants keys',
      (_r, response) =>
        sendJson(response, 201, {
          client_id: 'abc',
          token_endpoint_auth_method: 'private_key_jwt',
        }),
      'no client',
    ],
    [
      'redirects',
      (_r, response) => void response.writeHead(307, { location: '/other' }).end(),
      '(307)',
    ],
    [
      'sends too much',
      (_r, response) => void response.writeHead(201).end('x'.repeat(100_000)),
      'bytes',
    ],
  ])('whose registration %s is refused, with what to give', async (_what, register, detail) => {
    const refused = await createAt({}, { register });
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
    expect(refused.body.detail).toContain('give its client_id and client_secret');
    expect(refused.seen.filter(({ url }) => url === '/other')).toEqual([]);
  });

  test('gets the secret of a client in the way that it supports', async () => {
    const supported = { token_endpoint_auth_methods_supported: ['none', 'client_secret_post'] };
    const register: Parameters<typeof startHttpServer>[0] = ({ body }, response) =>
      sendJson(response, 201, {
        ...JSON.parse(body),
        ...{ client_id: 'abc', client_secret: 'secret-0123', client_secret_expires_at: 0 },
      });
    expect((await createAt(supported, { register })).body.client_auth).toBe('post');
  });
});

test('requests to a server that does not respond end together', async () => {
  const hanging = await startHttpServer(() => undefined);
  const egress = createEgress({ allow: ['127.0.0.0/8'] });
  const bounded = withinTime(egress, 50);
  for (const path of ['first', 'second']) {
    await expect(bounded.request(`${hanging.url}/${path}`)).rejects.toMatchObject({
      code: 'timeout',
      message: `'127.0.0.1:${hanging.port}' did not respond in time`,
    });
  }
  await Promise.all([egress.close(), hanging.close()]);
});

test.each<[string, object, string]>([
  ['a preset', { preset: 'slack' }, 'preset is not allowed'],
  ['addresses', { token_url: 'https://a.example.com' }, 'token_url is not allowed'],
  ['hosts', { allowed_hosts: ['a.example.com'] }, 'allowed_hosts is not allowed'],
  ['a program', { grant: 'client_credentials' }, "must be 'authorization_code'"],
  ['a secret alone', { client_secret: 'secret-0123' }, 'only allowed with client_id'],
  ['an address without TLS', { mcp_server_url: 'http://tools.example.com' }, 'https://'],
  ['a server in the network', { mcp_server_url: 'https://10.0.0.1/mcp' }, 'not allowed'],
  ['no server and no client', { mcp_server_url: undefined }, 'client_id is required'],
])('an input with %s is refused', async (_what, change, detail) => {
  const refused = await create(change);
  expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
});

test('the document of a client only exists for ids of connections', async () => {
  const path = '/api/connections/client-metadata/nothing';
  expect((await api.call('GET', path)).status).toBe(400);
});
