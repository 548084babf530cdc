import { z } from 'zod';
import { requireCapability } from '#shared/people/actor.ts';
import type { Capability } from '#shared/people/capabilities.ts';
import { offsetQuery } from '#shared/contract/common.ts';
import type { DataScope } from '#shared/contract/data/envelope.ts';
import { createdDataKeySchema, dataKeyInput, dataKeySchema } from '#shared/contract/data/key.ts';
import { workspaceDataUsageSchema } from '#shared/contract/data/usage.ts';
import { createDataKey, listDataKeys, readDataKey, revokeDataKey } from '#shared/db/data/keys.ts';
import { readWorkspaceDataUsage } from '#shared/db/data/usage.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { withLatestUse } from '#api/identity/key-uses.ts';

/** The member capability behind each scope of a key, because no member can grant more than they hold. */
const capabilityBehind = (scope: DataScope): Capability =>
  scope === 'webhooks:write' ? 'manage_workspace' : 'view';

const record: EditedRecord = {
  noun: 'dataKey',
  schema: dataKeySchema,
  read: (db, request) =>
    readDataKey(db, { workspaceId: request.actor.workspaceId, keyId: idOf(request.params) }),
};

export function dataKeyRoutes(app: App, { db, dataKeyUses }: RouteContext): void {
  app.get('/api/data/keys', {
    schema: {
      operationId: 'listDataKeys',
      summary: 'List keys of the data API, newest first, including revoked ones',
      querystring: offsetQuery,
      response: responses({ 200: z.array(dataKeySchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => {
      const keys = await listDataKeys(db, { workspaceId: actor.workspaceId, ...query });
      return keys.map((key) => withLatestUse(key, dataKeyUses));
    },
  });

  app.post('/api/data/keys', {
    schema: {
      operationId: 'createDataKey',
      summary: 'Create a key of the data API; its secret is shown only this once',
      description:
        "For `/v1` alone, where it can do what its scopes permit. Its allowances apply in addition to the plan's. Scopes that " +
        'read or export also require `view`, `webhooks:write` requires `manage_workspace`.',
      body: dataKeyInput,
      response: responses({ 201: createdDataKeySchema }, 'conflict'),
    },
    config: { capability: 'manage_api_keys' },
    handler: async ({ actor, body }, reply) => {
      for (const scope of body.scopes) requireCapability(actor, capabilityBehind(scope));
      return reply.code(201).send(await createDataKey(db, actor, body));
    },
  });

  app.get('/api/data/keys/:id', {
    schema: {
      operationId: 'getDataKey',
      summary: 'Read a key of the data API',
      params: idParams,
      response: responses({ 200: dataKeySchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params: { id } }) => {
      const key = await readDataKey(db, { workspaceId: actor.workspaceId, keyId: id });
      return withLatestUse(key, dataKeyUses);
    },
  });

  app.delete('/api/data/keys/:id', {
    schema: {
      operationId: 'revokeDataKey',
      summary: 'Revoke a key of the data API; it stays in the list',
      description: 'Effective for the next request. Has no effect on a revoked key.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_api_keys', record },
    handler: async ({ writes, actor, params: { id } }, reply) => {
      await revokeDataKey(writes, actor, id);
      return reply.code(204).send();
    },
  });

  app.get('/api/data/usage', {
    schema: {
      operationId: 'getDataUsage',
      summary: 'Read the use of the data API this month, in total and by key',
      response: responses({ 200: workspaceDataUsageSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor }) => readWorkspaceDataUsage(db, actor),
  });
}
