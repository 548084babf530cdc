import rateLimit from '@fastify/rate-limit';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../shared/errors.ts';
import { clientNetwork } from './client-address.ts';
import type { App } from '../deps.ts';

const WINDOW_MS = 60_000;
/** Addresses remembered at a time, the least recently seen go first. */
const MAX_ADDRESSES = 10_000;
/** A probe must not be told that the service is down because it asks. */
const probes: ReadonlySet<string> = new Set(['/api/health', '/api/ready']);
export const isProbe = (url: string): boolean => probes.has(url);

/** What a limited answer says of the limit, for pages of other origins to read. */
export const rateLimitHeaders = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset'];

/**
 * Lets each address send so many requests in a minute, WebSocket handshakes and unknown paths included, and refuses
 * the others with `rate_limited` before anything else is known of them. Each process counts for itself. 0: no limit.
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

/** Counts a request that the framework refuses before any hook has seen it. Throws AppError `rate_limited`. */
export async function countUnrouted(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { server } = request;
  if (server.hasDecorator('rateLimit')) await server.rateLimit().call(server, request, reply);
}

const refusal = (max: number, seconds: number): string =>
  `Too many requests: at most ${max} a minute. Try again in ${seconds} s`;

// By the route that was found, never by the path: it can be written in many ways.
function isLimited({ routeOptions: { url } }: FastifyRequest): boolean {
  return url === undefined || (url.startsWith('/api/') && !isProbe(url));
}
