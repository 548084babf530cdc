import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The first of these words in a request selects the response; default: `refuse`. */
export const echoes = ['accept', 'fail', 'hang up'] as const;

/**
 * Services that repeat the request, with all its credentials, in every response: models, mail, chat, tools and MCP
 * servers.
 */
export async function startEchoServer(): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    void read(request).then((body) => {
      const said = JSON.stringify({ url: request.url, headers: request.headers, body });
      const want = echoes.find((word) => body.includes(word)) ?? 'refuse';
      if (want === 'hang up') return void request.socket.destroy();
      const status = want === 'accept' ? 200 : want === 'fail' ? 500 : 401;
      response.writeHead(status, {
        'content-type': 'application/json',
        'x-said': said.slice(0, 900),
      });
      return void response.end(JSON.stringify(answer(request.url ?? '', body, said, status)));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function answer(url: string, body: string, said: string, status: number): unknown {
  if (status !== 200) {
    return { message: said, error: { message: said, type: 'error', code: said }, name: said };
  }
  if (url.endsWith('/chat/completions')) {
    return {
      id: said,
      object: 'chat.completion',
      created: 1_700_000_000,
      model: said,
      choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    };
  }
  if (url.endsWith('/messages')) {
    return {
      id: said,
      type: 'message',
      role: 'assistant',
      model: said,
      content: [{ type: 'text', text: said }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    };
  }
  if (url.endsWith(':generateContent')) {
    return {
      candidates: [{ content: { role: 'model', parts: [{ text: said }] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: said,
    };
  }
  if (url.endsWith('/mcp')) return mcpAnswer(body, said);
  return { id: said, said };
}

function mcpAnswer(body: string, said: string): unknown {
  const { id = null, method } = JSON.parse(body === '' ? '{}' : body) as {
    id?: unknown;
    method?: string;
  };
  if (method === 'initialize') {
    const serverInfo = { name: 'echo', version: '1' };
    const result = { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo };
    return { jsonrpc: '2.0', id, result };
  }
  const result = { content: [{ type: 'text', text: said }], structuredContent: { said } };
  return { jsonrpc: '2.0', id, result };
}

async function read(request: IncomingMessage): Promise<string> {
  let body = '';
  request.setEncoding('utf8');
  for await (const chunk of request) body += chunk as string;
  return body;
}
