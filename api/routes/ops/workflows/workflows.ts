import { z } from 'zod';
import { graphReportSchema } from '#shared/contract/workflows/graph.ts';
import { runListSchema, workflowRunsQuery } from '#shared/contract/runs/run.ts';
import {
  checksBody,
  listedWorkflowSchema,
  validateBody,
  workflowCreateBody,
  workflowDetailSchema,
  workflowListQuery,
  workflowReadQuery,
  workflowSchema,
  workflowUpdateBody,
} from '#shared/contract/workflows/workflow.ts';
import { readWithDraft } from '#shared/db/workflows/drafts.ts';
import { listRuns } from '#shared/db/runs/run-list.ts';
import { listScheduleIds } from '#shared/db/schedules/schedules.ts';
import * as workflows from '#shared/db/workflows/workflows.ts';
import { listWorkflows } from '#shared/operations/limits/limits.ts';
import { dispatchInOrder } from '#shared/operations/runs/dispatch.ts';
import { removeSchedules } from '#shared/operations/schedules/sync.ts';
import { requireInputSchema } from '#shared/operations/workflows/workflow-input.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import type { Json } from '#shared/json.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** How many executions a deletion ends before it responds. The reconciler ends the others. */
const MAX_ENDED_AT_ONCE = 20;

const record: EditedRecord = {
  noun: 'workflow',
  schema: workflowSchema,
  read: (db, { actor, params }) =>
    workflows.readWorkflow(db, { workspaceId: actor.workspaceId, workflowId: idOf(params) }),
};

export function workflowRoutes(app: App, context: RouteContext): void {
  const { db, inFlight } = context;

  app.get('/api/workflows', {
    schema: {
      operationId: 'listWorkflows',
      summary: 'List workflows, newest first',
      querystring: workflowListQuery,
      response: responses({ 200: z.array(listedWorkflowSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => listWorkflows(db, actor.workspaceId, query),
  });

  app.post('/api/workflows', {
    schema: {
      operationId: 'createWorkflow',
      summary: 'Create a workflow',
      description:
        'The graph is saved as drawn, even if it cannot run yet. A name by which a graph in use calls a workflow also requires ' +
        'the permissions to change that graph.',
      body: workflowCreateBody,
      response: responses({ 201: workflowSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body } = request;
      await requireInputSchema(actor.workspaceId, body.input_schema);
      const workflowId = await workflows.createWorkflow(db, actor, body);
      reply.code(201).header('location', `/api/workflows/${workflowId}`);
      return workflows.readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    },
  });

  app.get('/api/workflows/:id', {
    schema: {
      operationId: 'getWorkflow',
      summary: 'Read a workflow',
      description: 'With `include=draft`, also its draft as it is at the same moment.',
      params: idParams,
      querystring: workflowReadQuery,
      response: responses({ 200: workflowDetailSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor: { workspaceId }, params, query }) => {
      const scope = { workspaceId, workflowId: params.id };
      return query.include === 'draft'
        ? readWithDraft(db, scope)
        : workflows.readWorkflow(db, scope);
    },
  });

  app.put('/api/workflows/:id', {
    schema: {
      operationId: 'updateWorkflow',
      summary: 'Change a workflow',
      description:
        'Changes the fields in the body. A changed graph or input schema becomes a new version; runs keep the version ' +
        'they started with. Such a change also requires `publish_workflows` where a published workflow is changed or calls this one, at any ' +
        'distance, and `run_workflows` where one with a webhook or an enabled schedule does. So does another name where it is ' +
        'called by its name.',
      params: idParams,
      body: workflowUpdateBody,
      response: responses({ 200: workflowSchema }, 'conflict'),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async (request) => {
      const workflowId = request.params.id;
      await requireInputSchema(request.actor.workspaceId, request.body.input_schema);
      await workflows.updateWorkflow(request.writes, request.actor, workflowId, request.body);
      return workflows.readWorkflow(db, { workspaceId: request.actor.workspaceId, workflowId });
    },
  });

  app.delete('/api/workflows/:id', {
    schema: {
      operationId: 'deleteWorkflow',
      summary: 'Delete a workflow with its versions, runs and schedules',
      description:
        'Active runs are cancelled. Where a graph in use calls the workflow, also requires the permissions to change that graph.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'delete_workflows', record },
    handler: async (request, reply) => {
      const workflowId = request.params.id;
      const { workspaceId } = request.actor;
      const scheduleIds = await listScheduleIds(db, { workspaceId, workflowId });
      const cancels = await workflows.deleteWorkflow(request.writes, request.actor, workflowId);
      await inFlight.add(removeSchedules(context, scheduleIds));
      await Promise.all(
        cancels.slice(0, MAX_ENDED_AT_ONCE).map((row) => dispatchInOrder(context, row)),
      );
      return reply.code(204).send();
    },
  });

  app.post('/api/workflows/:id/validate', {
    schema: {
      operationId: 'validateWorkflow',
      summary: 'Check whether a graph can run',
      description:
        'Reports every error and warning at once, about the saved graph, or about the one in the body. It is the check that ' +
        'publishing a draft makes. Nothing is saved.',
      params: idParams,
      body: validateBody,
      response: responses({ 200: graphReportSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) =>
      validateWorkflow(
        db,
        { workspaceId: request.actor.workspaceId, workflowId: request.params.id },
        context.config.models,
        { graph: request.body?.graph as Json | undefined, inputSchema: request.body?.input_schema },
      ),
  });

  app.put('/api/workflows/:id/checks', {
    schema: {
      operationId: 'setChecks',
      summary: 'Set the checks that score successful runs',
      params: idParams,
      body: checksBody,
      response: responses({ 200: workflowSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async (request) => {
      const workflowId = request.params.id;
      await workflows.replaceChecks(request.writes, request.actor, workflowId, request.body);
      return workflows.readWorkflow(db, { workspaceId: request.actor.workspaceId, workflowId });
    },
  });

  app.get('/api/workflows/:id/runs', {
    schema: {
      operationId: 'listWorkflowRuns',
      summary: 'List the runs of a workflow, newest first',
      params: idParams,
      querystring: workflowRunsQuery,
      response: responses({ 200: runListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => {
      const scope = { workspaceId: request.actor.workspaceId, workflowId: request.params.id };
      await workflows.requireWorkflow(db, scope);
      const { workspaceId, workflowId } = scope;
      return listRuns(db, { workspaceId, workflow_id: workflowId, ...request.query });
    },
  });
}
