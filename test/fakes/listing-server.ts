import type { Json, JsonObject } from '#shared/json.ts';
import { type FakeServer, type Seen, sendJson, startHttpServer } from './http-server.ts';

/** A tool as `tools/list` returns it; a test can give one that no SDK would. */
export interface ListedTool {
  name: string;
  title?: Json;
  description?: Json;
  inputSchema: Json;
}

export interface ListingServer extends FakeServer {
  /** What it lists; can be changed at any time. */
  tools: ListedTool[];
  /** The requests of this method, oldest first. */
  requests(method: string): Seen[];
}

/**
 * An MCP server of an earlier protocol that lists any tools, in pages, and answers each call with its arguments. Unlike
 * one made with the SDK, it does not check what it lists.
 */
export async function startListingServer(
  tools: ListedTool[],
  { pageSize = 100 }: { pageSize?: number } = {},
): Promise<ListingServer> {
  const server = await startHttpServer((request, response) => {
    const message = read(request);
    if (message === undefined) return void response.writeHead(405).end();
    if (message.id === undefined) return void response.writeHead(202).end();
    const result = resultOf(message, listing.tools, pageSize);
    const answer =
      result === undefined
        ? { error: { code: -32601, message: `No method ${message.method}` } }
        : { result };
    sendJson(response, 200, { jsonrpc: '2.0', id: message.id, ...answer });
  });
  const listing: ListingServer = {
    ...server,
    tools,
    requests: (method) => server.seen.filter((seen) => read(seen)?.method === method),
  };
  return listing;
}

interface Message {
  id?: Json;
  method: string;
  params?: JsonObject;
}

const read = ({ body }: Seen): Message | undefined =>
  body === '' ? undefined : (JSON.parse(body) as Message);

function resultOf(
  { method, params = {} }: Message,
  tools: ListedTool[],
  pageSize: number,
): object | undefined {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'listing', version: '1.0.0' },
      };
    case 'tools/list': {
      const from = Number(params['cursor'] ?? 0);
      const next = from + pageSize;
      return {
        tools: tools.slice(from, next),
        ...(next < tools.length && { nextCursor: String(next) }),
      };
    }
    case 'tools/call':
      return {
        content: [{ type: 'text', text: JSON.stringify(params['arguments']) }],
        structuredContent: { got: params['arguments'] },
      };
    default:
      return undefined;
  }
}
