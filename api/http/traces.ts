import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#shared/people/actor.ts';
import { inRequest, openRequest, type TracedRequest } from '#shared/platform/tracing/requests.ts';
import { isTracing, recordSpan } from '#shared/platform/tracing/spans.ts';
import type { App, DataCall, HookRequest } from '#api/deps.ts';

/** Probes and scrapes would outnumber all other requests. */
const UNTRACED = new Set(['/api/health', '/api/ready', '/metrics']);

/**
 * Records one span per request, as a child of the caller's span if the request has one. Does nothing without tracing.
 */
export function traceRequests(app: App): void {
  if (!isTracing()) return;
  const requests = new WeakMap<FastifyRequest, TracedRequest>();
  app.addHook('onRequest', async (request) => {
    requests.set(request, openRequest(request.headers['traceparent']));
  });
  // Only around the handler: a body arrives in the context of its connection, not of its request.
  app.addHook('preHandler', (request, _reply, next) => {
    const traced = requests.get(request);
    if (traced === undefined) next();
    else inRequest(traced, next);
  });
  app.addHook('onResponse', async (request, reply) => {
    const traced = requests.get(request);
    if (traced !== undefined) recordRequest(request, reply, traced);
  });
}

/** The route pattern, because a path can contain the secret of a webhook. */
function recordRequest(request: FastifyRequest, reply: FastifyReply, traced: TracedRequest): void {
  const route = request.routeOptions.url;
  if (route !== undefined && UNTRACED.has(route)) return;
  const { place, parent, startedAt, links } = traced;
  const { method } = request;
  const { statusCode: status } = reply;
  recordSpan({
    name: route === undefined ? method : `${method} ${route}`,
    kind: 'server',
    place,
    parent,
    startedAt,
    links,
    endedAt: startedAt + reply.elapsedTime,
    failed: status >= 500,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'ops.request_id': request.id,
      'ops.workspace_id': workspaceOf(request),
    },
  });
}

function workspaceOf(request: FastifyRequest): string | undefined {
  const actor = request.actor as Actor | undefined;
  const call = request.dataCall as DataCall | undefined;
  const hook = request.hook as HookRequest | undefined;
  return actor?.workspaceId ?? call?.caller.workspaceId ?? hook?.webhook.workspace_id;
}
