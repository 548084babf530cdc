import rateLimit from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#shared/errors.ts';
import { clientNetwork } from './client-address.ts';
import type { App } from '#api/deps.ts';

const WINDOW_MS = 60_000;
/** The maximum number of addresses that are counted; the least recently seen are dropped first. */
const MAX_ADDRESSES = 10_000;
/** Probes are frequent, and must not be refused. */
const probes: ReadonlySet<string> = new Set(['/api/health', '/api/ready']);
export const isProbe = (url: string): boolean => probes.has(url);

/** Headers of a limited response that pages of other origins can read. */
export const rateLimitHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/**
 * Limits the requests of each address per minute, including WebSocket handshakes and unknown paths. Further requests
 * get `rate_limited` before any other check. Each process counts separately. 0: no limit.
 */
export function limitRate(app: App, perMinute: number): void {
  if (perMinute === 0) return;
  app
    .register(rateLimit, {
      global: false,
      max: perMinute,
      timeWindow: WINDOW_MS,
      cache: MAX_ADDRESSES,
      keyGenerator: clientNetwork,
      allowList: (request) => !isLimited(request),
      errorResponseBuilder: (_request, { max, ttl }) =>
        new AppError('rate_limited', refusal(max, Math.ceil(ttl / 1000))),
    })
    .after(() => {
      app.addHook('onRequest', app.rateLimit());
    });
}

/** Counts a request that the framework refuses before any hook. Throws AppError `rate_limited`. */
export async function countUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { server } = request;
  if (server.hasDecorator('rateLimit')) await server.rateLimit().call(server, request, reply);
}

const refusal = (max: number, seconds: number): string =>
  `Too many requests: at most ${max} a minute. Try again in ${seconds} s`;

// By the matched route instead of the path, because a path can be written in many ways.
function isLimited({ routeOptions: { url } }: FastifyRequest): boolean {
  return url === undefined || (url.startsWith('/api/') && !isProbe(url));
}
