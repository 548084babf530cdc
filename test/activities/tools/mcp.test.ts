import type { ServerResponse } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createMcp } from '#activities/tools/mcp.ts';
import type { JsonObject } from '#shared/json.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { startHttpServer } from '#test/fakes/http-server.ts';
import { startMcpServer } from '#test/fakes/mcp-server.ts';
import { toolCall } from '#test/fakes/node-call.ts';
import { type OddAnswer, oddError, startOddMcpServer } from '#test/fakes/odd-mcp-server.ts';
import { useStageEach } from '#test/support/stage.ts';

const egress = useStageEach(() => createEgress({ allow: ['127.0.0.1'] }));
const server = useStageEach(startMcpServer);

const call = (params: JsonObject, rest: Parameters<typeof toolCall>[2] = {}) =>
  createMcp(
    egress,
    undefined,
  )(toolCall('mcp', { server_url: `${server.url}/mcp`, ...params }, rest));

describe('mcp', () => {
  it('calls a tool and returns text and structure', async () => {
    const result = await call({
      tool: 'add',
      arguments: { a: 2, b: 3 },
      headers: { Authorization: 'Bearer t' },
    });
    expect(result).toEqual({
      output: { content: [{ type: 'text', text: '5' }], structured: { sum: 5 } },
      costMicros: 0,
    });
    expect(server.seen.at(-1)?.headers).toMatchObject({
      authorization: 'Bearer t',
      'idempotency-key': 'run_1/step/0',
    });
  });

  it.each(['application/json', 'text/event-stream'])(
    'keeps the digits of numbers in a result, and refuses one that is too large (%s)',
    async (type) => {
      let structured = '{"id":7615917337495251231,"rate":1e400}';
      const calls: string[] = [];
      const raw = await startHttpServer((request, response) => {
        if (request.method !== 'POST') return void response.writeHead(405).end();
        const { id, method } = JSON.parse(request.body) as { id?: unknown; method: string };
        if (id === undefined) return void response.writeHead(202).end();
        calls.push(method);
        const result =
          method === 'tools/call'
            ? `{"content":[],"structuredContent":${structured}}`
            : '{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}';
        const text =
          method === 'tools/call' || method === 'initialize'
            ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`
            : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":{"code":-32601,"message":"no"}}`;
        response.writeHead(200, { 'content-type': type });
        response.end(type === 'application/json' ? text : `event: message\ndata: ${text}\n\n`);
      });
      try {
        const asked = { server_url: `${raw.url}/mcp`, tool: 'find' };
        expect(await call(asked)).toMatchObject({
          output: { structured: { id: '7615917337495251231', rate: '1e400' } },
        });
        structured = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
        calls.length = 0;
        // It does not wait for another answer, so longer than a test may take.
        const wanted = call(asked, { node: { timeout_seconds: 3_600 } });
        await expect(wanted).rejects.toMatchObject({
          name: 'NodeError',
          message: expect.stringContaining('nested deeper than 100 levels'),
          retryable: false,
        });
        expect(calls.filter((method) => method === 'tools/call')).toHaveLength(1);
      } finally {
        await raw.close();
      }
    },
  );

  it('passes on the delay that a server requests', async () => {
    const busy = await startHttpServer(
      (_request, response) => void response.writeHead(503, { 'retry-after': '7' }).end(),
    );
    try {
      await expect(call({ server_url: `${busy.url}/mcp`, tool: 'find' })).rejects.toMatchObject({
        status: 503,
        retryable: true,
        retryAfterMs: 7_000,
      });
    } finally {
      await busy.close();
    }
  });

  it('fails when the tool fails', async () => {
    await expect(call({ tool: 'fail' })).rejects.toMatchObject({
      name: 'NodeError',
      message: "MCP tool 'fail' failed: out of paper",
      retryable: true,
      definite: true,
    });
  });

  it('fails on an unknown tool and on invalid arguments', async () => {
    await expect(call({ tool: 'nothing' })).rejects.toMatchObject({ name: 'NodeError' });
    await expect(call({ tool: 'add', arguments: { a: 'x' } })).rejects.toMatchObject({
      name: 'NodeError',
    });
  });

  it('stops at the node timeout and on abort', async () => {
    await expect(call({ tool: 'slow' }, { node: { timeout_seconds: 0.3 } })).rejects.toMatchObject({
      name: 'NodeError',
      retryable: true,
    });
    const controller = new AbortController();
    const reason = new Error('run cancelled');
    const wanted = call({ tool: 'slow' }, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 100);
    await expect(wanted).rejects.toBe(reason);
  });

  it.each([
    [
      { server_url: 'http://169.254.169.254/mcp', tool: 'x' },
      "The address of '169.254.169.254' is not allowed",
    ],
    [{ server_url: 'nonsense', tool: 'x' }, 'not a valid URL'],
    [{ server_url: 'file:///etc/passwd', tool: 'x' }, 'must start with http'],
    [{ tool: 'x', headers: { Host: 'inner' } }, "Header 'Host' cannot be set"],
    [{}, "'tool'"],
    [{ tool: 'x', arguments: 'text' }, "'arguments'"],
  ])('refuses %j permanently', async (params, message) => {
    await expect(call(params as JsonObject)).rejects.toMatchObject({
      name: 'NodeError',
      message: expect.stringContaining(message),
      retryable: false,
    });
    expect(server.seen).toEqual([]);
  });

  it.each([
    [404, false],
    [401, false],
    [503, true],
  ])('turns HTTP %d into a node error; retryable: %s', async (status, retryable) => {
    const broken = await startHttpServer(
      (_request, response) => void response.writeHead(status).end('no'),
    );
    try {
      const wanted = call({ server_url: broken.url, tool: 'add' });
      await expect(wanted).rejects.toMatchObject({ name: 'NodeError', retryable });
    } finally {
      await broken.close();
    }
  });

  it('fails with a node error if the server is not MCP or redirects internally', async () => {
    const inside = await startHttpServer((_request, response) => void response.end('secret'));
    const answers = [
      (response: ServerResponse) => void response.end('<html>'),
      (response: ServerResponse) =>
        void response
          .writeHead(307, { location: inside.url.replace('127.0.0.1', '127.0.0.2') })
          .end(),
    ];
    for (const answer of answers) {
      const odd = await startHttpServer((_request, response) => answer(response));
      await expect(call({ server_url: odd.url, tool: 'add' })).rejects.toMatchObject({
        name: 'NodeError',
      });
      await odd.close();
    }
    expect(inside.connections()).toBe(0);
    await inside.close();
  });
});

const calls = (methods: string[]): number => methods.filter((name) => name === 'tools/call').length;

describe('an MCP server with an unexpected response', () => {
  const failing = async (answers: Parameters<typeof startOddMcpServer>[0]) => {
    const odd = await startOddMcpServer(answers);
    try {
      const error = await call({ server_url: odd.url, tool: 'x' }).catch(
        (reason: unknown) => reason,
      );
      return { error, made: calls(odd.methods()) };
    } finally {
      await odd.close();
    }
  };

  it.each<[string, OddAnswer]>([
    [
      'an unknown version',
      { protocolVersion: '2099-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } },
    ],
    ['null', null],
    ['a part of what is needed', { protocolVersion: 7 }],
    ['an error that is a text', oddError('broken')],
    ['an error without a message', oddError({ code: -32000 })],
  ])('to initialize fails the step with %s, and names the server', async (_what, initialize) => {
    for (const stream of [false, true]) {
      const { error, made } = await failing({ initialize, stream });
      expect(error).toMatchObject({
        name: 'NodeError',
        message: expect.stringMatching(/^127\.0\.0\.1:\d+ did not respond as an MCP server: /),
        retryable: false,
      });
      expect((error as Error).message.length).toBeLessThan(700);
      expect(made).toBe(0);
    }
  });

  it.each<[string, OddAnswer]>([
    ['a body that is not JSON', () => 'done!'],
    ['JSON that is no message', () => '{"result": 1}'],
    ['a result that is a text', (id) => JSON.stringify({ jsonrpc: '2.0', id, result: 'done' })],
    ['a result of null', null],
    ['a result with an odd _meta', { content: [{ type: 'text', text: 'ok' }], _meta: 'loud' }],
    ['an error that is a text', oddError('broken')],
    ['an error of null', oddError(null)],
    ['an error with another code', oddError({ code: 'E_BROKEN', message: 'broken' })],
    ['an error without a message', oddError({ code: -32000 })],
  ])('to a call fails the step once: %s', async (_what, answer) => {
    for (const stream of [false, true]) {
      const { error, made } = await failing({ call: answer, stream });
      expect(error).toMatchObject({ name: 'NodeError', retryable: false, definite: true });
      expect((error as Error).message).toMatch(
        /^127\.0\.0\.1:\d+ did not respond as an MCP server: its answer is not/,
      );
      expect(made).toBe(1);
    }
  });

  it.each<[string, object, object]>([
    [
      'parts of an unknown type',
      {
        content: [
          { type: 'text', text: 'ok' },
          { type: 'video', url: 'https://x.example/1' },
        ],
      },
      {
        content: [
          { type: 'text', text: 'ok' },
          { type: 'video', url: 'https://x.example/1' },
        ],
        structured: null,
      },
    ],
    [
      'odd annotations and structure',
      { content: [{ type: 'text', text: 'ok', annotations: 'loud' }], structuredContent: ['a'] },
      { content: [{ type: 'text', text: 'ok', annotations: 'loud' }], structured: ['a'] },
    ],
    [
      'an odd _meta of a part',
      { content: [{ type: 'text', text: 'ok', _meta: 'loud' }], _meta: { a: 1 } },
      { content: [{ type: 'text', text: 'ok', _meta: 'loud' }], structured: null },
    ],
    [
      'the shape of the first version',
      { toolResult: { n: 1 } },
      { content: [], structured: { n: 1 } },
    ],
  ])('is read as far as possible: %s', async (_what, answer, output) => {
    for (const stream of [false, true]) {
      const odd = await startOddMcpServer({ call: answer, stream });
      try {
        expect((await call({ server_url: odd.url, tool: 'x' })).output).toEqual(output);
        expect(calls(odd.methods())).toBe(1);
      } finally {
        await odd.close();
      }
    }
  });

  it.each<[object, string]>([
    [
      { isError: true, content: [], structuredContent: { code: 'no_stock' } },
      '{"code":"no_stock"}',
    ],
    [
      { isError: true, content: [{ type: 'resource', resource: { uri: 'x:', text: 'the log' } }] },
      'the log',
    ],
    [{ isError: true, content: [] }, 'no reason given'],
  ])('that fails gives the reason: %j', async (answer, reason) => {
    const { error } = await failing({ call: answer });
    expect(error).toMatchObject({ message: `MCP tool 'x' failed: ${reason}` });
  });
});

describe('a lost session', () => {
  const answer = { content: [{ type: 'text', text: 'ok' }] };

  it('is opened again, and the call is repeated', async () => {
    const odd = await startOddMcpServer({ call: answer, lost: { 'tools/call': 1 } });
    const { output } = await call({ server_url: odd.url, tool: 'x' });
    expect(output).toMatchObject({ content: answer.content });
    const methods = odd.methods().filter((name) => name === 'initialize' || name === 'tools/call');
    expect(methods).toEqual(['initialize', 'tools/call', 'initialize', 'tools/call']);
    await odd.close();
  });

  it('is final if it is lost again, or if there was no session', async () => {
    for (const [session, made] of [
      [true, 2],
      [false, 1],
    ] as const) {
      const odd = await startOddMcpServer({ call: answer, lost: { 'tools/call': 9 }, session });
      const wanted = call({ server_url: odd.url, tool: 'x' });
      await expect(wanted).rejects.toMatchObject({ name: 'NodeError', retryable: false });
      expect(calls(odd.methods())).toBe(made);
      await odd.close();
    }
  });
});
