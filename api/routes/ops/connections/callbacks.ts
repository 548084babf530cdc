import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { endSignIn } from '#shared/operations/connections/sign-ins.ts';
import {
  CALLBACK_PATH,
  callbackUrl,
  CLIENT_DOCUMENT_PATH,
  clientDocumentUrl,
  CONNECTIONS_PAGE,
} from '#shared/values/connection-callback.ts';
import { clientMetadataOf } from '#shared/platform/calls/client-registration.ts';
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

const clientDocument = z.object({
  client_id: z.string(),
  client_name: z.string(),
  client_uri: z.string(),
  redirect_uris: z.array(z.string()),
  grant_types: z.array(z.string()),
  response_types: z.array(z.string()),
  token_endpoint_auth_method: z.string(),
});

/**
 * What authorization servers read about this service as their client. It only depends on the address, so it does not
 * say which connections exist.
 */
export function clientDocumentRoutes(app: App, { config }: RouteContext): void {
  const { publicUrl } = config.api;
  const documentOf = (place: { id: string; namesIssuer: boolean }, reply: FastifyReply) => {
    reply.header('cache-control', 'public, max-age=3600');
    const metadata = clientMetadataOf(callbackUrl(publicUrl, place), publicUrl, 'none');
    return { client_id: clientDocumentUrl(publicUrl, place), ...metadata };
  };
  app.get(CLIENT_DOCUMENT_PATH, {
    schema: { hide: true, response: { 200: clientDocument } },
    config: { capability: 'public' },
    handler: async (_request, reply) => documentOf({ id: '', namesIssuer: true }, reply),
  });
  app.get(`${CLIENT_DOCUMENT_PATH}/:id`, {
    schema: {
      hide: true,
      params: z.strictObject({ id: z.string().regex(/^con_\w{1,60}$/) }),
      response: { 200: clientDocument },
    },
    config: { capability: 'public' },
    handler: async ({ params }, reply) => documentOf({ id: params.id, namesIssuer: false }, reply),
  });
}
