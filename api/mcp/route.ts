import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mcpAnswers, mcpRequest } from '#shared/contract/mcp.ts';
import { MCP_PATH } from '#shared/operations/authorizations/server.ts';
import { responses, nothing } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { createRunActions } from '#api/run-actions.ts';
import { withParamErrors } from './param-errors.ts';
import { createServer } from './server.ts';

const ANY_ANSWER = 'application/json, text/event-stream';

/**
 * `/api/mcp`: the API as tools of the Model Context Protocol, over streamable HTTP without sessions. The same tools
 * serve both generations of the protocol. Each request gets its own server and transport. There is no route for GET and
 * DELETE: without sessions, no stream can be opened or closed, and the protocol requires 405.
 */
export function mcpRoutes(app: App, context: RouteContext): void {
  const actions = createRunActions(context);
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const server = createServer({ context, actions, actor: request.actor });
    const response = await exchange(server, asWebRequest(request, hangUp(reply)), request.body);
    const text = withParamErrors(await response.text());
    return reply
      .code(response.status)
      .headers(Object.fromEntries(response.headers))
      .serializer((payload: string) => payload)
      .send(text === '' ? undefined : text);
  };

  app.route({
    method: 'POST',
    url: MCP_PATH,
    schema: {
      operationId: 'mcp',
      summary: 'Call the API as tools of the Model Context Protocol',
      description:
        'Streamable HTTP without sessions, for protocol versions from 2024-11-05 to 2026-07-28. `tools/list` names ' +
        'the tools, one for each published workflow with an `input_schema` among them; each requires the permission of ' +
        'its action.',
      body: mcpRequest,
      response: responses({
        ...mcpAnswers,
        202: nothing.meta({ description: 'Accepted; there is no response' }),
      }),
    },
    config: { capability: 'view', tokens: true },
    handler: serve,
  });
}

/**
 * Handles one message, or a batch of an earlier protocol, and returns its response. No response is a stream, because no
 * tool reports progress.
 */
async function exchange(server: McpServer, request: Request, body: unknown): Promise<Response> {
  if (request.method === 'POST' && (await isLegacyRequest(request, body))) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    // The response does not wait for this.
    request.signal.addEventListener('abort', () => void server.close(), { once: true });
    return transport.handleRequest(request, { parsedBody: body });
  }
  // Without streams, clients cannot subscribe: they list the tools again.
  return createMcpHandler(() => server, { maxSubscriptions: 0 }).fetch(request, {
    parsedBody: body,
  });
}

/** Aborted when the response was sent or the connection closed. Fastify's own signal aborts once the body was read. */
function hangUp(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // With a reason, because creating the default one, with a stack, costs more than the rest of this function.
  reply.raw.once('close', () => gone.abort('closed'));
  return gone.signal;
}

/** The request in the library's format. */
function asWebRequest({ method, raw }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  // Without an Accept header, anything is accepted.
  const accept = headers.get('accept');
  if (accept === null || accept === '*/*') headers.set('accept', ANY_ANSWER);
  // Contains only what the library reads, since the body is already parsed. A full request would cost as much as the
  // tool call.
  return { method, headers, signal } as Request;
}
