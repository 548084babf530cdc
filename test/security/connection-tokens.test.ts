import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cookieOf } from '#test/fakes/authorization-server.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { echoed, gives, startSecretWorld, VALUE } from '#test/support/secret-world.ts';

// An author who can use a connection tries to get its token out, in all the ways that they would try with a secret.

let world: Awaited<ReturnType<typeof startSecretWorld>>;
let call: typeof world.call;
let run: typeof world.run;
let refusals: typeof world.refusals;
let home: typeof world.home;
let away: typeof world.away;
let issuing: FakeServer;
const CLIENT_SECRET = 'the-client-secret-of-this-test-0123';
beforeAll(async () => {
  world = await startSecretWorld();
  ({ call, run, refusals, home, away } = world);
  issuing = await startHttpServer(answerAsIssuer);
  const made = await call('POST', '/api/connections', {
    name: 'CANARY',
    grant: 'client_credentials',
    token_url: `${issuing.url}/token`,
    client_id: 'workflows',
    client_secret: CLIENT_SECRET,
    allowed_hosts: [`127.0.0.1:${home.port}`],
  });
  if (made.status !== 201) throw new Error(made.text);
  await connectToServer();
}, 120_000);
afterAll(async () => {
  await world.close();
  await issuing.close();
});

/** An authorization server whose only token is the value, and whose only client has the secret of this test. */
const answerAsIssuer: Parameters<typeof startHttpServer>[0] = ({ url }, response) => {
  if (url === '/token') {
    return sendJson(response, 200, { access_token: VALUE, token_type: 'bearer' });
  }
  if (url === '/register') {
    const client = { client_id: 'registered', client_secret: CLIENT_SECRET };
    return sendJson(response, 201, { ...client, client_secret_expires_at: 0 });
  }
  return sendJson(response, url.includes('authorization-server') ? 200 : 404, {
    issuer: issuing.url,
    authorization_endpoint: `${issuing.url}/authorize`,
    token_endpoint: `${issuing.url}/token`,
    registration_endpoint: `${issuing.url}/register`,
    code_challenge_methods_supported: ['S256'],
  });
};

/** A connection to an MCP server at home, which someone has signed in to. */
async function connectToServer(): Promise<void> {
  world.signsIn.issuer = issuing.url;
  const mcp_server_url = `${home.url}/asks`;
  const made = await call('POST', '/api/connections', { name: 'SERVER', mcp_server_url });
  if (made.status !== 201) throw new Error(made.text);
  const begun = await call('POST', `/api/connections/${made.body.id}/authorize`);
  const sent = new URL(begun.body.authorization_url).searchParams;
  const back = `${new URL(sent.get('redirect_uri')!).pathname}?code=abc&state=${sent.get('state')}`;
  const ended = await call('GET', back, undefined, { cookie: cookieOf(begun) });
  expect(ended.headers['location']).toContain('result=connected');
}

const tool = (tool_name: string, params: object) => ({ id: 'a', kind: 'tool', tool_name, params });
const http = (params: object) => tool('http_request', params);
const agent = (fields: object) => ({ id: 'a', kind: 'agent', ...fields });
const given = (text: string) => [
  ...gives(text),
  ...(text.includes(CLIENT_SECRET) ? ['client'] : []),
];

describe.each([
  ['a connection', 'CANARY'],
  ['a connection to an MCP server', 'SERVER'],
])('the token of %s', (_kind, NAME) => {
  const C = `{connections.${NAME}}`;
  const auth = { Authorization: `Bearer ${C}` };

  test('a token reaches its host in headers, query and body', async () => {
    home.seen.length = 0;
    const sent = await run(
      http({
        url: `${home.url}/x`,
        method: 'POST',
        headers: auth,
        query: { key: C },
        body: { token: `k=${C}`, list: [C, '{secrets.CANARY}'] },
      }),
    );
    expect([sent.status, given(sent.text)]).toEqual(['success', []]);
    const [seen] = home.seen;
    expect(seen?.headers['authorization']).toBe(`Bearer ${VALUE}`);
    expect(new URL(seen!.url, home.url).searchParams.get('key')).toBe(VALUE);
    expect(JSON.parse(seen!.body)).toEqual({ token: `k=${VALUE}`, list: [VALUE, VALUE] });
  });

  describe('what comes back is redacted', () => {
    test.each(Object.keys(echoed))('as %s', async (form) => {
      const tried = await run(http({ url: `${home.url}/echo/${form}`, headers: auth }));
      expect([tried.status, given(tried.text)]).toEqual(['success', []]);
    });

    test.each(['plain', 'base64-1', 'percent', 'json-unicode'])(
      'as %s, in errors',
      async (form) => {
        for (const status of [400, 401, 500]) {
          const tried = await run(
            http({ url: `${home.url}/echo/${form}/${status}`, headers: auth }),
          );
          expect([tried.status, given(tried.text)]).toEqual(['failed', []]);
        }
      },
    );

    test('in keys and values of JSON', async () => {
      const tried = await run(http({ url: `${home.url}/json`, headers: auth }));
      expect([tried.status, given(tried.text)]).toEqual(['success', []]);
    });

    test('in results of an agent with fixed arguments', async () => {
      const fixed = { url: `${home.url}/echo/plain`, method: 'POST', headers: auth };
      const tried = await run(
        agent({
          prompt: 'go',
          tools: [{ name: 'http_request', fixed }],
          mock: {
            turns: [{ calls: [{ tool: 'http_request', arguments: { body: `{${C}}` } }] }],
            output: 'done',
          },
        }),
      );
      expect([tried.status, given(tried.text)]).toEqual(['success', []]);
      expect(home.seen.at(-1)?.body).toBe(C);
    });
  });

  describe('the token does not go to another host', () => {
    test.each([301, 302, 303, 307, 308])(
      'after a redirect with %i, in a header',
      async (status) => {
        away.seen.length = 0;
        const followed = await run(http({ url: `${home.url}/to/${status}`, headers: auth }));
        expect([followed.status, away.seen.length, gives(JSON.stringify(away.seen))]).toEqual([
          'success',
          1,
          [],
        ]);
      },
    );

    test.each([
      ['in the body', { method: 'POST', body: { key: C } }, ''],
      ['in a header that follows', { headers: { 'User-Agent': C } }, ''],
      ['in an address that repeats it', { query: { copy: C } }, ''],
      ['to another name of the host', { headers: { 'User-Agent': C } }, '?host=localhost'],
    ])('after a redirect, %s', async (_what, params, query) => {
      away.seen.length = 0;
      const refused = await run(http({ url: `${home.url}/to/307${query}`, ...params }));
      expect([refused.status, away.seen.length, given(refused.text)]).toEqual(['failed', 0, []]);
      expect(refused.error).toContain(`the token of the connection '${NAME}' may not be sent`);
    });

    test('named in the host of a redirect', async () => {
      const refused = await run(http({ url: `${home.url}/named`, headers: auth }));
      expect([refused.status, given(refused.text)]).toEqual(['failed', []]);
    });

    test.each([
      ['another port', () => `${away.url}/`],
      ['another name', () => `http://localhost:${home.port}/`],
      ['another scheme and port', () => 'https://127.0.0.1/'],
      ['the token endpoint', () => `${issuing.url}/token`],
    ])('at %s', async (_what, url) => {
      expect(await refusals(http({ url: url(), headers: auth }))).toContainEqual([
        'connection_host_not_allowed',
        'nodes[0].params.url',
      ]);
    });
  });

  describe('the author cannot refer to it elsewhere', () => {
    test.each<[where: string, node: object, path: string]>([
      ['the path of a URL', http({ url: `https://h.example/${C}` }), 'params.url'],
      ['the host of a URL', http({ url: `https://${C}.h.example/` }), 'params.url'],
      ['the method', http({ url: 'https://h.example/', method: C }), 'params.method'],
      [
        'arguments of an MCP tool',
        tool('mcp', { server_url: 'https://h.example', tool: 't', arguments: { k: C } }),
        'params.arguments.k',
      ],
      [
        'an email',
        tool('send_email', { to: 'a@example.com', subject: C, text: 'x' }),
        'params.subject',
      ],
      ['a chat message', tool('send_chat_message', { text: C }), 'params.text'],
      ['arguments of a custom tool', tool('custom:none', { k: C }), 'params.k'],
      ['a gate', { id: 'a', kind: 'human_gate', prompt: C }, 'prompt'],
      ['a prompt', agent({ prompt: C }), 'prompt'],
      ['a system prompt', agent({ system_prompt: C }), 'system_prompt'],
      ['the output of a mock model', agent({ mock: { output: { k: C } } }), 'mock.output.k'],
    ])('in %s', async (_where, node, path) => {
      expect(await refusals(node)).toContainEqual(['connection_not_allowed', `nodes[0].${path}`]);
    });

    test.each<[where: string, node: object, code: string, path: string]>([
      [
        'a request whose URL a model sets',
        agent({ tools: [{ name: 'http_request', fixed: { body: C } }] }),
        'connection_without_url',
        'tools[0].fixed',
      ],
      [
        'an unknown name',
        http({ url: 'https://h.example/', body: '{connections.CANARI}' }),
        'unknown_connection',
        'params.body',
      ],
    ])('in %s', async (_where, node, code, path) => {
      expect(await refusals(node)).toContainEqual([code, `nodes[0].${path}`]);
    });

    test.each([`connections.${NAME}`, `connections['${NAME}']`])(
      'in an expression: %s is a key of the state',
      async (expression) => {
        const tried = await run(tool('json_transform', { expression }));
        expect([tried.status, given(tried.text)]).toEqual(['success', []]);
        expect(tried.text).toContain('null');
      },
    );
  });

  describe('text that only looks like a reference stays text', () => {
    test.each([C, `{connections.${NAME}~1}`, `${C}{connections.`])('%s', async (text) => {
      home.seen.length = 0;
      const body = { data: '{text}', mixed: `{text}|${C}|{text}` };
      const sent = await run(http({ url: `${home.url}/x`, method: 'POST', body }), { text });
      expect([sent.status, given(sent.text)]).toEqual(['success', []]);
      expect(JSON.parse(home.seen[0]!.body)).toEqual({
        data: text,
        mixed: `${text}|${VALUE}|${text}`,
      });
    });

    test('also where the state has a key of that name', async () => {
      home.seen.length = 0;
      const body = `{connections.own} ${C}`;
      const connections = { own: 'plain', [NAME]: 'from the input' };
      await run(http({ url: `${home.url}/x`, method: 'POST', body }), { connections });
      expect(home.seen[0]!.body).toBe(`plain ${VALUE}`);
    });
  });

  test('a custom tool and an import send it to their host only, and redact what comes back', async () => {
    const made = await call('POST', '/api/tools', {
      ...{
        name: `echo-${NAME.toLowerCase()}`,
        endpoint_url: `${home.url}/json`,
        headers: auth,
        retry_count: 0,
      },
    });
    const tested = await call('POST', `/api/tools/${made.body.id}/test`, { arguments: {} });
    const ran = await run(tool(`custom:echo-${NAME.toLowerCase()}`, {}));
    expect([tested.body.ok, ran.status, given(tested.text + ran.text)]).toEqual([
      true,
      'success',
      [],
    ]);
    for (const form of ['plain', 'base64-1', 'percent']) {
      const server_url = `${home.url}/echo/${form}/500`;
      const listed = await call('POST', '/api/tools/import', { server_url, headers: auth });
      expect([listed.status, given(listed.text)]).toEqual([400, []]);
    }
    const elsewhere = { server_url: `${away.url}/`, headers: auth };
    expect((await call('POST', '/api/tools/import', elsewhere)).status).toBe(400);
  });
});

describe('the token of an MCP server does not leave it', () => {
  const server = () => ({ server_url: `${home.url}/asks`, auth: { connection: 'SERVER' } });
  const nothingLeft = () =>
    expect(gives(JSON.stringify([away.seen, issuing.seen.map(({ headers }) => headers)]))).toEqual(
      [],
    );

  test.each([
    ['another host', () => ({ server_url: `${away.url}/asks` })],
    ['another name of its host', () => ({ server_url: `http://localhost:${home.port}/asks` })],
    ['its authorization server', () => ({ server_url: `${issuing.url}/token` })],
  ])('in an import from %s', async (_what, change) => {
    const refused = await call('POST', '/api/tools/import', { ...server(), ...change() });
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining('may not be sent'),
    ]);
    nothingLeft();
  });

  test.each([
    ['an echo of it', 'echo/plain/500'],
    ['a redirect', 'to/307'],
    ['a challenge that names another origin', 'asks/elsewhere'],
    ['a challenge', 'asks'],
  ])('in an import that is answered with %s', async (_what, path) => {
    home.seen.length = 0;
    const server_url = `${home.url}/${path}`;
    const refused = await call('POST', '/api/tools/import', { ...server(), server_url });
    expect([refused.status, given(refused.text)]).toEqual([400, []]);
    expect(home.seen[0]?.headers['authorization']).toBe(`Bearer ${VALUE}`);
    nothingLeft();
  });

  test('when the server says that it has moved to another authorization server', async () => {
    world.signsIn.issuer = away.url;
    const refused = await call('POST', '/api/tools/import', server());
    world.signsIn.issuer = issuing.url;
    expect(refused.body.needs_sign_in).toMatchObject({ issuer: away.url, connection: null });
    nothingLeft();
  });

  test('in a node, from the headers of an MCP call to another host', async () => {
    const headers = { Authorization: 'Bearer {connections.SERVER}' };
    const params = { server_url: `${away.url}/mcp`, tool: 't', headers };
    expect(await refusals(tool('mcp', params))).toContainEqual([
      'connection_host_not_allowed',
      'nodes[0].params.server_url',
    ]);
  });

  test.each([
    ['another host', { allowed_hosts: ['evil.example.com'] }],
    ['another token endpoint', { token_url: 'https://evil.example.com/token' }],
    ['another client', { client_id: 'evil' }],
  ])('after a change to %s by someone who does not have its secret', async (_what, change) => {
    const { body: all } = await call('GET', '/api/connections');
    const { id } = all.find(({ name }: { name: string }) => name === 'SERVER');
    const refused = await call('PUT', `/api/connections/${id}`, change);
    expect([refused.status, refused.body.detail]).toEqual([
      400,
      expect.stringContaining('client_secret: send it again'),
    ]);
  });
});

test('the token endpoint gets the client secret only there, and its errors do not repeat it', async () => {
  const repeating = await startHttpServer(({ headers, body }, response) =>
    sendJson(response, 400, {
      error: 'unauthorized_client',
      error_description: `${String(headers['authorization'])} ${body}`,
    }),
  );
  await call('POST', '/api/connections', {
    ...{ name: 'REPEATS', grant: 'client_credentials', token_url: repeating.url },
    ...{ client_id: 'x', client_secret: CLIENT_SECRET, client_auth: 'post' },
    allowed_hosts: [`127.0.0.1:${home.port}`],
  });
  const headers = { Authorization: '{connections.REPEATS}' };
  const tried = await run(http({ url: `${home.url}/x`, headers }));
  expect([tried.status, given(tried.text)]).toEqual(['failed', []]);
  expect(tried.error).toContain('refuses to issue a token (unauthorized_client)');
  expect(repeating.seen[0]?.body).toContain(CLIENT_SECRET);
  await repeating.close();
});

test.each(['rows', 'logs', 'histories', 'traces', 'answers of every route that reads'] as const)(
  'the token and the client secret are nowhere in the %s',
  async (place) => {
    const texts = await world.places[place]();
    expect(texts.join('').length).toBeGreaterThan(100);
    expect(texts.filter((text) => given(text).length > 0)).toEqual([]);
  },
);
