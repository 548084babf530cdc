import { z } from 'zod';
import { refuseEmptyPeriod } from '#shared/contract/common.ts';
import {
  eventReplaySchema,
  inboundEventListSchema,
  inboundEventQuery,
  inboundEventSchema,
  replayOptions,
  replayRangeFields,
} from '#shared/contract/inbound/inbound-event.ts';
import { startedJobSchema } from '#shared/contract/jobs/job.ts';
import { webhookConfigInput, webhookSchema } from '#shared/contract/inbound/webhook.ts';
import { idempotencyKeySchema, runSchema } from '#shared/contract/runs/run.ts';
import { listEvents, readEvent } from '#shared/db/inbound/events.ts';
import { configureWebhook, readWebhook } from '#shared/db/inbound/webhooks.ts';
import type { Db } from '#shared/db/pool.ts';
import { requireWorkflow, type WorkflowScope } from '#shared/db/workflows/workflows.ts';
import { requestReplay } from '#shared/operations/inbound/replay.ts';
import { resend } from '#shared/operations/inbound/send.ts';
import { cancelReplay, readReplay, startReplay } from '#shared/operations/inbound/replays.ts';
import { comparingWrites } from '#api/http/conditional.ts';
import { toWebhook } from '#api/inbound/shown-webhook.ts';
import {
  callOnce,
  changes,
  defineTool,
  idempotencyKeyArgument,
  ifMatchArgument,
  looksOnly,
  matchOf,
  type McpTool,
  type ToolCall,
} from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const eventId = z.string().min(1).max(100).meta({ description: 'Id of the event (iev_...)' });
const replayId = z.string().min(1).max(100).meta({ description: 'Id of the replay (job_...)' });
/** The run, or the event if the webhook sends events. */
const replayed = runSchema.partial().extend({ sent_event_id: z.string().optional() });
const starts = { ...changes, openWorldHint: true };

/** Without the URL: anyone who has it can start runs, and a conversation is read by many. */
const webhook = webhookSchema.omit({ url: true });

async function shownWebhook(
  { context, actor }: ToolCall,
  scope: WorkflowScope,
  db: Db = context.db,
): Promise<z.output<typeof webhook>> {
  const stored = await readWebhook(db, scope);
  const { url: _url, ...rest } = toWebhook(
    context.config.api.publicUrl,
    actor,
    scope.workflowId,
    stored,
  );
  return rest;
}

export const inboundEventTools: readonly McpTool[] = [
  defineTool({
    name: 'get_inbound_webhook',
    title: 'Read the inbound webhook of a workflow',
    description:
      'Reads whether a workflow receives requests, and what becomes of them: a run, or an event of the name in event. ' +
      'The URL is shown in the console and over HTTP.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: webhook,
    handle: async (call, { workflow }) => shownWebhook(call, await scopeOf(call, workflow)),
  }),
  defineTool({
    name: 'configure_inbound_webhook',
    title: 'Change the inbound webhook of a workflow',
    description:
      'Changes settings of the inbound webhook of a workflow; absent ones do not change. With event, each request is sent ' +
      'as an event of that name instead of starting a run, and null starts runs again; that also needs run_workflows.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      workflow: workflowArgument,
      ...webhookConfigInput.shape,
      if_match: ifMatchArgument('inbound webhook'),
    }),
    output: webhook,
    handle: async (call, { workflow, if_match: etag, ...settings }) => {
      const scope = await scopeOf(call, workflow);
      const writes = comparingWrites(call.context.db, matchOf(etag), {
        ...{ noun: 'workflow', workspaceId: scope.workspaceId, id: scope.workflowId },
        read: (tx) => shownWebhook(call, scope, tx),
      });
      await configureWebhook(writes, call.actor, scope.workflowId, settings);
      return shownWebhook(call, scope);
    },
  }),
  defineTool({
    name: 'list_inbound_events',
    title: 'List inbound events',
    description:
      'Lists what the inbound webhook of a workflow received, newest first: a run, an event, a duplicate, or a refusal with its ' +
      'reason.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({
      workflow: workflowArgument,
      ...inboundEventQuery.omit({ limit: true }).shape,
      limit: z.int().min(1).max(200).default(20),
    }),
    output: inboundEventListSchema,
    handle: async (call, { workflow, limit, cursor, ...filter }) => {
      const { db } = call.context;
      const scope = await scopeOf(call, workflow);
      await requireWorkflow(db, scope);
      return listEvents(db, scope, filter, { limit, cursor });
    },
  }),
  defineTool({
    name: 'get_inbound_event',
    title: 'Read an inbound event',
    description:
      'Reads an inbound event with its headers, its body and the runs and events that replayed it.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ event_id: eventId }),
    output: inboundEventSchema,
    handle: async ({ context: { db }, actor: { workspaceId } }, { event_id: id }) =>
      readEvent(db, { workspaceId, id }),
  }),
  defineTool({
    name: 'replay_inbound_event',
    title: 'Replay an inbound event',
    description:
      'Starts a run with the input of an inbound event, or sends it if the webhook sends events. Budgets, quota, policies and the input schema apply as they ' +
      'are now. Pass the same idempotency_key when you repeat a call, so that it starts one run only.',
    capability: 'run_workflows',
    annotations: starts,
    input: z.strictObject({
      event_id: eventId,
      ...replayOptions,
      idempotency_key: idempotencyKeySchema.optional(),
    }),
    output: replayed,
    handle: async (
      { context, actions, actor },
      { event_id: id, idempotency_key: idempotencyKey, ...options },
    ) => {
      const replay = await requestReplay(context.db, actor, id, { ...options, idempotencyKey });
      if ('event' in replay) {
        return { sent_event_id: (await resend(context, replay.event)).eventId };
      }
      return (await actions.start({ ...replay.run, actor, idempotencyKey })).run;
    },
  }),
  defineTool({
    name: 'replay_inbound_events',
    title: 'Replay the inbound events of a range',
    description:
      'Starts runs with the inputs of the inbound events of a range, in the background, one after another. Call ' +
      'get_event_replay with the id until the status is not running.',
    capability: 'run_workflows',
    annotations: starts,
    input: z
      .strictObject({
        workflow: workflowArgument,
        ...replayRangeFields,
        idempotency_key: idempotencyKeyArgument,
      })
      .check(refuseEmptyPeriod),
    output: z.object(startedJobSchema.shape),
    handle: async (call, args) => {
      const { workflow, idempotency_key: _key, ...range } = args;
      const { workflowId } = await scopeOf(call, workflow);
      return callOnce(call, 'replay_inbound_events', args, async (db) => {
        const stores = { ...call.context, db };
        const { dispatched, ...answer } = await startReplay(stores, call.actor, workflowId, range);
        return { answer, dispatched };
      });
    },
  }),
  defineTool({
    name: 'get_event_replay',
    title: 'Read a replay of inbound events',
    description: 'Reads the progress of a replay: runs started, duplicates and refusals.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ replay_id: replayId }),
    output: eventReplaySchema,
    handle: async ({ context, actor: { workspaceId } }, { replay_id: jobId }) =>
      readReplay(context, { workspaceId, jobId }),
  }),
  defineTool({
    name: 'cancel_event_replay',
    title: 'Cancel a replay of inbound events',
    description: 'Cancels a running replay. Runs that it has started continue.',
    capability: 'run_workflows',
    annotations: { ...starts, destructiveHint: true, openWorldHint: false },
    input: z.strictObject({ replay_id: replayId }),
    output: eventReplaySchema,
    handle: async ({ context, actor }, { replay_id: jobId }) => cancelReplay(context, actor, jobId),
  }),
];
