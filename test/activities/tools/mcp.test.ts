import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createMcp } from '../../../activities/tools/mcp.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { createEgress, type Egress } from '../../../shared/platform/egress/egress.ts';
import { type FakeServer, startHttpServer } from '../../fakes/http-server.ts';
import { startMcpServer } from '../../fakes/mcp-server.ts';
import { toolCall } from '../../fakes/node-call.ts';

let server: FakeServer;
let egress: Egress;

beforeEach(async () => {
  server = await startMcpServer();
  egress = createEgress({ allow: ['127.0.0.1'] });
});
afterEach(async () => {
  await egress.close();
  await server.close();
});

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
