import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  sourceDetailSchema,
  sourceInput,
  sourceReport,
  sourceUpdate,
} from '#shared/contract/data/source.ts';
import {
  createSource,
  deleteSource,
  listSources,
  readSource,
  reportSourceAs,
  updateSource,
} from '#shared/db/data/sources.ts';
import { compareChangesSoon } from '#shared/operations/events/events.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'source',
  schema: sourceDetailSchema,
  read: (db, { actor, params }) =>
    readSource(db, { workspaceId: actor.workspaceId, sourceId: idOf(params) }),
};

export function dataSourceRoutes(app: App, context: RouteContext): void {
  const { db } = context;
  app.get('/api/data/sources', {
    schema: {
      operationId: 'listSources',
      summary: 'List sources and their health, newest first',
      querystring: offsetQuery,
      response: responses({ 200: z.array(sourceDetailSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query }) => [
      ...(await listSources(db, { workspaceId }, query)),
    ],
  });

  app.post('/api/data/sources', {
    schema: {
      operationId: 'createSource',
      summary: 'Create a source',
      body: sourceInput,
      response: responses({ 201: sourceDetailSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const source = await createSource(db, actor, body);
      return reply.code(201).header('location', `/api/data/sources/${source.id}`).send(source);
    },
  });

  app.get('/api/data/sources/:id', {
    schema: {
      operationId: 'getSource',
      summary: 'Read a source and its health',
      params: idParams,
      response: responses({ 200: sourceDetailSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readSource(db, { workspaceId: actor.workspaceId, sourceId: params.id }),
  });

  app.put('/api/data/sources/:id', {
    schema: {
      operationId: 'updateSource',
      summary: 'Change a source',
      description: 'Changes the fields in the body.',
      params: idParams,
      body: sourceUpdate,
      response: responses({ 200: sourceDetailSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params, body }) =>
      updateSource(writes, actor, params.id, body),
  });

  app.delete('/api/data/sources/:id', {
    schema: {
      operationId: 'deleteSource',
      summary: 'Delete a source',
      description: 'Records that name it as evidence do not change.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteSource(writes, actor, params.id);
      return reply.code(204).send();
    },
  });

  app.post('/api/data/sources/:id/report', {
    schema: {
      operationId: 'reportSource',
      summary: 'Report the result of a source check',
      description:
        'Counts as a source check of the month. Three failures in a row make the source `failed`, which is sent to ' +
        'webhooks as `source.failed`; the next success makes it `healthy` (`source.recovered`).',
      params: idParams,
      body: sourceReport,
      response: responses({ 200: sourceDetailSchema }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params, body }) => {
      const source = await reportSourceAs(db, actor, params.id, body);
      compareChangesSoon(context, actor.workspaceId);
      return source;
    },
  });
}
