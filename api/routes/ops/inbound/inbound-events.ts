import { emptyBody, pageQuery } from '#shared/contract/common.ts';
import {
  eventReplayListSchema,
  eventReplaySchema,
  inboundEventListSchema,
  inboundEventQuery,
  inboundEventSchema,
  replayBody,
  replayRangeBody,
} from '#shared/contract/inbound/inbound-event.ts';
import { hookEventSchema } from '#shared/contract/inbound/webhook.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import { runSchema } from '#shared/contract/runs/run.ts';
import { listEvents, readEvent } from '#shared/db/inbound/events.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { requestReplay } from '#shared/operations/inbound/replay.ts';
import { hookEventOf, resend } from '#shared/operations/inbound/send.ts';
import {
  cancelReplay,
  listReplays,
  readReplay,
  startReplay,
} from '#shared/operations/inbound/replays.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { idParams, responses } from '#api/http/responses.ts';
import { startConfig, startedRun, startHeaders } from '#api/http/started-run.ts';
import { createRunActions } from '#api/run-actions.ts';

/** What a workflow's inbound webhook received, and its replay. */
export function inboundEventRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/workflows/:id/inbound-events', {
    schema: {
      operationId: 'listInboundEvents',
      summary: 'List the events that the inbound webhook received, newest first',
      description:
        'Each with its outcome: a run, a duplicate of an earlier event, or a refusal with its reason. Events that start no ' +
        'run appear after up to a second.',
      params: idParams,
      querystring: inboundEventQuery,
      response: responses({ 200: inboundEventListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params, query }) => {
      const scope = { workspaceId, workflowId: params.id };
      await requireWorkflow(db, scope);
      const { limit, cursor, ...filter } = query;
      return listEvents(db, scope, filter, { limit, cursor });
    },
  });

  app.get('/api/inbound-events/:id', {
    schema: {
      operationId: 'getInboundEvent',
      summary: 'Read an inbound event, with its headers and its body',
      params: idParams,
      response: responses({ 200: inboundEventSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params: { id } }) =>
      readEvent(db, { workspaceId, id }),
  });

  const actions = createRunActions(context);

  app.post('/api/inbound-events/:id/replay', {
    schema: {
      operationId: 'replayInboundEvent',
      summary: 'Start a run with the input of an inbound event again, or send it again',
      description:
        'Budgets, quota, policies and the `input_schema` apply as they are now. The run has the trigger `webhook`, the ' +
        'member who replays it, and the event in `inbound_event_id`. Returns 200 with the earlier run where the ' +
        '`Idempotency-Key`, or with `deduplicate` the event, has started one before. If the webhook sends events now, the ' +
        'event is sent instead, and the response is 202 with its `event_id`.',
      params: idParams,
      headers: startHeaders,
      body: replayBody,
      response: responses(
        { 200: runSchema, 201: runSchema, 202: hookEventSchema },
        'quota_exceeded',
        'budget_exceeded',
        'conflict',
        'idempotency_mismatch',
      ),
    },
    config: startConfig,
    handler: async ({ actor, params, body, headers }, reply) => {
      const idempotencyKey = headers['idempotency-key'];
      const options = { deduplicate: false, allow_unverified: false, ...body, idempotencyKey };
      const replay = await requestReplay(context.db, actor, params.id, options);
      if ('event' in replay) {
        return reply.code(202).send(hookEventOf(await resend(context, replay.event)));
      }
      const { run, replayed } = await actions.start({ ...replay.run, actor, idempotencyKey });
      return startedRun(reply, run, replayed);
    },
  });

  app.post('/api/workflows/:id/inbound-events/replay', {
    schema: {
      operationId: 'replayInboundEvents',
      summary: 'Replay the inbound events of a range',
      description:
        'In the background, one after another, the oldest first. Events whose body was not read or not kept in full are ' +
        'left out.',
      params: idParams,
      body: replayRangeBody,
      response: responses({ 202: startedJobSchema }, 'conflict'),
    },
    config: { capability: 'run_workflows', idempotent: true, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, params, body } = request;
      const job = await answerOnce(context, request, reply, async (tx) => {
        const stores = { ...context, db: tx };
        const { dispatched, ...answer } = await startReplay(stores, actor, params.id, body);
        return { answer, dispatched };
      });
      reply.code(202).header('location', `/api/event-replays/${job.id}`);
      return job;
    },
  });

  app.get('/api/workflows/:id/event-replays', {
    schema: {
      operationId: 'listEventReplays',
      summary: 'List the replays of inbound events of a workflow, newest first',
      params: idParams,
      querystring: pageQuery,
      response: responses({ 200: eventReplayListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params, query }) => {
      const scope = { workspaceId, workflowId: params.id };
      await requireWorkflow(context.db, scope);
      return listReplays(context, scope, query);
    },
  });

  app.get('/api/event-replays/:id', {
    schema: {
      operationId: 'getEventReplay',
      summary: 'Read the progress of a replay of inbound events',
      params: idParams,
      response: responses({ 200: eventReplaySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, params: { id } }) =>
      readReplay(context, { workspaceId, jobId: id }),
  });

  app.post('/api/event-replays/:id/cancel', {
    schema: {
      operationId: 'cancelEventReplay',
      summary: 'Cancel a running replay of inbound events',
      description: 'It starts no further run. Those that it has started continue.',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: eventReplaySchema }, 'conflict'),
    },
    config: { capability: 'run_workflows' },
    handler: async ({ actor, params: { id } }) => cancelReplay(context, actor, id),
  });
}
