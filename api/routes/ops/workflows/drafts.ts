import { z } from 'zod';
import {
  draftBody,
  draftSchema,
  publishBody,
  workflowSchema,
} from '#shared/contract/workflows/workflow.ts';
import { discardDraft, readDraft, saveDraft } from '#shared/db/workflows/drafts.ts';
import { publishWorkflow } from '#shared/db/workflows/publishing.ts';
import { readWorkflow } from '#shared/db/workflows/workflows.ts';
import { publishFromDraft } from '#shared/operations/workflows/publish-draft.ts';
import { requireInputSchema } from '#shared/operations/workflows/workflow-input.ts';
import { idParams, nothing, responses } from '#api/http/responses.ts';
import { type EditedRecord, idOf, ifMatchOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

// Drafts do their own comparison, since they require a tag.
const record: EditedRecord = {
  noun: 'workflow',
  schema: draftSchema,
  read: (db, { actor, params }) =>
    readDraft(db, { workspaceId: actor.workspaceId, workflowId: idOf(params) }),
};

/** What a publication changes: the workflow or, with `from_draft`, the draft. */
const published: EditedRecord = {
  noun: 'workflow',
  schema: z.union([workflowSchema, draftSchema]).meta({ id: 'WorkflowOrDraft' }),
  read: (db, { actor, params }) =>
    readWorkflow(db, { workspaceId: actor.workspaceId, workflowId: idOf(params) }),
};

export function draftRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/workflows/:id/draft', {
    schema: {
      operationId: 'getDraft',
      summary: 'Read the draft of a workflow',
      description:
        'What is being edited beside the current version. Only requests that ask for the draft run it.',
      params: idParams,
      response: responses({ 200: draftSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor: { workspaceId }, params }) =>
      readDraft(db, { workspaceId, workflowId: params.id }),
  });

  app.put('/api/workflows/:id/draft', {
    schema: {
      operationId: 'saveDraft',
      summary: 'Save the draft of a workflow',
      description:
        'Saved as drawn, even if it cannot run yet; omitted fields are unchanged. The first save creates the draft, on the ' +
        'content of its base version, and answers 201. To change a draft that exists, send its `ETag` as `If-Match`: ' +
        'without it the answer is 428, and 412 when someone else has saved meanwhile. A save without a change keeps the ' +
        'revision.',
      params: idParams,
      body: draftBody,
      response: responses({ 200: draftSchema, 201: draftSchema }, 'precondition_required'),
    },
    config: { capability: 'create_edit_workflows', record, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body } = request;
      const workflowId = request.params.id;
      await requireInputSchema(actor.workspaceId, body.input_schema);
      const wanted = { input: body, ifMatch: ifMatchOf(request) };
      const { draft, created } = await saveDraft(db, actor, workflowId, wanted);
      reply.code(created ? 201 : 200).header('location', `/api/workflows/${workflowId}/draft`);
      return draft;
    },
  });

  app.delete('/api/workflows/:id/draft', {
    schema: {
      operationId: 'discardDraft',
      summary: 'Discard the draft of a workflow',
      description: 'Requires `If-Match`. The current version is unchanged.',
      params: idParams,
      response: responses({ 204: nothing }, 'precondition_required'),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async (request, reply) => {
      await discardDraft(db, request.actor, request.params.id, ifMatchOf(request));
      return reply.code(204).send();
    },
  });

  publish(app, context);
}

function publish(app: App, { db, config }: RouteContext): void {
  app.post('/api/workflows/:id/publish', {
    schema: {
      operationId: 'publishWorkflow',
      summary: 'Publish a workflow',
      description:
        'Without a body, publishes the current version. With `from_draft`, makes the draft the current version in one step: ' +
        'requires the `ETag` of the draft as `If-Match`, and a draft that can run and began at the current version. The author ' +
        'of the version is the member who saved the draft last. Also requires `run_workflows` where the workflow has a webhook or an ' +
        'enabled schedule.',
      params: idParams,
      body: publishBody,
      response: responses({ 200: workflowSchema }, 'conflict', 'precondition_required'),
    },
    config: { capability: 'publish_workflows', record: published },
    handler: async (request) => {
      const { actor, params, body, writes } = request;
      const workflowId = params.id;
      if (body?.from_draft === true) {
        const { models } = config;
        const wanted = { ifMatch: ifMatchOf(request), note: body.note, models };
        await publishFromDraft(db, actor, workflowId, wanted);
      } else await publishWorkflow(writes, actor, workflowId);
      return readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    },
  });
}
