import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { endSignIn } from '#shared/operations/connections/sign-ins.ts';
import { CALLBACK_PATH, CONNECTIONS_PAGE } from '#shared/values/connection-callback.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { readSignInCookie, signInCookie } from './cookie.ts';

/** Services add parameters of their own, and repeat some: nothing that a browser brings is an error of this service. */
const query = z.record(z.string(), z.unknown());

/** Where services send browsers back. Each sign-in ends on the same page of the console. */
export function connectionCallbackRoutes(app: App, context: RouteContext): void {
  const { publicUrl } = context.config.api;

  const end = async (
    request: FastifyRequest,
    reply: FastifyReply,
    connectionId: string | undefined,
  ): Promise<void> => {
    const given = request.query as Record<string, unknown>;
    const text = (name: string): string | undefined => {
      const value = given[name];
      return typeof value === 'string' && value.length <= 4_000 ? value : undefined;
    };
    const result = await endSignIn(context, {
      state: text('state'),
      code: text('code'),
      error: text('error') ?? (given['error'] === undefined ? undefined : 'error'),
      iss: text('iss'),
      connectionId,
      cookieOf: (id) => readSignInCookie(publicUrl, request.headers.cookie, id),
    });
    const { problem, signInId: id } = result;
    if (id !== undefined) {
      reply.header('set-cookie', signInCookie(publicUrl, { id, value: '', seconds: 0 }));
    }
    const shown = new URLSearchParams({
      result: problem === undefined ? 'connected' : 'error',
      ...(problem === undefined ? {} : { reason: problem }),
      ...(result.connectionId === undefined ? {} : { connection: result.connectionId }),
    });
    reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
    await reply.redirect(`${publicUrl}${CONNECTIONS_PAGE}?${shown.toString()}`, 303);
  };

  // For browsers only. The state and the cookie are the credential.
  const config = { capability: 'public' } as const;
  app.get(CALLBACK_PATH, {
    schema: { hide: true, querystring: query, response: { 303: z.undefined() } },
    config,
    handler: (request, reply) => end(request, reply, undefined),
  });
  app.get(`${CALLBACK_PATH}/:id`, {
    schema: {
      hide: true,
      params: z.strictObject({ id: z.string().min(1) }),
      querystring: query,
      response: { 303: z.undefined() },
    },
    config,
    handler: (request, reply) => end(request, reply, request.params.id),
  });
}
