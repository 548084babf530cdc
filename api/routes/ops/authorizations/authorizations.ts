import { z } from 'zod';
import {
  authorizationInput,
  authorizationPreviewInput,
  authorizationPreviewSchema,
  authorizationQuery,
  authorizationSchema,
  grantedAuthorizationSchema,
} from '#shared/contract/authorizations/authorization.ts';
import {
  listAuthorizations,
  revokeAuthorization,
} from '#shared/db/authorizations/authorizations.ts';
import {
  authorizeClient,
  previewAuthorization,
} from '#shared/operations/authorizations/requests.ts';
import { authorizationServerOf } from '#shared/operations/authorizations/server.ts';
import { type Actor, inPerson } from '#shared/people/actor.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { withLatestUse } from '#api/identity/key-uses.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';

export function authorizationRoutes(app: App, context: RouteContext): void {
  const { db, egress, authorizationUses } = context;
  const deps = { db, egress, ...authorizationServerOf(context.config) };

  app.get('/api/authorizations', {
    schema: {
      operationId: 'listAuthorizations',
      summary: 'List the clients that can use /api/mcp for you, or for all members, newest first',
      querystring: authorizationQuery,
      response: responses({ 200: z.array(authorizationSchema) }),
    },
    config: { capability: 'authenticated' },
    handler: async ({ actor, query }) => {
      const all = await listAuthorizations(db, actor, query);
      return all.map((one) => withLatestUse(one, authorizationUses));
    },
  });

  app.post('/api/authorizations/preview', {
    schema: {
      operationId: 'previewAuthorization',
      summary: 'Read who asks for access, and for what',
      description:
        'For the page `/authorize`, with the parameters of its address. Changes nothing. Only for a member who is signed in.',
      body: authorizationPreviewInput,
      response: responses({ 200: authorizationPreviewSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, body }) => previewAuthorization(deps, grantor(actor), body.request),
  });

  app.post('/api/authorizations', {
    schema: {
      operationId: 'authorizeClient',
      summary: 'Let a client use /api/mcp for you',
      description:
        'Grants at most what the client asks for and you can do, and returns where the browser takes the code. Only for a ' +
        'member who is signed in: a key cannot make further credentials of its member.',
      body: authorizationInput,
      response: responses({ 201: grantedAuthorizationSchema }, 'conflict'),
    },
    config: { capability: 'view' },
    handler: async ({ actor, body }, reply) =>
      reply.code(201).send(await authorizeClient(deps, grantor(actor), body)),
  });

  app.delete('/api/authorizations/:id', {
    schema: {
      operationId: 'revokeAuthorization',
      summary: 'Revoke what a client has, effective for the next request',
      description:
        'Yours or, with `manage_api_keys`, that of another member. Nobody can revoke one with more permissions than their own.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'authenticated' },
    handler: async ({ actor, params: { id } }, reply) => {
      await revokeAuthorization(db, actor, id);
      return reply.code(204).send();
    },
  });
}

const grantor = (actor: Actor) => inPerson(actor, 'authorize a client');
