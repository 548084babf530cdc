import { z } from 'zod';
import { apiKeyInput, apiKeySchema, createdApiKeySchema } from '#shared/contract/people/api-key.ts';
import { offsetQuery } from '#shared/contract/common.ts';
import { createApiKey, listApiKeys, readApiKey, revokeApiKey } from '#shared/db/people/api-keys.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { withLatestUse } from '#api/identity/key-uses.ts';

const record: EditedRecord = {
  noun: 'apiKey',
  schema: apiKeySchema,
  read: (db, request) =>
    readApiKey(db, { workspaceId: request.actor.workspaceId, keyId: idOf(request.params) }),
};

export function keyRoutes(app: App, { db, keyUses }: RouteContext): void {
  app.get('/api/keys', {
    schema: {
      operationId: 'listApiKeys',
      summary: 'List API keys, newest first, including revoked ones',
      querystring: offsetQuery,
      response: responses({ 200: z.array(apiKeySchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => {
      const keys = await listApiKeys(db, { workspaceId: actor.workspaceId, ...query });
      return keys.map((key) => withLatestUse(key, keyUses));
    },
  });

  app.post('/api/keys', {
    schema: {
      operationId: 'createApiKey',
      summary: 'Create an API key; its secret is shown only this once',
      description:
        "A key linked to a member has the member's current permissions; without `member_id` it has the defaults of its " +
        '`role`. With `member_id`, `role` is ignored. Nobody can create a key with more permissions ' +
        'than their own.',
      body: apiKeyInput,
      response: responses({ 201: createdApiKeySchema }, 'conflict', 'not_found'),
    },
    config: { capability: 'manage_api_keys' },
    handler: async ({ actor, body }, reply) =>
      reply.code(201).send(await createApiKey(db, actor, body)),
  });

  app.get('/api/keys/:id', {
    schema: {
      operationId: 'getApiKey',
      summary: 'Read an API key',
      params: idParams,
      response: responses({ 200: apiKeySchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params: { id } }) => {
      const key = await readApiKey(db, { workspaceId: actor.workspaceId, keyId: id });
      return withLatestUse(key, keyUses);
    },
  });

  app.delete('/api/keys/:id', {
    schema: {
      operationId: 'revokeApiKey',
      summary: 'Revoke an API key; it stays in the list',
      description:
        'Effective for the next request. Has no effect on a revoked key. Nobody can revoke a key with ' +
        'more permissions than their own.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_api_keys', record },
    handler: async ({ writes, actor, params: { id } }, reply) => {
      await revokeApiKey(writes, actor, id);
      return reply.code(204).send();
    },
  });
}
