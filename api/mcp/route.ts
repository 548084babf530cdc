import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { mcpAnswers, mcpRequest } from '../../shared/contract/mcp.ts';
import { answers, nothing } from '../http/responses.ts';
import type { App, RouteContext } from '../deps.ts';
import { createRunActs } from '../run-actions.ts';
import { withParamErrors } from './param-errors.ts';
import { createServer } from './server.ts';

const url = '/api/mcp';
const ANY_ANSWER = 'application/json, text/event-stream';

/**
 * `/api/mcp`: the API as tools of the Model Context Protocol, over streamable HTTP without sessions. Both generations
 * of the protocol are served by the same tools; each request gets a server and a transport of its own. There is no route
 * for GET and DELETE: without sessions no stream can be opened or closed, and the protocol wants 405.
 */
export function mcpRoutes(app: App, context: RouteContext): void {
  const acts = createRunActs(context);
  const serve = async (request: FastifyRequest, reply: FastifyReply) => {
    const server = createServer({ context, acts, actor: request.actor });
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
    url,
    schema: {
      tags: ['MCP'],
      operationId: 'mcp',
      summary: 'Call the API as tools of the Model Context Protocol',
      description:
        'Streamable HTTP without sessions, for protocol versions from 2024-11-05 to 2026-07-28. `tools/list` names ' +
        'the tools; each takes the permission of the act it stands for.',
      body: mcpRequest,
      response: answers({
        ...mcpAnswers,
        202: nothing.meta({ description: 'Taken; there is nothing to answer' }),
      }),
    },
    config: { capability: 'view' },
    handler: serve,
  });
}

/** One message, or a batch of an earlier protocol, to its answer. No answer is a stream: no tool tells of progress. */
async function exchange(server: McpServer, request: Request, body: unknown): Promise<Response> {
  if (request.method === 'POST' && (await isLegacyRequest(request, body))) {
    const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
    await server.connect(transport);
    // Once the answer is out, which need not wait for it.
    request.signal.addEventListener('abort', () => void server.close(), { once: true });
    return transport.handleRequest(request, { parsedBody: body });
  }
  // Nothing here ever changes while it runs, so there is nothing to subscribe to.
  return createMcpHandler(() => server, { maxSubscriptions: 0 }).fetch(request, {
    parsedBody: body,
  });
}

/** Aborted when the answer is out, or will not be: Fastify's own signal is as soon as the body was read. */
function hangUp(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  // With a reason: making up one of its own, with a stack, costs more than all of the rest here.
  reply.raw.once('close', () => gone.abort('closed'));
  return gone.signal;
}

/** The request as the library takes it. */
function asWebRequest({ method, raw }: FastifyRequest, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw.headers)) {
    if (value !== undefined) headers.set(name, String(value));
  }
  // Who does not say what they take, takes anything.
  const accept = headers.get('accept');
  if (accept === null || accept === '*/*') headers.set('accept', ANY_ANSWER);
  // All that is looked at, since the body was read already. A whole one takes as long to make as the tool's answer.
  return { method, headers, signal } as Request;
}
