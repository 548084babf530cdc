import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * Headers for browsers on every response, whether a route, the framework or the bare socket sends it. HSTS is not
 * included, because it is up to the operator of the TLS proxy.
 */
export const securityHeaders = {
  // Responses are data. Only the reference page is a document, and it has its own policy.
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Responses are private. The few public ones set their own header.
  'cache-control': 'no-store',
} as const;

/** Headers of a response to a request that no hook has seen. */
export function prepareAnswer(reply: FastifyReply): void {
  reply.headers(securityHeaders).header('x-request-id', reply.request.id);
  if (isHandshake(reply.request.raw)) reply.header('connection', 'close');
}

/** Whether its connection was handed over for an upgrade. No further requests are read from it. */
export const isHandshake = (request: IncomingMessage & { upgrade?: boolean }): boolean =>
  request.upgrade === true;
