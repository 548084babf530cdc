import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { ServerResponse } from 'node:http';
import { type FakeServer, type Seen, startHttpServer } from './http-server.ts';

/**
 * A small MCP server with the tools `add`, `fail` (reports an error) and `slow` (responds after five seconds). `guard`
 * sees each request first, and returns whether it has answered it.
 */
export async function startMcpServer(
  guard: (request: Seen, response: ServerResponse) => Promise<boolean> = async () => false,
): Promise<FakeServer> {
  const handler = createMcpHandler(buildServer);
  const server = await startHttpServer(async (request, response) => {
    if (await guard(request, response)) return;
    const answer = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method,
        headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
          name,
          String(value),
        ]),
        ...(request.body === '' ? {} : { body: request.body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  return {
    ...server,
    close: async () => {
      await handler.close();
      await server.close();
    },
  };
}

function buildServer(): McpServer {
  const server = new McpServer({ name: 'fake', version: '1.0.0' });
  server.registerTool(
    'add',
    {
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    ({ a, b }) => ({
      content: [{ type: 'text', text: String(a + b) }],
      structuredContent: { sum: a + b },
    }),
  );
  server.registerTool('fail', { inputSchema: z.object({}) }, () => ({
    content: [{ type: 'text', text: 'out of paper' }],
    isError: true,
  }));
  server.registerTool('slow', { inputSchema: z.object({}) }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000).unref());
    return { content: [{ type: 'text', text: 'late' }] };
  });
  return server;
}
