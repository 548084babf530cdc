import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  eventTriggerInput,
  eventTriggerSchema,
  eventTriggerUpdate,
} from '#shared/contract/events/trigger.ts';
import { deleteTrigger, listTriggers, readTrigger } from '#shared/db/events/triggers.ts';
import { createTrigger, updateTrigger } from '#shared/operations/events/triggers.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';

const record: EditedRecord = {
  noun: 'trigger',
  schema: eventTriggerSchema,
  read: (db, { actor, params }) =>
    readTrigger(db, { workspaceId: actor.workspaceId, triggerId: idOf(params) }),
};

export function triggerRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/workflows/:id/triggers', {
    schema: {
      operationId: 'listEventTriggers',
      summary: 'List the event triggers of a workflow, newest first',
      params: idParams,
      querystring: offsetQuery,
      response: responses({ 200: z.array(eventTriggerSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params, query }) =>
      listTriggers(db, { workspaceId: actor.workspaceId, workflowId: params.id, ...query }),
  });

  app.post('/api/workflows/:id/triggers', {
    schema: {
      operationId: 'createEventTrigger',
      summary: 'Start a run of a workflow for each event that matches',
      description:
        'Each later event of this name for which `match` is true starts one run. An event whose run is refused (quota, ' +
        'budget, an invalid graph, an input that does not fit), or for which `match` fails, is shown as `last_skip`. An ' +
        'enabled trigger also requires `run_workflows`.',
      params: idParams,
      body: eventTriggerInput,
      response: responses({ 201: eventTriggerSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', idempotent: true, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, params, body } = request;
      const created = await answerOnce(context, request, reply, async (tx) => ({
        answer: await createTrigger(tx, actor, { workflowId: params.id, ...body }),
      }));
      reply.code(201).header('location', `/api/triggers/${created.id}`);
      return created;
    },
  });

  app.get('/api/triggers/:id', {
    schema: {
      operationId: 'getEventTrigger',
      summary: 'Read an event trigger',
      params: idParams,
      response: responses({ 200: eventTriggerSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readTrigger(db, { workspaceId: actor.workspaceId, triggerId: params.id }),
  });

  app.put('/api/triggers/:id', {
    schema: {
      operationId: 'updateEventTrigger',
      summary: 'Change, enable or disable an event trigger',
      description:
        'Absent fields do not change. After it was enabled, or got another event, it starts runs for later events only. A ' +
        'change that leaves it enabled also requires `run_workflows`.',
      params: idParams,
      body: eventTriggerUpdate,
      response: responses({ 200: eventTriggerSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params, body }) => {
      await updateTrigger(writes, actor, params.id, body);
      return readTrigger(db, { workspaceId: actor.workspaceId, triggerId: params.id });
    },
  });

  app.delete('/api/triggers/:id', {
    schema: {
      operationId: 'deleteEventTrigger',
      summary: 'Delete an event trigger; runs it has started continue',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteTrigger(writes, actor, params.id);
      return reply.code(204).send();
    },
  });
}
