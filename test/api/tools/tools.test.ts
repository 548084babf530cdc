import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { addMember } from '#test/support/people.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

let api: TestApi;
let keyless: TestApi;
const server = useToolServer();
beforeAll(async () => {
  api = await startTestApi({
    ENCRYPTION_KEY: 'a key of this test, long enough',
    EGRESS_ALLOW: '127.0.0.0/8',
  });
  keyless = await startTestApi();
});
afterAll(async () => {
  await api.stop();
  await keyless.stop();
});

const endpoint_url = 'https://tools.example.com/run';
let made = 0;
const register = async (fields: object = {}) => {
  const name = `tool-${(made += 1)}`;
  return api.call('POST', '/api/tools', { name, endpoint_url, ...fields });
};
const secret = 'Bearer abcdefghijklmnop0123';
const stored = async (id: string) =>
  api.db.oneFirst(sql.type(z.object({ headers: z.record(z.string(), z.string()) }))`
    SELECT headers FROM custom_tools WHERE id = ${id}`);

describe('a tool that only reads', () => {
  const limited = async () => {
    const overrides = { publish_workflows: false };
    return addCaller({ db: api.db, workspaceId: api.workspaceId }, { role: 'editor', overrides });
  };

  test('is confirmed only by someone who may publish', async () => {
    const { headers } = await limited();
    const name = `tool-${(made += 1)}`;
    const given = { name, endpoint_url, read_only: true };
    const refused = await api.call('POST', '/api/tools', given, headers);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      "This action requires the 'publish_workflows' permission",
    ]);
    const { body: tool } = await api.call('POST', '/api/tools', { name, endpoint_url }, headers);
    const change = (fields: object, by?: Record<string, string>) =>
      api.call('PUT', `/api/tools/${tool.id}`, fields, by);
    expect((await change({ read_only: true }, headers)).status).toBe(403);
    expect((await change({ read_only: true })).body.read_only).toBe(true);
    // What was confirmed stays so when something else changes.
    expect((await change({ label: 'a', read_only: true }, headers)).body.read_only).toBe(true);
    const moved = { endpoint_url: `${endpoint_url}/2` };
    expect((await change({ ...moved, read_only: true }, headers)).status).toBe(403);
    expect((await change(moved, headers)).body.read_only).toBe(false);
  });
});

describe('registering a tool', () => {
  test('fills in defaults and is audited without the endpoint URL', async () => {
    const { status, body, headers } = await register({ name: 'plain' });
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/tools/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^tool_[0-9a-z]{26}$/),
      name: 'plain',
      ...{ request: null, auth: null, changed: false, response_schema: null },
      ...{ document_url: null, document_server: null },
      language: 'javascript',
      source: null,
      label: '',
      description: '',
      kind: 'http',
      endpoint_url,
      method: 'POST',
      headers: {},
      mcp_tool: null,
      input_schema: null,
      schema_digest: null,
      pinned: false,
      timeout_seconds: 60,
      retry_count: 1,
      read_only: false,
      created_by: expect.stringMatching(/^mem_/),
      created_at: expect.any(String),
      updated_at: body.created_at,
      etag: expect.any(String),
    });
    const { body: log } = await api.call('GET', '/api/audit?limit=1');
    expect(log.logs[0]).toMatchObject({
      action: 'create',
      target_type: 'tool',
      target_id: body.id,
      details: { name: 'plain', kind: 'http' },
    });
    expect(JSON.stringify(log)).not.toContain('tools.example.com');
  });

  test('accepts a name once per workspace, also concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => register({ name: `race-${round}` })),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(9).fill(409)]);
      const refused = answers.find(({ status }) => status === 409);
      expect(refused?.body.detail).toBe(`A tool named 'race-${round}' already exists`);
    }
  });

  test.each<[string, object]>([
    ['name', { name: 'Has Space' }],
    ['name', { name: '1st' }],
    ['name', { name: 'a'.repeat(65) }],
    ['endpoint_url', { endpoint_url: 'file:///etc/passwd' }],
    ['endpoint_url', { endpoint_url: 'ftp://tools.example.com/' }],
    ['endpoint_url', { endpoint_url: '//tools.example.com/' }],
    ['endpoint_url', { endpoint_url: 'https://user:word@tools.example.com/' }],
    ['endpoint_url', { endpoint_url: 'https://user@tools.example.com/' }],
    ['mcp_tool', { kind: 'mcp' }],
    ['mcp_tool', { mcp_tool: 'add' }],
    ['headers', { headers: { Host: 'inner' } }],
    ['headers', { headers: { 'Content-Length': '1' } }],
    ['headers', { headers: { 'Transfer-Encoding': 'chunked' } }],
    ['headers', { headers: { 'X-Service-Signature': 'x' } }],
    ['headers', { headers: { 'x-a': 'b\r\nHost: inner' } }],
    ['headers', { headers: { 'Idempotency-Key': 'always the same' } }],
    ['headers', { headers: { 'X-A': 'a', 'x-a': 'b' } }],
    ['headers', { headers: { 'x-a': '***' } }],
    [
      'headers',
      { headers: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`x-${n}`, 'a'])) },
    ],
    ['input_schema', { input_schema: { type: 'nonsense' } }],
    ['input_schema', { input_schema: { $ref: 'http://127.0.0.1:1/schema.json' } }],
    ['input_schema', { input_schema: { $ref: 'file:///etc/passwd' } }],
    ['input_schema', { input_schema: { $async: true } }],
    ['input_schema', { input_schema: { $schema: 'http://json-schema.org/draft-03/schema#' } }],
    ['input_schema', { input_schema: { properties: { a: { pattern: '(a+)+$'.repeat(1_700) } } } }],
    [
      'input_schema',
      { input_schema: { properties: { a: { pattern: '((a{1000}){1000}){1000}' } } } },
    ],
    ['input_schema', { input_schema: { properties: { a: { pattern: '(?=a)b' } } } }],
    ['input_schema', { input_schema: { description: 'x'.repeat(70_000) } }],
  ])('names %s when it refuses %j', async (field, fields) => {
    const { status, body } = await register(fields);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(field)]);
  });

  test('accepts a recursive schema and a draft 7 schema', async () => {
    const tree = { properties: { kids: { type: 'array', items: { $ref: '#' } } } };
    expect((await register({ input_schema: tree })).status).toBe(201);
    const $schema = 'http://json-schema.org/draft-07/schema#';
    const draft7 = {
      $schema,
      definitions: { a: {} },
      properties: { a: { $ref: '#/definitions/a' } },
    };
    expect((await register({ input_schema: draft7 })).body.input_schema).toEqual(draft7);
  });

  test('accepts limits of numbers of any size in a schema, and names one that is too large', async () => {
    const send = (name: string, maximum: string) =>
      api.send({
        method: 'POST',
        url: '/api/tools',
        headers: { 'content-type': 'application/json' },
        payload: `{"name": "${name}", "endpoint_url": "${server.url}/limited", "input_schema": {
          "properties": {"id": {"type": "integer", "maximum": ${maximum}}}}}`,
      });
    const limited = await send('limited', '9223372036854775807');
    expect(limited.status).toBe(201);
    const attempt = (id: unknown) =>
      api.call('POST', `/api/tools/${limited.body.id}/test`, { arguments: { id } });
    expect((await attempt(1)).body).toMatchObject({ ok: true });
    expect((await attempt('x')).body.detail).toBe('Invalid body: arguments.id must be integer');
    expectRefusal(
      await send('unlimited', '1e400'),
      400,
      'Invalid body: input_schema.properties.id.maximum is a number too large to hold; send it as a string',
    );
  });

  test('is refused beyond 1,000 tools', async () => {
    await keyless.db.query(sql.unsafe`
      INSERT INTO custom_tools (id, workspace_id, name, endpoint_url)
      SELECT 'tool_' || n, ${keyless.workspaceId}, 't' || n, 'http://x/' FROM generate_series(1, 1000) n`);
    const { status, body } = await keyless.call('POST', '/api/tools', {
      name: 'more',
      endpoint_url,
    });
    expectRefusal({ status, body }, 409, 'A workspace has at most 1000 tools; delete some first');
    await keyless.db.query(sql.unsafe`DELETE FROM custom_tools`);
  });
});

describe('the list', () => {
  test('is paged by limit and offset', async () => {
    const { body: all } = await api.call('GET', '/api/tools');
    const names = all.map((tool: { name: string }) => tool.name);
    expect(names.length).toBeGreaterThan(5);
    const page = await api.call('GET', '/api/tools?limit=2&offset=1');
    expect(page.body).toEqual(all.slice(1, 3));
    expect((await api.call('GET', '/api/tools?limit=201')).status).toBe(400);
  });
});

describe('headers', () => {
  test('are stored encrypted and shown masked', async () => {
    const { body } = await register({ headers: { Authorization: secret } });
    expect(body.headers).toEqual({ Authorization: '***' });
    const answer = await api.call('GET', `/api/tools/${body.id}`);
    expect(answer.body).toEqual(body);
    const kept = (await stored(body.id))['Authorization'];
    expect(kept).toMatch(/^s1\.[0-9a-f]{8}\.[\w-]+$/);
    expect(kept).not.toContain(Buffer.from(secret).toString('base64url').slice(0, 12));
  });

  test('sent as the mask keep their value; others are replaced or removed', async () => {
    const { body } = await register({
      endpoint_url: `${server.url}/before`,
      headers: { 'X-Keep': secret, 'X-Change': 'a', 'X-Go': 'b' },
    });
    const before = await stored(body.id);
    const headers = { 'x-keep': '***', 'X-Change': 'c', 'X-New': 'd' };
    const changed = await api.call('PUT', `/api/tools/${body.id}`, { headers });
    expect(changed.body.headers).toEqual({ 'x-keep': '***', 'X-Change': '***', 'X-New': '***' });
    const after = await stored(body.id);
    expect(after['x-keep']).toBe(before['X-Keep']);
    expect(after['X-Change']).not.toBe(before['X-Change']);
    const refused = await api.call('PUT', `/api/tools/${body.id}`, { headers: { 'X-Go': '***' } });
    expectRefusal(refused, 400, 'Invalid body: headers.X-Go has no stored value');
    await api.call('PUT', `/api/tools/${body.id}`, {
      endpoint_url: `${server.url}/kept`,
      headers: { 'X-Keep': '***' },
    });
    await api.call('POST', `/api/tools/${body.id}/test`, {});
    expect(server.calls('kept')[0]?.headers['x-keep']).toBe(secret);
  });

  test('need ENCRYPTION_KEY; a tool without headers does not', async () => {
    const tool = { name: 'keyless', endpoint_url };
    const refused = await keyless.call('POST', '/api/tools', { ...tool, headers: { 'X-A': 'a' } });
    expectRefusal(
      refused,
      400,
      'Invalid body: headers cannot be stored, since ENCRYPTION_KEY is not set on this service',
    );
    expect((await keyless.call('POST', '/api/tools', tool)).status).toBe(201);
  });

  test('of another tool, or encrypted with another key, are not sent', async () => {
    const url = { endpoint_url: `${server.url}/stolen` };
    const { body: owner } = await register({ headers: { Authorization: secret } });
    const { body: thief } = await register(url);
    const steal = async (headers: object) => {
      await api.db.query(sql.unsafe`
        UPDATE custom_tools SET headers = ${JSON.stringify(headers)}::json WHERE id = ${thief.id}`);
      const { body } = await api.call('POST', `/api/tools/${thief.id}/test`, {});
      expect(body).toMatchObject({
        ok: false,
        error: expect.stringContaining('cannot be opened with the current ENCRYPTION_KEY'),
      });
    };
    const { Authorization: sealed = '' } = await stored(owner.id);
    await steal({ Authorization: sealed });
    await steal({ Authorization: sealed.replace(/^s1\.[0-9a-f]{8}/, 's1.00000000') });
    await steal({ Authorization: 's1.x' });
    expect(server.calls('stolen')).toEqual([]);
  });
});

describe('changing a tool', () => {
  test('updates the given fields, and audits only actual changes', async () => {
    const { body } = await register({ headers: { 'X-A': secret } });
    const path = `/api/tools/${body.id}`;
    const change = { label: 'New', retry_count: 0, name: body.name };
    const changed = await api.call('PUT', path, change);
    expect(changed.body).toEqual({
      ...body,
      ...change,
      updated_at: expect.any(String),
      etag: expect.any(String),
    });
    const { body: log } = await api.call('GET', '/api/audit?limit=1');
    expect(log.logs[0]).toMatchObject({
      action: 'update',
      target_type: 'tool',
      target_id: body.id,
      details: { name: body.name, changed: ['label', 'retry_count'] },
    });
    await api.call('PUT', path, change);
    const { body: after } = await api.call('GET', '/api/audit?limit=1');
    expect(after).toEqual(log);
  });

  test.each<[string, object]>([
    ['name cannot be changed: graphs call the tool by it', { name: 'other' }],
    ["mcp_tool is required with kind 'mcp'", { kind: 'mcp' }],
    ["mcp_tool is only allowed with kind 'mcp'", { mcp_tool: 'x' }],
    ['input_schema is not a valid JSON Schema', { input_schema: { type: 1 } }],
  ])('is refused: %s', async (detail, fields) => {
    const { body } = await register();
    const refused = await api.call('PUT', `/api/tools/${body.id}`, fields);
    expect([refused.status, refused.body.detail]).toEqual([400, expect.stringContaining(detail)]);
  });
});

describe('testing a tool', () => {
  const schema = {
    type: 'object',
    properties: { who: { type: 'object', properties: { email: { type: 'string' } } } },
    required: ['who'],
    additionalProperties: false,
  };
  const attempt = async (fields: object, args?: object) => {
    const { body } = await register(fields);
    return api.call('POST', `/api/tools/${body.id}/test`, args && { arguments: args });
  };

  test("returns the endpoint's result", async () => {
    server.answer('ok', { body: { found: 3 } });
    const { status, body } = await attempt(
      { endpoint_url: `${server.url}/ok`, input_schema: schema },
      { who: { email: 'a@b.c' } },
    );
    expect([status, body]).toEqual([
      200,
      {
        ...{ ok: true, result: { found: 3 }, error: null, status: 200 },
        ...{ duration_ms: expect.any(Number), omitted_headers: [], needs_sign_in: null },
      },
    ]);
    const [seen] = server.calls('ok');
    expect(seen).toMatchObject({ method: 'POST', body: '{"who":{"email":"a@b.c"}}' });
    expect(seen?.headers['idempotency-key']).toMatch(/^test:[0-9a-f-]{36}$/);
  });

  test('keeps every digit of numbers that no double can represent', async () => {
    const exact = await startHttpServer((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"id": 7615917337495251231, "rates": [1e400], "count": 3}');
    });
    const { body } = await attempt({ endpoint_url: exact.url });
    expect(body).toMatchObject({
      ok: true,
      result: { id: '7615917337495251231', rates: ['1e400'], count: 3 },
    });
    await exact.close();
  });

  test.each<[object | undefined, string]>([
    [undefined, "arguments must have required property 'who'"],
    [{ who: 'me' }, 'arguments.who must be object'],
    [{ who: { email: 5 } }, 'arguments.who.email must be string'],
    [{ who: {}, extra: 1 }, "arguments must not have 'extra'"],
  ])('refuses the arguments %j without a call', async (args, problem) => {
    const { status, body } = await attempt(
      { endpoint_url: `${server.url}/never`, input_schema: schema },
      args,
    );
    expect([status, body.detail]).toEqual([400, `Invalid body: ${problem}`]);
    expect(server.calls('never')).toEqual([]);
  });

  test('returns a failure and does not retry', async () => {
    server.answer('broken', { status: 500, body: { oops: 'x'.repeat(2_000) } });
    const { status, body } = await attempt({
      endpoint_url: `${server.url}/broken`,
      retry_count: 5,
    });
    expect([status, body]).toEqual([
      200,
      {
        ok: false,
        result: null,
        error: expect.stringMatching(/^127\.0\.0\.1:\d+ answered 500: \{"oops":"x+$/),
        status: 500,
        duration_ms: expect.any(Number),
        omitted_headers: [],
        needs_sign_in: null,
      },
    ]);
    expect(body.error.length).toBeLessThan(560);
    expect(server.calls('broken')).toHaveLength(1);
  });

  test('sends no stored header and no secret for a caller who cannot start runs, and says so', async () => {
    const token = 'value-of-the-secret-0123';
    const kept = { value: token, allowed_hosts: [new URL(server.url).host] };
    expect((await api.call('PUT', '/api/secrets/TOOL_TOKEN', kept)).status).toBe(201);
    const headers = { Authorization: secret, 'X-Token': 'Bearer {secrets.TOOL_TOKEN}' };
    const overrides = { run_workflows: false, create_edit_workflows: true };
    const editor = await addMember(api, { role: 'editor', overrides });
    const mcp = await startMcpServer();
    for (const fields of [
      { endpoint_url: `${server.url}/sealed` },
      { kind: 'mcp', mcp_tool: 'add', endpoint_url: `${mcp.url}/mcp`, headers: { 'X-A': secret } },
    ]) {
      const { body: tool } = await register({ headers, ...fields });
      const path = `/api/tools/${tool.id}/test`;
      const args = { arguments: { a: 1, b: 2 } };
      const tried = await api.call('POST', path, args, editor.headers);
      expect([tried.status, tried.body.omitted_headers]).toEqual([
        200,
        Object.keys(tool.headers).sort(),
      ]);
      const whole = await api.call('POST', path, args);
      expect(whole.body).toMatchObject({ ok: true, omitted_headers: [] });
    }
    const [without, withAll] = server.calls('sealed');
    expect(without?.headers).not.toHaveProperty('authorization');
    expect(without?.headers).not.toHaveProperty('x-token');
    expect(withAll?.headers).toMatchObject({
      authorization: secret,
      'x-token': `Bearer ${token}`,
    });
    await mcp.close();
  });

  test('returns an error when the tool times out', async () => {
    server.answer('slow', { delayMs: 20_000 });
    const { body } = await attempt({ endpoint_url: `${server.url}/slow`, timeout_seconds: 1 });
    expect(body).toMatchObject({ ok: false, status: null });
    expect(body.error).toContain('did not respond in full within 1 s');
  });

  test('cannot reach private addresses', async () => {
    for (const host of ['169.254.169.254', '10.0.0.1', '[::1]', '0x7f.1', 'localhost']) {
      const { body } = await keyless.call('POST', '/api/tools', {
        name: `inside-${(made += 1)}`,
        endpoint_url: `http://${host}:${new URL(server.url).port}/inside`,
      });
      const answer = await keyless.call('POST', `/api/tools/${body.id}/test`, {});
      expect(answer.body).toMatchObject({ ok: false, status: null });
    }
    expect(server.calls('inside')).toEqual([]);
  });

  test('works with an MCP server', async () => {
    const mcp = await startMcpServer();
    try {
      const fields = { kind: 'mcp', endpoint_url: `${mcp.url}/mcp` };
      const added = await attempt({ ...fields, mcp_tool: 'add' }, { a: 1, b: 2 });
      expect(added.body).toMatchObject({ ok: true, result: { sum: 3 }, status: null });
      const failed = await attempt({ ...fields, mcp_tool: 'fail' });
      expect(failed.body).toMatchObject({
        ok: false,
        error: "MCP tool 'fail' failed: out of paper",
      });
    } finally {
      await mcp.close();
    }
  });

  test('applies the policies and records their events', async () => {
    const { body: tool } = await register({ endpoint_url: `${server.url}/governed` });
    const rules = {
      tool: `custom:${tool.name}`,
      allowed_workflow_ids: [],
      blocked_arguments: [{ argument: 'country', values: ['KP'] }],
    };
    const redaction = { detectors: ['email'], patterns: [] };
    await api.call('PUT', '/api/workspace/policies', { tools: [rules], redaction });
    const path = `/api/tools/${tool.id}/test`;
    const blocked = await api.call('POST', path, { arguments: { country: 'KP' } });
    expect(blocked.body).toMatchObject({
      ok: false,
      error: `Argument 'country' of tool 'custom:${tool.name}' has a blocked value`,
    });
    expect(server.calls('governed')).toEqual([]);
    await api.call('POST', path, { arguments: { country: 'FR', note: 'jane@example.com' } });
    expect(server.calls('governed').map((call) => JSON.parse(call.body))).toEqual([
      { country: 'FR', note: '[REDACTED:email]' },
    ]);
    const { body: events } = await api.call('GET', '/api/governance/events');
    expect(events.map((event: { type: string }) => event.type)).toEqual([
      'data_redacted',
      'tool_argument_blocked',
    ]);
    await api.call('PUT', '/api/workspace/policies', {});
  });
});

describe('a graph that calls a custom tool', () => {
  const graphOf = (name: string) => ({
    nodes: [{ id: 'a', kind: 'tool', tool_name: `custom:${name}` }],
    edges: [],
  });
  const define = async (name: string) => {
    const body = { name, graph: graphOf(name) };
    return (await api.call('POST', '/api/workflows', body)).body.id as string;
  };
  const trigger = async (id: string, call = api.call) =>
    (await call('POST', `/api/workflows/${id}/runs`, {})).status;

  test('is valid and can run only while the tool is registered, in every process', async () => {
    const other = await api.another();
    const id = await define('comes-and-goes');
    const valid = async () =>
      (await api.call('POST', `/api/workflows/${id}/validate`, {})).body.valid as boolean;
    for (let round = 0; round < 5; round += 1) {
      expect([await valid(), await trigger(id), await trigger(id, other.call)]).toEqual([
        false,
        400,
        400,
      ]);
      const { body: tool } = await register({ name: 'comes-and-goes' });
      expect([await valid(), await trigger(id), await trigger(id, other.call)]).toEqual([
        true,
        201,
        201,
      ]);
      expect((await other.call('DELETE', `/api/tools/${tool.id}`)).status).toBe(204);
    }
    const refused = await api.call('POST', `/api/workflows/${id}/runs`, {});
    expect(refused.body.detail).toBe(
      "Workflow graph invalid: Node 'a': the custom tool 'custom:comes-and-goes' is not registered",
    );
    await other.app.close();
  });

  test('cannot be triggered after the deletion of its tool, also concurrently', async () => {
    const id = await define('raced');
    for (let round = 0; round < raceRounds(10); round += 1) {
      const { body: tool } = await register({ name: 'raced' });
      await trigger(id);
      let deleted = false;
      const triggers = Array.from({ length: 8 }, async () => {
        for (;;) {
          const begunAfter = deleted;
          const status = await trigger(id);
          if (begunAfter) return status;
          expect([201, 400]).toContain(status);
        }
      });
      expect((await api.call('DELETE', `/api/tools/${tool.id}`)).status).toBe(204);
      deleted = true;
      expect(new Set(await Promise.all(triggers))).toEqual(new Set([400]));
    }
  }, 60_000);

  test('cannot use a tool of another workspace', async () => {
    await api.db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES ('ws_o', 'O')`);
    await api.db.query(sql.unsafe`
      INSERT INTO custom_tools (id, workspace_id, name, endpoint_url)
      VALUES ('tool_o', 'ws_o', 'theirs', 'http://x/')`);
    expect(await trigger(await define('theirs'))).toBe(400);
  });
});
