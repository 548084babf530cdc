import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { toolImportInput } from '#shared/contract/tools/tool-import.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { sql } from '#shared/db/pool.ts';
import type { Json } from '#shared/json.ts';
import { createConnectionTokens } from '#shared/operations/connections/tokens.ts';
import type { ToolDeps } from '#shared/operations/tools/custom-tools.ts';
import { importTools } from '#shared/operations/tools/tool-imports.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { startHttpServer, startTcpServer } from '#test/fakes/http-server.ts';
import { type ListingServer, startListingServer } from '#test/fakes/listing-server.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { type OddAnswer, oddError, startOddMcpServer } from '#test/fakes/odd-mcp-server.ts';
import { addMember } from '#test/support/people.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
});
let server: ListingServer;

const schema = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] };
const listed = (name: string, inputSchema: Json = schema) => ({ name, inputSchema });
beforeEach(async () => {
  server = await startListingServer([
    { ...listed('getOrder'), title: 'Get an order', description: 'Reads an order' },
    listed('orders.refund', { type: 'object' }),
  ]);
});
afterEach(async () => {
  await server.close();
  await api.db.query(sql.unsafe`DELETE FROM custom_tools`);
});

const importFrom = (fields: object = {}, by?: Record<string, string>) =>
  api.call('POST', '/api/tools/import', { server_url: `${server.url}/mcp`, ...fields }, by);
const names = (tools: { name: string }[]) => tools.map(({ name }) => name);
const tools = async () => (await api.call('GET', '/api/tools')).body;
const audited = async (limit: number) =>
  (await api.call('GET', `/api/audit?limit=${limit}`)).body.logs;
const nothing = { created: [], updated: [], unchanged: [], skipped: [] };

describe('an import', () => {
  test('can be listed before, with what it would do', async () => {
    await importFrom({ names: ['getOrder'] });
    await api.call('POST', '/api/tools', { name: 'taken', endpoint_url: 'https://x.test' });
    server.tools = [
      { ...listed('getOrder'), title: 'Get an order', description: 'Reads an order, fast' },
      listed('orders.refund', { type: 'object' }),
      listed('taken'),
      listed('???'),
    ];
    const before = await tools();
    const { status, body } = await importFrom({ only_list: true });
    expect(status).toBe(200);
    expect(body).toMatchObject(nothing);
    expect(body.listed).toMatchObject([
      {
        ...{ mcp_tool: 'getOrder', name: 'get_order', description: 'Reads an order, fast' },
        ...{ input_schema: schema, state: 'changed' },
      },
      { mcp_tool: 'orders.refund', name: 'orders_refund', state: 'new' },
      { name: 'taken', state: 'skipped', reason: "A tool named 'taken' already exists" },
      { name: '', state: 'skipped', reason: 'its name has no letter from a to z' },
    ]);
    expect(await tools()).toEqual(before);
    await importFrom({ names: ['getOrder'] });
    expect((await importFrom({ only_list: true, names: ['getOrder'] })).body.listed).toMatchObject([
      { name: 'get_order', state: 'unchanged' },
    ]);
  });

  test('registers each tool as the server describes it, pinned, and is audited', async () => {
    const { status, body } = await importFrom();
    expect([status, body]).toEqual([
      200,
      {
        ...nothing,
        created: [
          {
            id: expect.stringMatching(/^tool_/),
            name: 'get_order',
            mcp_tool: 'getOrder',
            operation: null,
            schema_digest: jsonDigest(schema),
          },
          expect.objectContaining({ name: 'orders_refund', mcp_tool: 'orders.refund' }),
        ],
      },
    ]);
    expect(await tools()).toMatchObject([
      {
        name: 'get_order',
        label: 'Get an order',
        description: 'Reads an order',
        kind: 'mcp',
        endpoint_url: `${server.url}/mcp`,
        mcp_tool: 'getOrder',
        input_schema: schema,
        schema_digest: jsonDigest(schema),
        pinned: true,
        timeout_seconds: 60,
        retry_count: 1,
      },
      { name: 'orders_refund', label: '', description: '', pinned: true },
    ]);
    expect(await audited(2)).toMatchObject([
      { action: 'create', target_type: 'tool', details: { name: 'orders_refund', kind: 'mcp' } },
      { action: 'create', target_type: 'tool', details: { name: 'get_order', kind: 'mcp' } },
    ]);
  });

  test('also works with a server of the current protocol', async () => {
    const sdk = await startMcpServer();
    const { body } = await importFrom({ server_url: `${sdk.url}/mcp` });
    expect(names(body.created)).toEqual(['add', 'fail', 'slow']);
    const url = `/api/tools/${body.created[0].id}/test`;
    const { body: called } = await api.call('POST', url, { arguments: { a: 1, b: 2 } });
    expect(called).toMatchObject({ ok: true, result: { sum: 3 } });
    await sdk.close();
  });

  test('takes only the named tools, and begins their names with the prefix', async () => {
    const { body } = await importFrom({ names: ['getOrder', 'gone'], prefix: 'crm-' });
    expect(body).toEqual({
      ...nothing,
      created: [expect.objectContaining({ name: 'crm-get_order' })],
      skipped: [{ name: 'gone', reason: 'the server has no tool with this name' }],
    });
  });

  test('sends the headers, stores them sealed, and never shows them', async () => {
    const headers = { Authorization: 'Bearer very-secret-word' };
    const { text } = await importFrom({ headers });
    expect(server.requests('tools/list')[0]?.headers['authorization']).toBe(headers.Authorization);
    expect(text).not.toContain('very-secret-word');
    expect((await tools())[0].headers).toEqual({ Authorization: '***' });
    const [tool] = await tools();
    await api.call('POST', `/api/tools/${tool.id}/test`, { arguments: { id: 'x' } });
    expect(server.requests('tools/call')[0]?.headers['authorization']).toBe(headers.Authorization);
  });

  test('reads lists in pages', async () => {
    const paged = await startListingServer(
      Array.from({ length: 7 }, (_, at) => listed(`t${at}`)),
      { pageSize: 3 },
    );
    const { body } = await importFrom({ server_url: paged.url });
    expect(body.created).toHaveLength(7);
    expect(paged.requests('tools/list')).toHaveLength(3);
    await paged.close();
  });

  test('sends a secret only for a caller who can start runs', async () => {
    const { host } = new URL(server.url);
    const secret = { value: 'a value of this import', allowed_hosts: [host] };
    expect((await api.call('PUT', '/api/secrets/IMPORTED', secret)).status).toBe(201);
    const overrides = { run_workflows: false };
    const { headers } = await addMember(api, { role: 'editor', overrides });
    const send = (value: string, by?: Record<string, string>) =>
      importFrom({ headers: { 'x-key': value } }, by);
    const refused = await send('{secrets.IMPORTED}', headers);
    expectRefusal(refused, 403, "This action requires the 'run_workflows' permission");
    expect(server.seen).toEqual([]);
    expect((await send('plain', headers)).status).toBe(200);
    await send('{secrets.IMPORTED}');
    expect(server.requests('tools/list').map((seen) => seen.headers['x-key'])).toEqual([
      'plain',
      secret.value,
    ]);
  });

  test('needs create_edit_workflows', async () => {
    const viewer = await addMember(api, { role: 'viewer' });
    expect((await importFrom({}, viewer.headers)).status).toBe(403);
    expect(server.seen).toEqual([]);
  });
});

describe('a session that is lost', () => {
  const list = { tools: [listed('getOrder')] };
  const counted = (methods: string[]) =>
    methods.filter((method) => method === 'initialize' || method.startsWith('tools/'));

  test('while listing is opened again, and the tools are imported', async () => {
    const odd = await startOddMcpServer({ list, lost: { 'tools/list': 1 } });
    const { status, body } = await importFrom({ server_url: odd.url });
    expect([status, names(body.created)]).toEqual([200, ['get_order']]);
    const attempts = ['initialize', 'tools/list'];
    expect(counted(odd.methods())).toEqual([...attempts, ...attempts]);
    await odd.close();
  });

  test('twice, or without a session, fails the import', async () => {
    for (const session of [true, false]) {
      const odd = await startOddMcpServer({ list, lost: { 'tools/list': 2 }, session });
      const { status, body } = await importFrom({ server_url: odd.url });
      expect([status, body.detail]).toEqual([400, expect.stringMatching(/ answered 404$/)]);
      expect(counted(odd.methods())).toHaveLength(session ? 4 : 2);
      await odd.close();
    }
  });

  test('while listing before a call is opened again, and the call is made once', async () => {
    const call = { content: [], structuredContent: { found: 1 } };
    const lost = { 'tools/list': 0 };
    const odd = await startOddMcpServer({ list, call, lost });
    const { body } = await importFrom({ server_url: odd.url });
    lost['tools/list'] = 1;
    const path = `/api/tools/${body.created[0].id}/test`;
    const tested = await api.call('POST', path, { arguments: { id: 'x' } });
    expect(tested.body).toMatchObject({ ok: true, result: { found: 1 } });
    expect(counted(odd.methods()).slice(-5)).toEqual([
      ...['initialize', 'tools/list', 'initialize', 'tools/list'],
      'tools/call',
    ]);
    await odd.close();
  });
});

describe('a second import', () => {
  test('changes nothing when the server describes the same', async () => {
    const headers = { 'X-Key': 'abcdefgh' };
    const first = await importFrom({ headers });
    const before = await tools();
    server.tools = server.tools.map((tool) => ({
      ...tool,
      inputSchema: Object.fromEntries(Object.entries(tool.inputSchema as object).reverse()),
    }));
    const { body } = await importFrom({ headers });
    expect(body).toEqual({ ...nothing, unchanged: first.body.created });
    expect(await tools()).toEqual(before);
    expect(await audited(1)).toMatchObject([{ action: 'create' }]);
  });

  test('accepts what the server has changed', async () => {
    await importFrom();
    server.tools[0] = { ...listed('getOrder', { type: 'object' }), description: 'Other' };
    const { body } = await importFrom();
    expect(names(body.updated)).toEqual(['get_order']);
    expect(names(body.unchanged)).toEqual(['orders_refund']);
    expect(await tools()).toMatchObject([
      { description: 'Other', input_schema: { type: 'object' }, pinned: true },
      {},
    ]);
    expect(await audited(1)).toMatchObject([
      {
        action: 'update',
        details: { changed: ['description', 'input_schema', 'pinned_schema'] },
      },
    ]);
  });

  test('truncates long texts between characters, and shows no change of them', async () => {
    server.tools = [
      {
        ...listed('long'),
        description: `${'x'.repeat(4_999)}😀${'y'.repeat(8_830)}`,
        title: 'z'.repeat(300),
      },
      { ...listed('pairs'), description: '😀'.repeat(3_000), title: `${'z'.repeat(199)}😀` },
    ];
    const { body } = await importFrom();
    expect([names(body.created), body.skipped]).toEqual([['long', 'pairs'], []]);
    expect(await tools()).toMatchObject([
      { description: 'x'.repeat(4_999), label: 'z'.repeat(200) },
      { description: '😀'.repeat(2_500), label: 'z'.repeat(199) },
    ]);
    const { body: again } = await importFrom();
    expect(names(again.unchanged)).toEqual(['long', 'pairs']);
  });

  test('takes schemas of every draft as they are written', async () => {
    server.tools = [
      listed('draft7', { $schema: 'https://json-schema.org/draft-07/schema#', ...schema }),
      listed('draft4', { $schema: 'http://json-schema.org/draft-04/schema#', ...schema }),
      listed('bare', { $schema: 'http://json-schema.org/schema#', ...schema }),
      listed('twice', { ...schema, required: ['id', 'id'] }),
      listed('none', { ...schema, properties: { id: {}, kind: { enum: [] } } }),
      listed('pair', { ...schema, properties: { id: {}, pair: { items: [{ type: 'string' }] } } }),
      listed('large', { ...schema, properties: { id: { maximum: 2 ** 63 } } }),
    ];
    const { body } = await importFrom();
    expect([body.created.length, body.skipped]).toEqual([7, []]);
  });

  test('replaces the headers', async () => {
    await importFrom({ names: ['getOrder'], headers: { 'X-Key': 'abcdefgh' } });
    const { body } = await importFrom({ names: ['getOrder'], headers: { 'X-Key': 'other' } });
    expect(names(body.updated)).toEqual(['get_order']);
    const [tool] = await tools();
    await api.call('POST', `/api/tools/${tool.id}/test`, { arguments: { id: 'x' } });
    expect(server.requests('tools/call')[0]?.headers['x-key']).toBe('other');
  });

  test('pins a tool again that was edited by hand', async () => {
    await importFrom();
    const [{ id }] = await tools();
    await api.call('PUT', `/api/tools/${id}`, { input_schema: null });
    expect((await tools())[0]).toMatchObject({ pinned: false, schema_digest: null });
    expect(names((await importFrom()).body.updated)).toEqual(['get_order']);
    expect((await tools())[0]).toMatchObject({ pinned: true, schema_digest: jsonDigest(schema) });
  });

  test('does not change tools from other servers', async () => {
    const other = { name: 'get_order', endpoint_url: 'https://a.example/' };
    await api.call('POST', '/api/tools', other);
    await api.call('POST', '/api/tools', {
      name: 'orders_refund',
      endpoint_url: 'https://a.example/mcp',
      kind: 'mcp',
      mcp_tool: 'orders.refund',
    });
    expect((await importFrom()).body).toEqual({
      ...nothing,
      skipped: [
        { name: 'getOrder', reason: "A tool named 'get_order' already exists" },
        { name: 'orders.refund', reason: "A tool named 'orders_refund' already exists" },
      ],
    });
    expect(await tools()).toMatchObject([other, { pinned: false }]);
  });
});

describe('a pin', () => {
  test.each<[string, object, boolean]>([
    ['another schema', { input_schema: { type: 'object' } }, false],
    ['no schema', { input_schema: null }, false],
    ['another address', { endpoint_url: 'http://127.0.0.1:9/' }, false],
    ['another tool of the server', { mcp_tool: 'x' }, false],
    ['another kind', { kind: 'http', mcp_tool: null }, false],
    ['the same schema', { input_schema: schema }, true],
    ['another description', { description: 'x', label: 'y', retry_count: 3 }, true],
    ['other headers', { headers: { 'X-A': 'abc' } }, true],
  ])('with %s: %j is kept: %s', async (_, change, pinned) => {
    const { body } = await importFrom({ names: ['getOrder'] });
    const changed = await api.call('PUT', `/api/tools/${body.created[0].id}`, change);
    expect([changed.status, changed.body.pinned]).toEqual([200, pinned]);
  });

  test('refuses a call once the server has another schema, until the next import', async () => {
    const { body } = await importFrom({ names: ['getOrder'] });
    const call = async () =>
      (await api.call('POST', `/api/tools/${body.created[0].id}/test`, { arguments: { id: 'x' } }))
        .body;
    server.tools[0] = listed('getOrder', { ...schema, title: 'New' });
    expect(await call()).toMatchObject({
      ok: false,
      error: "Tool 'get_order' has changed on its server since it was imported; import it again",
    });
    server.tools.shift();
    expect(await call()).toMatchObject({
      ok: false,
      error: "Tool 'get_order' is no longer on its server",
    });
    expect(server.requests('tools/call')).toEqual([]);
    server.tools.push(listed('getOrder', { ...schema, title: 'New' }));
    await importFrom();
    expect(await call()).toMatchObject({ ok: true, result: { got: { id: 'x' } } });
  });
});

describe('a tool is skipped', () => {
  const deep = (levels: number): Json => (levels === 0 ? {} : { not: deep(levels - 1) });

  test.each<[string, Json, string]>([
    [
      'with a schema of 100 kB',
      { type: 'object', description: 'x'.repeat(100_000) },
      'its schema is longer than 65536 characters',
    ],
    [
      'with a schema that does not compile',
      { type: 'object', properties: { a: { type: 'nonsense' } } },
      'its schema is not a valid JSON Schema',
    ],
    [
      'with an external reference',
      { type: 'object', $ref: 'http://127.0.0.1:1/x.json' },
      'its schema is not a valid JSON Schema',
    ],
    ['with a schema that is too deep', { type: 'object', not: deep(60) }, 'its schema has more'],
  ])('%s', async (_, inputSchema, reason) => {
    server.tools.push(listed('odd', inputSchema));
    const { status, body } = await importFrom();
    expect(status).toBe(200);
    expect(names(body.created)).toEqual(['get_order', 'orders_refund']);
    expect(body.skipped).toEqual([{ name: 'odd', reason: expect.stringContaining(reason) }]);
  });

  test('with a name, description or form that cannot be stored', async () => {
    server.tools = [
      listed('日本'),
      listed('x'.repeat(201)),
      { ...listed('fine'), description: 'A\0B', title: 5 },
      listed('a'.repeat(100)),
    ];
    const { body } = await importFrom();
    expect(names(body.created)).toEqual(['fine', 'a'.repeat(64)]);
    expect(body.skipped).toEqual([
      { name: '日本', reason: 'its name has no letter from a to z' },
      { name: 'x'.repeat(201), reason: expect.stringContaining('its mcp_tool') },
    ]);
    const { body: again } = await importFrom();
    expect(names(again.unchanged)).toEqual(['fine', 'a'.repeat(64)]);
  });

  test('without an input schema that is an object, and the others are imported', async () => {
    server.tools = [
      { name: 'none', inputSchema: null },
      { name: 'text', inputSchema: 'any' },
      { name: 7, inputSchema: {} } as never,
      { name: 'fine', inputSchema: { type: 'object' } },
    ];
    const { body } = await importFrom();
    expect(body.created).toMatchObject([{ name: 'fine' }]);
    const reason = 'the server gives no inputSchema for it that is an object';
    expect(body.skipped).toEqual([
      { name: 'none', reason },
      { name: 'text', reason },
    ]);
  });

  test('with the name of another one', async () => {
    server.tools.push(listed('get.order'), listed('getOrder'), listed('GET-ORDER'));
    const { body } = await importFrom();
    expect(names(body.created)).toEqual(['get_order', 'orders_refund', 'get-order']);
    expect(body.skipped).toEqual([
      { name: 'get.order', reason: "its name here would be 'get_order', as that of 'getOrder'" },
      { name: 'getOrder', reason: 'the server lists it twice' },
    ]);
  });

  test('when the workspace has no room for it', async () => {
    await api.db.query(sql.unsafe`
      INSERT INTO custom_tools (id, workspace_id, name, endpoint_url)
      SELECT 'tool_' || n, ${api.workspaceId}, 't' || n, 'http://x/' FROM generate_series(1, 999) n`);
    const { body } = await importFrom();
    expect(names(body.created)).toEqual(['get_order']);
    expect(body.skipped).toEqual([
      { name: 'orders.refund', reason: 'A workspace has at most 1000 tools; delete some first' },
    ]);
  });

  test('when a published graph calls its name and the caller cannot publish', async () => {
    const graph = { nodes: [{ id: 'a', kind: 'agent', tools: ['custom:get_order'] }], edges: [] };
    const { body: workflow } = await api.call('POST', '/api/workflows', { name: 'x', graph });
    await api.call('POST', `/api/workflows/${workflow.id}/publish`);
    const overrides = { publish_workflows: false };
    const editor = await addMember(api, { role: 'editor', overrides });
    const { body } = await importFrom({}, editor.headers);
    expect(names(body.created)).toEqual(['orders_refund']);
    expect(body.skipped).toEqual([
      { name: 'getOrder', reason: "This action requires the 'publish_workflows' permission" },
    ]);
    await importFrom();
    server.tools[0] = listed('getOrder', { type: 'object' });
    const { body: again } = await importFrom({}, editor.headers);
    expect(names(again.skipped)).toEqual(['getOrder']);
    expect((await tools())[0].input_schema).toEqual(schema);
    await api.call('DELETE', `/api/workflows/${workflow.id}`);
  });
});

describe('an import ends in time', () => {
  let deps: ToolDeps;
  const actor = () => ({
    workspaceId: api.workspaceId,
    id: null,
    name: 'A test',
    role: 'admin' as const,
    overrides: {},
  });
  beforeAll(() => {
    const egress = createEgress({ allow: ['127.0.0.0/8'] });
    const made = { db: api.db, egress, sealer: undefined };
    const connectionTokens = createConnectionTokens({ ...made, publicUrl: 'http://ops.test' });
    const config = { api: { publicUrl: 'http://ops.test' } };
    deps = { ...made, config, connectionTokens };
  });
  afterAll(() => deps.egress.close());

  test('when the server does not respond', async () => {
    const hanging = await startTcpServer(() => undefined);
    const input = toolImportInput.parse({ server_url: hanging.url });
    await expect(
      importTools(deps, actor(), input, { listMs: 200, registerMs: 200 }),
    ).rejects.toMatchObject({
      code: 'invalid',
      message: 'The tools of this server cannot be listed. It did not respond in full within 0.2 s',
    });
    await hanging.close();
  });

  test('when the schemas take too long to check', async () => {
    const input = toolImportInput.parse({ server_url: server.url });
    const reason = 'there was no time left to check its schema; import it by its name';
    expect(await importTools(deps, actor(), input, { listMs: 10_000, registerMs: -1 })).toEqual({
      ...nothing,
      skipped: [
        { name: 'getOrder', reason },
        { name: 'orders.refund', reason },
      ],
    });
  });
});

describe('an import is refused', () => {
  const refusal = async (fields: object) => {
    const { status, body } = await importFrom(fields);
    expect([status, await tools()]).toEqual([400, []]);
    return body.detail as string;
  };

  test('when the server lists 1,000 tools, unless some are named', async () => {
    server.tools = Array.from({ length: 1_000 }, (_, at) => listed(`t${at}`));
    expect(await refusal({})).toBe(
      'The tools of this server cannot be listed. The server has more than 200 tools; choose some with names',
    );
    const { body } = await importFrom({ names: ['t3', 't999'] });
    expect(names(body.created)).toEqual(['t3', 't999']);
  });

  /** A server whose list has always another page. */
  const startEndless = (page: (cursor: string | undefined) => object) =>
    startHttpServer((request, response) => {
      const { id, method, params } = JSON.parse(request.body || '{}');
      const result =
        method === 'initialize'
          ? {
              protocolVersion: '2025-11-25',
              capabilities: { tools: {} },
              serverInfo: { name: 'x', version: '1' },
            }
          : page(params?.cursor);
      const answer =
        method === 'server/discover' ? { error: { code: -32601, message: 'no' } } : { result };
      response
        .writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' })
        .end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });

  test('when the pages have no end', async () => {
    const endless = await startEndless((cursor) => ({ tools: [], nextCursor: `${cursor}+` }));
    expect(await refusal({ server_url: endless.url })).toContain('more than 100 pages');
    await endless.close();
  });

  test('but not if a cursor is repeated, which ends the list, with each tool once', async () => {
    const constant = await startEndless(() => ({ tools: [listed('one')], nextCursor: 'again' }));
    const { body } = await importFrom({ server_url: constant.url });
    expect([names(body.created), body.skipped]).toEqual([['one'], []]);
    await constant.close();
    const empty = await startEndless((cursor) =>
      cursor === undefined
        ? { tools: [listed('first')], nextCursor: '' }
        : { tools: [listed('behind')] },
    );
    const { body: both } = await importFrom({ server_url: empty.url });
    expect(names(both.created)).toEqual(['first', 'behind']);
    await empty.close();
  });

  test('when the list is very large, or nested very deep', async () => {
    server.tools = Array.from({ length: 10 }, (_, at) =>
      listed(`t${at}`, { type: 'object', description: 'x'.repeat(1_000_000) }),
    );
    expect(await refusal({})).toContain('more than 8000000 characters');
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    server.tools = [listed('deep', { type: 'object', deep: 'HERE' })];
    const nested = await startHttpServer(async (request, response) => {
      const answer = await fetch(server.url, { method: 'POST', body: request.body });
      response
        .writeHead(answer.status, { 'content-type': 'application/json' })
        .end((await answer.text()).replace('"HERE"', deep));
    });
    expect(await refusal({ server_url: nested.url })).toContain('nested deeper than 100 levels');
    await nested.close();
  });

  const both = (answer: OddAnswer) => ({ list: answer, call: answer });
  test('when the server is not an MCP server, fails, or does not exist', async () => {
    const page = await startHttpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>Hello</p>');
    });
    expect(await refusal({ server_url: page.url })).toMatch(/did not respond as an MCP server/);
    await page.close();
    const failing = await startHttpServer((_request, response) => {
      response.writeHead(503).end('down');
    });
    expect(await refusal({ server_url: failing.url })).toMatch(/answered 503/);
    await failing.close();
    expect(await refusal({ server_url: failing.url })).toMatch(/could not be reached/);
    const silent = await startTcpServer((socket) => socket.destroy());
    expect(await refusal({ server_url: silent.url })).toMatch(/cannot be listed/);
    await silent.close();
  });

  const otherVersion = {
    protocolVersion: '2099-01-01',
    capabilities: {},
    serverInfo: { name: 'x', version: '1' },
  };
  test.each<[string, Parameters<typeof startOddMcpServer>[0]]>([
    ['an unknown version of the protocol', { initialize: otherVersion }],
    ['null to initialize', { initialize: null }],
    ['a part of what initialize needs', { initialize: { protocolVersion: 7 } }],
    ['an error that is a text to initialize', { initialize: oddError('broken') }],
    ['a page to initialize', { initialize: () => '<p>Hello</p>' }],
    ['null', both(null)],
    ['a result that is a list', both(['a'])],
    ['an error that is a text', both(oddError('broken'))],
    ['an error with another code', both(oddError({ code: 'E', message: 'broken' }))],
    ['an error without a message', both(oddError({ code: -32000 }))],
    ['an odd _meta', both({ tools: [], content: [], _meta: 'loud' })],
    ['an error as it should be', both(oddError({ code: -32000, message: 'broken' }))],
  ])('for the reason that a test of a tool returns: %s', async (_what, answers) => {
    for (const stream of [false, true]) {
      const odd = await startOddMcpServer({ ...answers, stream });
      const detail = await refusal({ server_url: odd.url });
      const { body: tool } = await api.call('POST', '/api/tools', {
        name: 'odd',
        kind: 'mcp',
        endpoint_url: odd.url,
        mcp_tool: 'get',
      });
      const tested = await api.call('POST', `/api/tools/${tool.id}/test`, {});
      await api.call('DELETE', `/api/tools/${tool.id}`);
      expect(tested).toMatchObject({
        status: 200,
        body: { ok: false, result: null, error: expect.stringMatching(/^127\.0\.0\.1:\d+/) },
      });
      expect(tested.body.error.length).toBeLessThan(700);
      expect(detail).toBe(`The tools of this server cannot be listed. ${tested.body.error}`);
      await odd.close();
    }
  });

  test.each<[string, object]>([
    ['server_url', { server_url: 'file:///etc/passwd' }],
    ['server_url', { server_url: 'https://user:word@tools.example.com/' }],
    ['server_url', { server_url: undefined }],
    ['names', { names: [] }],
    ['names', { names: [''] }],
    ['names', { names: Array.from({ length: 201 }, (_, at) => `t${at}`) }],
    ['prefix', { prefix: 'CRM' }],
    ['prefix', { prefix: '1' }],
    ['prefix', { prefix: 'x'.repeat(33) }],
    ['headers', { headers: { Host: 'inner' } }],
    ['headers', { headers: { 'Idempotency-Key': 'x' } }],
    ['headers', { headers: { 'X-A': '***' } }],
    ['nonsense', { nonsense: 1 }],
  ])('because of %s: %j, without a request', async (field, fields) => {
    expect(await refusal(fields)).toContain(field);
    expect(server.seen).toEqual([]);
  });
});
