import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import { secretInput, secretName, secretSchema } from '#shared/contract/secrets/secret.ts';
import { deleteSecret, listSecrets, readSecret } from '#shared/db/secrets/secrets.ts';
import { storeSecret } from '#shared/operations/secrets/secrets.ts';
import { type EditedRecord, nameOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { responses, nothing } from '#api/http/responses.ts';

const secretParams = z.strictObject({ name: z.string().min(1) });

/** Values can be written but never read: no response contains one. */
const record: EditedRecord = {
  noun: 'secret',
  schema: secretSchema,
  read: (db, { actor, params }) =>
    readSecret(db, { workspaceId: actor.workspaceId, name: nameOf(params) }),
  isCreated: true,
};

export function secretRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/secrets', {
    schema: {
      operationId: 'listSecrets',
      summary: 'List secrets, by name, without their values',
      querystring: offsetQuery,
      response: responses({ 200: z.array(secretSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => [...(await listSecrets(db, actor.workspaceId, query))],
  });

  app.get('/api/secrets/:name', {
    schema: {
      operationId: 'getSecret',
      summary: 'Read a secret, without its value',
      params: secretParams,
      response: responses({ 200: secretSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readSecret(db, { workspaceId: actor.workspaceId, name: params.name }),
  });

  app.put('/api/secrets/:name', {
    schema: {
      operationId: 'putSecret',
      summary: 'Create or replace a secret',
      description:
        'Workflows refer to it as `{secrets.NAME}` in headers, query and body of `http_request`, in headers of `mcp` ' +
        'and in headers of custom tools. The value is put in when a request to one of its hosts is sent, and cut out of ' +
        'what comes back. No response contains it. A replaced value counts for the next call.',
      params: z.strictObject({ name: secretName }),
      body: secretInput,
      response: responses({ 200: secretSchema, 201: secretSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', record, headers: ['Location'] },
    handler: async ({ writes, actor, params: { name }, body }, reply) => {
      const stores = { ...context, db: writes };
      const { secret, created } = await storeSecret(stores, actor, name, body);
      if (!created) return reply.code(200).send(secret);
      return reply.code(201).header('location', `/api/secrets/${name}`).send(secret);
    },
  });

  app.delete('/api/secrets/:name', {
    schema: {
      operationId: 'deleteSecret',
      summary: 'Delete a secret',
      description:
        'Workflows that refer to it can no longer be triggered, and steps that need it fail.',
      params: secretParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteSecret(writes, actor, params.name);
      return reply.code(204).send();
    },
  });
}
