import type { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

/**
 * What every answer tells browsers, whoever sends it: a route, the framework, or the bare socket. HSTS is not among
 * them: whoever terminates TLS in front of us decides about it.
 */
export const securityHeaders = {
  // Answers are data; only the reference page is a document, and it brings a policy of its own.
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Answers are private; the few that are not say so themselves.
  'cache-control': 'no-store',
} as const;

/** Heads of an answer whose request no hook has seen yet. */
export function prepareAnswer(reply: FastifyReply): void {
  reply.headers(securityHeaders).header('x-request-id', reply.request.id);
  if (isHandshake(reply.request.raw)) reply.header('connection', 'close');
}

/** Whether its connection was handed over for an upgrade. Nobody reads requests from it any more, whatever the answer. */
export const isHandshake = (request: IncomingMessage & { upgrade?: boolean }): boolean =>
  request.upgrade === true;
