import { beforeAll, expect, test } from '@jest/globals';
import { useTestApi } from '#test/api/test-api.ts';
import { type Checker, createChecker, type Problem } from './checker.ts';
import { type OpenApiDocument, type Operation, operationsOf } from './document.ts';

// Undocumented responses that the fuzzer has found, each with the request that reproduces it.

const api = useTestApi();
let checker: Checker;
let operations: Map<string, Operation>;
beforeAll(async () => {
  const documents = {
    operations: api.app.swagger() as unknown as OpenApiDocument,
    data: api.app.dataSwagger() as unknown as OpenApiDocument,
  };
  checker = createChecker(documents);
  operations = new Map(
    Object.values(documents).flatMap((document) =>
      operationsOf(document).map((each) => [each.name, each] as const),
    ),
  );
});

/** The response and its problems. */
async function ask(
  name: string,
  path: string,
  json?: unknown,
  headers: Record<string, string> = {},
): Promise<{ problems: Problem[]; status: number; body: any }> {
  const operation = operations.get(name)!;
  const {
    status,
    headers: answered,
    text,
    body,
  } = await api.call(operation.method, path, json, headers);
  const problems = checker.check(
    {
      number: 1,
      class: 'valid',
      surface: operation.surface,
      operation,
      method: operation.method,
      path,
      headers,
      credential: 'owner',
      json,
      how: [],
      unreadable: false,
    },
    { status, headers: answered as Record<string, string>, body: Buffer.from(text), ms: 1 },
  );
  return { problems, status, body };
}

test.each(['GET /api/ready', 'GET /api/health'])(
  '%s refuses a query with a NUL character',
  async (name) => {
    const path = name.replace('GET ', '');
    expect(await ask(name, `${path}?x=%00`)).toMatchObject({ problems: [], status: 400 });
  },
);

test('evidence without a source, URL or time returns null for each', async () => {
  const { body: feed } = await api.call('POST', '/api/data/feeds', { name: 'Evidence' });
  const evidence = { source_id: null, source_name: null, url: null, retrieved_at: null };
  await api.call('POST', '/api/data/ingest', {
    feed_id: feed.id,
    records: [
      {
        ...{ type: 'entity', external_key: 'e', entity_type: 'project', canonical_name: 'E' },
        attributes: {},
        source_evidence: [evidence],
      },
    ],
  });
  const { body: key } = await api.call('POST', '/api/data/keys', {
    ...{ name: 'Reader', mode: 'live', scopes: ['entities:read'] },
  });
  const member = await ask('GET /api/data/entities', '/api/data/entities');
  expect(member).toMatchObject({ problems: [], status: 200 });
  expect(member.body.entities[0].source_evidence).toMatchObject([evidence]);
  const program = await ask('GET /v1/entities', '/v1/entities', undefined, {
    'x-api-key': key.secret,
  });
  expect(program).toMatchObject({ problems: [], status: 200 });
  expect(program.body.data[0].source_evidence).toMatchObject([evidence]);
});

test('an invalid MCP message with a fractional ID gets a documented 400', async () => {
  const answer = await ask('POST /api/mcp', '/api/mcp', { id: 0.5, method: 'tools/call' });
  expect(answer).toMatchObject({ problems: [], status: 400 });
});

test('a batch of MCP messages gets a documented list of responses', async () => {
  const message = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const answer = await ask('POST /api/mcp', '/api/mcp', [message(1), message(2)]);
  expect(answer).toMatchObject({ problems: [], status: 200, body: [{ id: 1 }, { id: 2 }] });
});

test.each([
  ['initialize', undefined, 'params is required'],
  [
    'initialize',
    { protocolVersion: '2025-11-25', capabilities: {} },
    'params.clientInfo is required',
  ],
])('invalid params of %s, %j, return an invalid params error', async (method, params, why) => {
  const { problems, status, body } = await ask('POST /api/mcp', '/api/mcp', {
    ...{ jsonrpc: '2.0', id: 1, method, params },
  });
  expect([problems, status]).toEqual([[], 200]);
  expect(body).toEqual({
    jsonrpc: '2.0',
    id: 1,
    error: { code: -32602, message: expect.stringContaining(why) },
  });
});
