import { z } from 'zod';
import { emptyBody, offsetQuery } from '#shared/contract/common.ts';
import { runSchema } from '#shared/contract/runs/run.ts';
import {
  scheduleInput,
  scheduleSchema,
  scheduleUpdate,
} from '#shared/contract/schedules/schedule.ts';
import { newRunRecord } from '#shared/db/runs/runs.ts';
import { listSchedules, readSchedule } from '#shared/db/schedules/schedules.ts';
import {
  createSchedule,
  deleteSchedule,
  triggerSchedule,
  updateSchedule,
} from '#shared/operations/schedules/schedules.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'schedule',
  schema: scheduleSchema,
  read: (db, { actor, params }) =>
    readSchedule(db, { workspaceId: actor.workspaceId, scheduleId: idOf(params) }),
};

export function scheduleRoutes(app: App, context: RouteContext): void {
  const { db, inFlight } = context;

  app.get('/api/schedules', {
    schema: {
      operationId: 'listSchedules',
      summary: 'List schedules, newest first',
      querystring: offsetQuery,
      response: responses({ 200: z.array(scheduleSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) =>
      listSchedules(db, { workspaceId: actor.workspaceId, ...query }),
  });

  app.post('/api/schedules', {
    schema: {
      operationId: 'createSchedule',
      summary: 'Create a schedule for a workflow',
      description:
        'A time whose run is refused (quota, budget, an invalid graph, an input that does not fit, an active earlier ' +
        'run) is skipped and shown as `last_skip`. The input must fit the current version of the workflow. An enabled schedule also requires `run_workflows`.',
      body: scheduleInput,
      response: responses({ 201: scheduleSchema }, 'conflict', 'not_found'),
    },
    config: { capability: 'create_edit_workflows', idempotent: true, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body } = request;
      const created = await answerOnce(context, request, reply, async (tx) => {
        const { schedule, dispatched } = await createSchedule({ ...context, db: tx }, actor, body);
        return { answer: schedule, dispatched };
      });
      reply.code(201).header('location', `/api/schedules/${created.id}`);
      return created;
    },
  });

  app.get('/api/schedules/:id', {
    schema: {
      operationId: 'getSchedule',
      summary: 'Read a schedule',
      params: idParams,
      response: responses({ 200: scheduleSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      readSchedule(db, { workspaceId: actor.workspaceId, scheduleId: params.id }),
  });

  app.put('/api/schedules/:id', {
    schema: {
      operationId: 'updateSchedule',
      summary: 'Change, enable or disable a schedule',
      description:
        'Absent fields do not change. Times before a change are not caught up. A change that leaves ' +
        'it enabled also requires `run_workflows`, unless only the name changes.',
      params: idParams,
      body: scheduleUpdate,
      response: responses({ 200: scheduleSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params, body }) => {
      const stores = { ...context, db: writes };
      const { scheduleId, dispatched } = await updateSchedule(stores, actor, params.id, body);
      await inFlight.add(dispatched);
      return readSchedule(db, { workspaceId: actor.workspaceId, scheduleId });
    },
  });

  app.delete('/api/schedules/:id', {
    schema: {
      operationId: 'deleteSchedule',
      summary: 'Delete a schedule; runs it has started continue',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params }, reply) => {
      const stores = { ...context, db: writes };
      const { dispatched } = await deleteSchedule(stores, actor, params.id);
      await inFlight.add(dispatched);
      return reply.code(204).send();
    },
  });

  app.post('/api/schedules/:id/trigger', {
    schema: {
      operationId: 'triggerSchedule',
      summary: 'Start a run of a schedule now',
      description:
        'With its input, also while it is disabled. Also requires `run_workflows`. 409 while an earlier run of it is active, unless its ' +
        'overlap is `allow`.',
      params: idParams,
      body: emptyBody,
      response: responses({ 201: runSchema }, 'quota_exceeded', 'budget_exceeded', 'conflict'),
    },
    config: {
      capability: 'create_edit_workflows',
      also: ['run_workflows'],
      idempotent: true,
      headers: ['Location'],
    },
    handler: async (request, reply) => {
      const run = await answerOnce(context, request, reply, async (tx, how) => {
        const { actor, params } = request;
        const stores = { ...context, db: tx };
        const { admitted, schedule, dispatched } = await triggerSchedule(
          stores,
          actor,
          params.id,
          how,
        );
        const pages = {
          temporalUiUrl: context.config.temporal.uiUrl,
          temporalNamespace: context.temporal.namespace,
        };
        return { answer: newRunRecord(admitted, schedule.input, pages), dispatched };
      });
      reply.code(201).header('location', `/api/runs/${run.id}`);
      return run;
    },
  });
}
