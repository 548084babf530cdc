import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  authorizationSchema,
  connectionInput,
  connectionSchema,
  connectionUpdate,
} from '#shared/contract/connections/connection.ts';
import { connectionPresets, presetSchema } from '#shared/contract/connections/presets.ts';
import {
  deleteConnection,
  listConnections,
  readConnection,
} from '#shared/db/connections/connections.ts';
import { SIGN_IN_SECONDS } from '#shared/db/connections/sign-ins.ts';
import { addConnection, changeConnection } from '#shared/operations/connections/connections.ts';
import { signOut, startSignIn } from '#shared/operations/connections/sign-ins.ts';
import type { Actor } from '#shared/people/actor.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { signInCookie } from './cookie.ts';

/** Accounts at other services. No response contains a client secret or a token. */
export function connectionRoutes(app: App, context: RouteContext): void {
  const { db, config } = context;
  const { publicUrl } = config.api;
  const readerOf = ({ workspaceId, id }: Actor) => ({ workspaceId, memberId: id, publicUrl });
  const record: EditedRecord = {
    noun: 'connection',
    schema: connectionSchema,
    read: (from, { actor, params }) =>
      readConnection(from, { ...readerOf(actor), connectionId: idOf(params) }),
  };

  app.get('/api/connection-presets', {
    schema: {
      operationId: 'listConnectionPresets',
      summary: 'List well-known services, with their addresses and usual scopes',
      querystring: offsetQuery,
      response: responses({ 200: z.array(presetSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ query: { limit, offset } }) =>
      z.array(presetSchema).parse(connectionPresets.slice(offset, offset + limit)),
  });

  app.get('/api/connections', {
    schema: {
      operationId: 'listConnections',
      summary: 'List connections, by name, without secrets and tokens',
      querystring: offsetQuery,
      response: responses({ 200: z.array(connectionSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => listConnections(db, readerOf(actor), query),
  });

  app.post('/api/connections', {
    schema: {
      operationId: 'createConnection',
      summary: 'Create a connection',
      description:
        'Workflows refer to its access token as `{connections.NAME}` wherever a secret may stand. Register the ' +
        '`callback_url` of the response with the service. With an `issuer`, the addresses come from its metadata.',
      body: connectionInput,
      response: responses({ 201: connectionSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const connection = await addConnection(context, actor, body);
      return reply
        .code(201)
        .header('location', `/api/connections/${connection.id}`)
        .send(connection);
    },
  });

  app.get('/api/connections/:id', {
    schema: {
      operationId: 'getConnection',
      summary: 'Read a connection, without secrets and tokens',
      params: idParams,
      response: responses({ 200: connectionSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readConnection(db, { ...readerOf(actor), connectionId: params.id }),
  });

  app.put('/api/connections/:id', {
    schema: {
      operationId: 'updateConnection',
      summary: 'Change a connection',
      description:
        'Fields that are not given stay. Another issuer, address, client, or a further host needs the client secret ' +
        'again, and deletes all tokens.',
      params: idParams,
      body: connectionUpdate,
      response: responses({ 200: connectionSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params, body }) =>
      changeConnection({ ...context, db: writes }, actor, params.id, body),
  });

  app.delete('/api/connections/:id', {
    schema: {
      operationId: 'deleteConnection',
      summary: 'Delete a connection, with all its tokens',
      description:
        'Workflows that refer to it can no longer be triggered, and steps that need it fail.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteConnection(writes, actor, params.id);
      return reply.code(204).send();
    },
  });

  signInRoutes(app, context, readerOf);
}

function signInRoutes(
  app: App,
  context: RouteContext,
  readerOf: (actor: Actor) => { workspaceId: string; memberId: string | null; publicUrl: string },
): void {
  const { db, config } = context;
  const { publicUrl } = config.api;

  app.post('/api/connections/:id/authorize', {
    schema: {
      operationId: 'authorizeConnection',
      summary: 'Begin to sign in to a connection',
      description:
        'Sets a cookie; the browser that has it opens the address of the response and comes back to the service. A ' +
        "member signs in for themself, and to the workspace's account with `manage_workspace`. API keys cannot.",
      params: idParams,
      response: responses({ 200: authorizationSchema }, 'conflict'),
    },
    config: { capability: 'view', headers: ['Set-Cookie'] },
    handler: async ({ actor, params }, reply) => {
      const { id, cookie, authorizationUrl } = await startSignIn(context, actor, params.id);
      reply.header(
        'set-cookie',
        signInCookie(publicUrl, { id, value: cookie, seconds: SIGN_IN_SECONDS }),
      );
      return { authorization_url: authorizationUrl };
    },
  });

  app.post('/api/connections/:id/disconnect', {
    schema: {
      operationId: 'disconnectConnection',
      summary: 'Sign out of a connection',
      description:
        "Deletes the tokens of the caller's own account, or with `manage_workspace` those of the workspace's. The " +
        'service that issued them may accept them until they end.',
      params: idParams,
      response: responses({ 200: connectionSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params }) => {
      await signOut(context, actor, params.id);
      return readConnection(db, { ...readerOf(actor), connectionId: params.id });
    },
  });
}
