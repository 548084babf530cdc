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
import { idempotencyKeySchema, runSchema } from '#shared/contract/runs/run.ts';
import { listEvents, readEvent } from '#shared/db/inbound/events.ts';
import { requireWorkflow } from '#shared/db/workflows/workflows.ts';
import { requestReplay } from '#shared/operations/inbound/replay.ts';
import { cancelReplay, readReplay, startReplay } from '#shared/operations/inbound/replays.ts';
import { changes, defineTool, looksOnly, type McpTool } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const eventId = z.string().min(1).max(100).meta({ description: 'Id of the event (iev_...)' });
const replayId = z.string().min(1).max(100).meta({ description: 'Id of the replay (job_...)' });
const starts = { ...changes, openWorldHint: true };

export const inboundEventTools: readonly McpTool[] = [
  defineTool({
    name: 'list_inbound_events',
    title: 'List inbound events',
    description:
      'Lists what the inbound webhook of a workflow received, newest first: a run, a duplicate, or a refusal with its ' +
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
    description: 'Reads an inbound event with its headers, its body and the runs that replayed it.',
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
      'Starts a run with the input of an inbound event. Budgets, quota, policies and the input schema apply as they ' +
      'are now. Pass the same idempotency_key when you repeat a call, so that it starts one run only.',
    capability: 'run_workflows',
    annotations: starts,
    input: z.strictObject({
      event_id: eventId,
      ...replayOptions,
      idempotency_key: idempotencyKeySchema.optional(),
    }),
    output: runSchema,
    handle: async (
      { context: { db }, actions, actor },
      { event_id: id, idempotency_key: idempotencyKey, ...options },
    ) => {
      const request = await requestReplay(db, actor, id, options);
      return (await actions.start({ ...request, actor, idempotencyKey })).run;
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
      .strictObject({ workflow: workflowArgument, ...replayRangeFields })
      .check(refuseEmptyPeriod),
    output: z.object(startedJobSchema.shape),
    handle: async (call, { workflow, ...range }) => {
      const { workflowId } = await scopeOf(call, workflow);
      const { context, actor } = call;
      const { dispatched, ...job } = await startReplay(context, actor, workflowId, range);
      await context.inFlight.add(dispatched);
      return job;
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
