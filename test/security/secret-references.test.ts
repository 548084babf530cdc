import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { gives, startSecretWorld, VALUE } from '#test/support/secret-world.ts';

// Secrets stand where the author of a graph wrote them, and nowhere else.

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

describe('the author cannot refer to it elsewhere', () => {
  const S = '{secrets.CANARY}';
  const tool = (tool_name: string, params: object) => ({
    id: 'a',
    kind: 'tool',
    tool_name,
    params,
  });
  test.each<[where: string, node: object, path: string]>([
    ['the path of a URL', http({ url: `https://h.example/${S}` }), 'params.url'],
    ['the host of a URL', http({ url: `https://${S}.h.example/` }), 'params.url'],
    ['a user in a URL', http({ url: `https://${S}@h.example/` }), 'params.url'],
    ['the query in a URL', http({ url: `https://h.example/?k=${S}` }), 'params.url'],
    ['the method', http({ url: 'https://h.example/', method: S }), 'params.method'],
    [
      'arguments of an MCP tool',
      tool('mcp', { server_url: 'https://h.example', tool: 't', arguments: { k: S } }),
      'params.arguments.k',
    ],
    [
      'an email',
      tool('send_email', { to: 'a@example.com', subject: S, text: 'x' }),
      'params.subject',
    ],
    ['a chat message', tool('send_chat_message', { text: S }), 'params.text'],
    [
      'an expression',
      tool('json_transform', { expression: 'secrets.CANARY' }),
      'params.expression',
    ],
    [
      'a record',
      tool('entity_upsert', {
        feed_id: 'f',
        external_key: 'k',
        entity_type: 't',
        canonical_name: 'n',
        attributes: { k: S },
      }),
      'params.attributes.k',
    ],
    ['arguments of a custom tool', tool('custom:none', { k: S }), 'params.k'],
    [
      'a condition',
      { id: 'a', kind: 'condition', expression: "secrets.CANARY == 'x'" },
      'expression',
    ],
    ['a gate', { id: 'a', kind: 'human_gate', prompt: S }, 'prompt'],
    ['a prompt', { id: 'a', kind: 'agent', prompt: S }, 'prompt'],
    ['a system prompt', { id: 'a', kind: 'agent', system_prompt: S }, 'system_prompt'],
    [
      'the output of a mock model',
      { id: 'a', kind: 'agent', mock: { output: { k: S } } },
      'mock.output.k',
    ],
    [
      'calls of a mock model',
      {
        id: 'a',
        kind: 'agent',
        tools: ['http_request'],
        mock: {
          turns: [
            { calls: [{ tool: 'http_request', arguments: { url: 'x', headers: { k: S } } }] },
          ],
        },
      },
      'mock.turns[0].calls[0].arguments.headers.k',
    ],
    [
      'an approval expression',
      {
        id: 'a',
        kind: 'agent',
        tools: [{ name: 'http_request', approval: "secrets.CANARY != ''" }],
      },
      'tools[0].approval',
    ],
  ])('in %s', async (_where, node, path) => {
    expect(await refusals(node)).toContainEqual(['secret_not_allowed', `nodes[0].${path}`]);
  });

  test.each<[where: string, node: object, code: string, path: string]>([
    [
      'a request whose URL a model sets',
      { id: 'a', kind: 'agent', tools: [{ name: 'http_request', fixed: { body: S } }] },
      'secret_without_url',
      'tools[0].fixed',
    ],
    [
      'a whole reference to all',
      http({ url: 'https://h.example/', body: '{secrets}' }),
      'secret_name_invalid',
      'params.body',
    ],
    [
      'an unknown name',
      http({ url: 'https://h.example/', body: '{secrets.CANARI}' }),
      'unknown_secret',
      'params.body',
    ],
  ])('in %s', async (_where, node, code, path) => {
    expect(await refusals(node)).toContainEqual([code, `nodes[0].${path}`]);
  });
});

describe('text that only looks like a reference stays text', () => {
  test.each<[string, object]>([
    ['from the input', { text: '{secrets.CANARY}' }],
    ['with a number', { text: '{secrets.CANARY~1}{secrets.CANARY~2}' }],
    ['in parts around the reference', { text: '{secrets.CANARY}{secrets.' }],
  ])('%s', async (_what, input) => {
    home.seen.length = 0;
    const { text } = input as { text: string };
    const sent = await run(
      http({
        url: `${home.url}/x`,
        method: 'POST',
        headers: { 'X-Data': '{text}' },
        body: { data: '{text}', mixed: '{text}|{secrets.CANARY}|{text}' },
      }),
      { text },
    );
    expect(sent.status).toBe('success');
    expect(home.seen[0]?.headers['x-data']).toBe(text);
    expect(JSON.parse(home.seen[0]!.body)).toEqual({
      data: text,
      mixed: `${text}|${VALUE}|${text}`,
    });
    expect(gives(sent.text)).toEqual([]);
  });

  test('from a model, next to a fixed reference', async () => {
    home.seen.length = 0;
    const asked = { query: { q: '{{secrets.CANARY}}' }, body: '{{secrets.CANARY}}' };
    const sent = await run({
      id: 'a',
      kind: 'agent',
      prompt: 'go',
      tools: [
        {
          name: 'http_request',
          fixed: { url: `${home.url}/echo/plain`, method: 'POST', headers: auth },
        },
      ],
      mock: { turns: [{ calls: [{ tool: 'http_request', arguments: asked }] }], output: 'done' },
    });
    expect([sent.status, gives(sent.text)]).toEqual(['success', []]);
    const [seen] = home.seen;
    expect(seen?.headers['authorization']).toBe(`Bearer ${VALUE}`);
    expect([seen?.body, new URL(seen!.url, home.url).searchParams.get('q')]).toEqual([
      '{secrets.CANARY}',
      '{secrets.CANARY}',
    ]);
  });
});

test('errors of the network, the parameters and the policies do not contain it', async () => {
  const node = (params: object) => http({ url: `${home.url}/hang`, headers: auth, ...params });
  const texts = [
    await run(node({})),
    await run(node({ headers: { 'bad name': '{secrets.CANARY}' } })),
    await run(node({ headers: { Host: '{secrets.CANARY}' } })),
    await run(node({ query: { k: { deep: '{secrets.CANARY}' } } })),
    await run(node({ url: `${home.url}/x`, headers: { 'X-Key': 'ü\n{secrets.CANARY}' } })),
  ];
  expect(texts.map(({ status, text }) => [status, gives(text)])).toEqual(
    texts.map(() => ['failed', []]),
  );
  const rules = { redaction: { detectors: [], patterns: [{ name: 'all', regex: 'Bearer.*' }] } };
  expect((await call('PUT', '/api/workspace/policies', rules)).status).toBe(200);
  const redacted = await run(http({ url: `${home.url}/x`, headers: auth }));
  await call('PUT', '/api/workspace/policies', {});
  expect(redacted.error).toContain("The reference to the secret 'CANARY' is no longer in its text");
});

test('a custom tool sends it in a header, and its results are redacted', async () => {
  const tool = { name: 'echo', endpoint_url: `${home.url}/json`, headers: auth, retry_count: 0 };
  expect(
    (await call('POST', '/api/tools', { ...tool, headers: { K: '{secrets.NONE}' } })).body.detail,
  ).toContain("there is no secret 'NONE'");
  expect(
    (await call('POST', '/api/tools', { ...tool, endpoint_url: away.url })).body.detail,
  ).toContain('may not be sent to');
  const made = await call('POST', '/api/tools', tool);
  home.seen.length = 0;
  const tested = await call('POST', `/api/tools/${made.body.id}/test`, { arguments: {} });
  const ran = await run({ id: 'a', kind: 'tool', tool_name: 'custom:echo', params: {} });
  expect([tested.body.ok, ran.status, gives(tested.text + ran.text)]).toEqual([
    true,
    'success',
    [],
  ]);
  expect(home.seen.map(({ headers }) => headers['authorization'])).toEqual([
    `Bearer ${VALUE}`,
    `Bearer ${VALUE}`,
  ]);
  // One that was deleted since fails at once, with its name.
  await call('PUT', '/api/secrets/GONE', {
    value: VALUE,
    allowed_hosts: [`127.0.0.1:${home.port}`],
  });
  await call('PUT', `/api/tools/${made.body.id}`, { headers: { 'X-Key': '{secrets.GONE}' } });
  await call('DELETE', '/api/secrets/GONE');
  const failed = await run({ id: 'a', kind: 'tool', tool_name: 'custom:echo', params: {} });
  expect([failed.status, failed.error]).toEqual([
    'failed',
    expect.stringContaining("There is no secret 'GONE'"),
  ]);
});

test('an MCP server gets it in a header, and its results and errors are redacted', async () => {
  const server = await startHttpServer(({ body, headers }, response) => {
    const { id = null, method, params } = JSON.parse(body || '{}');
    if (method === 'initialize') {
      const serverInfo = { name: 'echo', version: '1' };
      const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
      return sendJson(response, 200, { jsonrpc: '2.0', id, result });
    }
    if (method !== 'tools/call') {
      if (id === null) return void response.writeHead(method === undefined ? 405 : 202).end();
      const error = { code: -32601, message: 'Method not found' };
      return sendJson(response, 200, { jsonrpc: '2.0', id, error });
    }
    const said = `you sent ${String(headers['x-key'])}`;
    const { isError } = params.arguments;
    const content = [{ type: 'text', text: said }];
    const result = { content, structuredContent: { [said]: said }, isError };
    return sendJson(response, 200, { jsonrpc: '2.0', id, result });
  });
  const allowed_hosts = [`127.0.0.1:${server.port}`];
  await call('PUT', '/api/secrets/MCP_KEY', { value: VALUE, allowed_hosts });
  const say = (isError: boolean) =>
    run({
      id: 'a',
      kind: 'tool',
      tool_name: 'mcp',
      params: {
        server_url: server.url,
        tool: 'say',
        arguments: { isError },
        headers: { 'X-Key': '{secrets.MCP_KEY}' },
      },
    });
  const [good, bad] = [await say(false), await say(true)];
  await server.close();
  expect(server.seen.some(({ headers }) => headers['x-key'] === VALUE)).toBe(true);
  expect([good.status, bad.status]).toEqual(['success', 'failed']);
  expect(gives(good.text + bad.text)).toEqual([]);
  expect([good.text, bad.error]).toEqual([
    expect.stringContaining('you sent ***'),
    expect.stringContaining('you sent ***'),
  ]);
});

test.each(['rows', 'logs', 'histories', 'traces', 'answers of every route that reads'] as const)(
  'the secret is nowhere in the %s',
  async (place) => {
    const texts = await world.places[place]();
    expect(texts.join('').length).toBeGreaterThan(100);
    expect(texts.filter((text) => gives(text).length > 0)).toEqual([]);
  },
);
