import { z } from 'zod';
import { ifMatchHeaders } from '../../../shared/contract/if-match.ts';
import {
  draftBody,
  draftSchema,
  publishBody,
  workflowSchema,
} from '../../../shared/contract/workflow.ts';
import { discardDraft, readDraft, saveDraft } from '../../../shared/db/workflows/drafts.ts';
import { publishWorkflow } from '../../../shared/db/workflows/publishing.ts';
import { readWorkflow } from '../../../shared/db/workflows/workflows.ts';
import { publishFromDraft } from '../../../shared/operations/publish-draft.ts';
import { requireInputSchema } from '../../../shared/operations/workflow-input.ts';
import { answers, answersToWrite, nothing, workflowParams } from '../../http/responses.ts';
import type { App, RouteContext } from '../../deps.ts';

const tags = ['Workflows'];

/** The record that a publication changes: the draft, or else the workflow. */
const publishedRecord = z.union([workflowSchema, draftSchema]).meta({ id: 'WorkflowOrDraft' });

export function draftRoutes(app: App, context: RouteContext): void {
  readAndSave(app, context);
  discard(app, context);
  publish(app, context);
}

function readAndSave(app: App, { db }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/workflows/:id/draft',
    schema: {
      tags,
      operationId: 'getDraft',
      summary: 'Read the draft of a workflow',
      description: 'What is being edited beside the current version. Nothing runs a draft.',
      params: workflowParams,
      response: answers({ 200: draftSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params }) =>
      readDraft(db, { workspaceId, workflowId: params.id }),
  });

  app.route({
    method: 'PUT',
    url: '/api/workflows/:id/draft',
    schema: {
      tags,
      operationId: 'saveDraft',
      summary: 'Save the draft of a workflow',
      description:
        'Saved as drawn, even if it cannot run yet; omitted fields are unchanged. The first save creates the draft, on the ' +
        'content of its base version, and answers 201. To change a draft that exists, send its `ETag` as `If-Match`: ' +
        'without it the answer is 428, and 412 when someone else has saved meanwhile. A save without a change keeps the ' +
        'revision.',
      params: workflowParams,
      headers: ifMatchHeaders,
      body: draftBody,
      response: answersToWrite(
        draftSchema,
        { 200: draftSchema, 201: draftSchema },
        'precondition_required',
      ),
    },
    config: { capability: 'create_edit_workflows', headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body, headers } = request;
      const workflowId = request.params.id;
      await requireInputSchema(actor.workspaceId, body.input_schema);
      const wanted = { input: body, ifMatch: headers['if-match'] };
      const { draft, created } = await saveDraft(db, actor, workflowId, wanted);
      reply.code(created ? 201 : 200).header('location', `/api/workflows/${workflowId}/draft`);
      return draft;
    },
  });
}

function discard(app: App, { db }: RouteContext): void {
  app.route({
    method: 'DELETE',
    url: '/api/workflows/:id/draft',
    schema: {
      tags,
      operationId: 'discardDraft',
      summary: 'Discard the draft of a workflow',
      description: 'Requires `If-Match`. The current version is unchanged.',
      params: workflowParams,
      headers: ifMatchHeaders,
      response: answersToWrite(draftSchema, { 204: nothing }, 'precondition_required'),
    },
    config: { capability: 'create_edit_workflows' },
    handler: async ({ actor, params, headers }, reply) => {
      await discardDraft(db, actor, params.id, headers['if-match']);
      return reply.code(204).send();
    },
  });
}

function publish(app: App, { db, config }: RouteContext): void {
  app.route({
    method: 'POST',
    url: '/api/workflows/:id/publish',
    schema: {
      tags,
      operationId: 'publishWorkflow',
      summary: 'Publish a workflow',
      description:
        'Without a body, publishes the current version. With `from_draft`, makes the draft the current version in one step: ' +
        'requires the `ETag` of the draft as `If-Match`, and a draft that can run and began at the current version. The author ' +
        'of the version is the member who saved the draft last. Also requires `run_workflows` where the workflow has a webhook or an ' +
        'enabled schedule.',
      params: workflowParams,
      headers: ifMatchHeaders,
      body: publishBody,
      response: answersToWrite(publishedRecord, { 200: workflowSchema }, 'precondition_required'),
    },
    config: { capability: 'publish_workflows' },
    handler: async (request) => {
      const { actor, params, body, headers } = request;
      const workflowId = params.id;
      const ifMatch = headers['if-match'];
      if (body?.from_draft === true) {
        const { models } = config;
        await publishFromDraft(db, actor, workflowId, { ifMatch, note: body.note, models });
      } else await publishWorkflow(db, actor, workflowId, ifMatch);
      return readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    },
  });
}
