import { z } from 'zod';
import { offsetQuery } from '#shared/contract/common.ts';
import {
  instantiateBody,
  templateCreateBody,
  templateSchema,
  templateUpdateBody,
} from '#shared/contract/workflows/template.ts';
import { workflowSchema } from '#shared/contract/workflows/workflow.ts';
import * as templates from '#shared/db/workflows/templates.ts';
import { checkLimits } from '#shared/operations/limits/limits.ts';
import { requireInputSchema } from '#shared/operations/workflows/workflow-input.ts';
import { readWorkflow } from '#shared/db/workflows/workflows.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'template',
  schema: templateSchema,
  read: (db, { actor, params }) =>
    templates.readTemplate(db, { workspaceId: actor.workspaceId, templateId: idOf(params) }),
};

export function templateRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/templates', {
    schema: {
      operationId: 'listTemplates',
      summary: 'List templates: the built-in ones, then your own, newest first',
      querystring: offsetQuery,
      response: responses({ 200: z.array(templateSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => templates.listTemplates(db, actor.workspaceId, query),
  });

  app.post('/api/templates', {
    schema: {
      operationId: 'createTemplate',
      summary: 'Save a graph or a workflow as a template',
      body: templateCreateBody,
      response: responses({ 201: templateSchema }, 'not_found', 'conflict'),
    },
    config: { capability: 'create_edit_workflows', headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body } = request;
      if ('graph' in body) {
        await requireInputSchema(actor.workspaceId, body.input_schema);
        if (body.limits !== null) checkLimits(body.limits, body.input_schema ?? null);
      }
      const templateId = await templates.createTemplate(db, actor, body);
      reply.code(201).header('location', `/api/templates/${templateId}`);
      return templates.readTemplate(db, { workspaceId: actor.workspaceId, templateId });
    },
  });

  app.get('/api/templates/:id', {
    schema: {
      operationId: 'getTemplate',
      summary: 'Read a template',
      params: idParams,
      response: responses({ 200: templateSchema }),
    },
    config: { capability: 'view', record },
    handler: async (request) =>
      templates.readTemplate(db, {
        workspaceId: request.actor.workspaceId,
        templateId: request.params.id,
      }),
  });

  app.put('/api/templates/:id', {
    schema: {
      operationId: 'updateTemplate',
      summary: 'Change a template of your own',
      description:
        'Changes the fields in the body. Workflows created from it do not change. Built-in ones cannot be changed.',
      params: idParams,
      body: templateUpdateBody,
      response: responses({ 200: templateSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async (request) => {
      const { actor, body } = request;
      const scope = { workspaceId: actor.workspaceId, templateId: request.params.id };
      await requireInputSchema(actor.workspaceId, body.input_schema);
      const { input_schema: schema, limits } = {
        ...(await templates.readTemplate(db, scope)),
        ...body,
      };
      if (limits != null) checkLimits(limits, schema ?? null);
      await templates.updateTemplate(request.writes, actor, scope.templateId, body);
      return templates.readTemplate(db, scope);
    },
  });

  app.delete('/api/templates/:id', {
    schema: {
      operationId: 'deleteTemplate',
      summary: 'Delete a template of your own',
      params: idParams,
      response: responses({ 204: nothing }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async (request, reply) => {
      await templates.deleteTemplate(request.writes, request.actor, request.params.id);
      return reply.code(204).send();
    },
  });

  instantiate(app, context);
}

function instantiate(app: App, { db }: RouteContext): void {
  app.post('/api/templates/:id/instantiate', {
    schema: {
      operationId: 'instantiateTemplate',
      summary: 'Create a draft workflow from a template, with its checks and limits',
      params: idParams,
      body: instantiateBody,
      response: responses({ 201: workflowSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, params, body } = request;
      const workflowId = await templates.instantiateTemplate(db, actor, params.id, body ?? {});
      reply.code(201).header('location', `/api/workflows/${workflowId}`);
      return readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    },
  });
}
