import type { FastifyRequest } from 'fastify';
import { Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { AppError } from '#shared/errors.ts';
import { type AddressRanges, createAddressRanges } from '#shared/platform/egress/address-ranges.ts';
import { isRebound } from '#shared/platform/egress/known-host.ts';
import type { ApiDeps, App, DataCall, HookRequest } from '#api/deps.ts';

/** Counts and times requests by route, and serves the metrics to callers with access. */
export function measureRequests(app: App, deps: ApiDeps): void {
  const registry = deps.metrics ?? new Registry();
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request line to the last byte of the response',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  app.addHook('onResponse', async (request, reply) => {
    // The duration of a stream says nothing about the service.
    if (request.routeOptions.config.stream === true && reply.statusCode === 200) return;
    // The pattern instead of the path, because each id would create a series.
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = reply.elapsedTime / 1000;
    durations.observe({ method: request.method, route, status: reply.statusCode }, seconds);
    // Reads are frequent and not logged; changes and failures are.
    const level = request.method === 'GET' && reply.statusCode < 500 ? 'debug' : 'info';
    if (!deps.log.isLevelEnabled(level)) return;
    request.log[level](
      {
        method: request.method,
        route,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
        ...subjectOf(request),
      },
      'request',
    );
  });
  const { api } = deps.config;
  const isAllowed = createAddressRanges(api.metricsAllow);
  app.get('/metrics', {
    schema: { hide: true, response: { 200: z.string() } },
    config: { capability: 'public' },
    handler: async (request, reply) => {
      const isRefused =
        isRebound(request.raw, api.publicUrl) || !maySeeMetrics(request, isAllowed, api);
      if (isRefused) throw new AppError('not_found', 'Not found');
      reply.type(registry.contentType);
      return registry.metrics();
    },
  });
}

const subjects: Record<string, string> = {
  runs: 'runId',
  workflows: 'workflowId',
  hooks: 'workflowId',
};

/** The workspace and subject of the request, under the keys that all logs use. */
function subjectOf(request: FastifyRequest): Record<string, string> {
  const hook = request.hook as HookRequest | undefined;
  const { id = hook?.workflowId } = (request.params ?? {}) as { id?: string };
  const actor = request.actor as Actor | undefined;
  const call = request.dataCall as DataCall | undefined;
  const workspaceId = actor?.workspaceId ?? call?.caller.workspaceId ?? hook?.webhook.workspace_id;
  const noun = subjects[request.routeOptions.url?.split('/')[2] ?? ''] ?? 'targetId';
  return {
    ...(workspaceId === undefined ? {} : { workspaceId }),
    ...(id === undefined ? {} : { [noun]: id }),
  };
}

// A request through an untrusted proxy seems to come from the proxy, so it is refused.
function maySeeMetrics(
  request: FastifyRequest,
  isAllowed: AddressRanges,
  { trustedProxies }: ApiDeps['config']['api'],
): boolean {
  const forwarded = request.headers['x-forwarded-for'] ?? request.headers['forwarded'];
  if (forwarded !== undefined && trustedProxies.length === 0) return false;
  return isAllowed(request.ip);
}
