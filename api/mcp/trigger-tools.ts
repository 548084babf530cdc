import { z } from 'zod';
import {
  eventTriggerInput,
  eventTriggerSchema,
  eventTriggerUpdate,
} from '#shared/contract/events/trigger.ts';
import { deleteTrigger, listTriggers, readTrigger } from '#shared/db/events/triggers.ts';
import type { Pool } from '#shared/db/pool.ts';
import { createTrigger, updateTrigger } from '#shared/operations/events/triggers.ts';
import { comparingWrites } from '#api/http/conditional.ts';
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

const triggerId = z.string().min(1).max(100).meta({ description: 'Id of the trigger (trg_...)' });
const triggerMatch = ifMatchArgument('trigger');

const scope = ({ actor }: ToolCall, id: string) => ({
  workspaceId: actor.workspaceId,
  triggerId: id,
});
const writesOf = (call: ToolCall, id: string, etag: string | undefined): Pool =>
  comparingWrites(call.context.db, matchOf(etag), {
    noun: 'trigger',
    workspaceId: call.actor.workspaceId,
    id,
    read: (tx) => readTrigger(tx, scope(call, id)),
  });

export const triggerTools: readonly McpTool[] = [
  defineTool({
    name: 'list_event_triggers',
    title: 'List event triggers',
    description:
      'Lists the event triggers of a workflow, newest first: the event, its match, the last run, and why an event started none.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument }),
    output: z.object({ triggers: z.array(eventTriggerSchema) }),
    handle: async (call, { workflow }) => ({
      triggers: await listTriggers(call.context.db, {
        ...(await scopeOf(call, workflow)),
        ...{ limit: 200, offset: 0 },
      }),
    }),
  }),
  defineTool({
    name: 'create_event_trigger',
    title: 'Create an event trigger',
    description:
      'Starts a run of the workflow for each later event of this name for which match is true. Input has templates over ' +
      'event, such as {"invoice": "{event.data.invoice}"}; without it, the data of the event is the input. An enabled ' +
      'trigger also needs run_workflows.',
    capability: 'create_edit_workflows',
    annotations: changes,
    input: z.strictObject({
      workflow: workflowArgument,
      ...eventTriggerInput.shape,
      idempotency_key: idempotencyKeyArgument,
    }),
    output: eventTriggerSchema,
    handle: async (call, args) => {
      const { workflow, idempotency_key: _key, ...input } = args;
      const { workflowId } = await scopeOf(call, workflow);
      return callOnce(call, 'create_event_trigger', args, async (db) => ({
        answer: await createTrigger(db, call.actor, { workflowId, ...input }),
      }));
    },
  }),
  defineTool({
    name: 'update_event_trigger',
    title: 'Change an event trigger',
    description: 'Changes, enables or disables an event trigger. What is absent stays.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      trigger_id: triggerId,
      ...eventTriggerUpdate.shape,
      if_match: triggerMatch,
    }),
    output: eventTriggerSchema,
    handle: async (call, { trigger_id: id, if_match: etag, ...change }) => {
      await updateTrigger(writesOf(call, id, etag), call.actor, id, change);
      return readTrigger(call.context.db, scope(call, id));
    },
  }),
  defineTool({
    name: 'delete_event_trigger',
    title: 'Delete an event trigger',
    description: 'Deletes an event trigger. Runs that it started continue.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true },
    input: z.strictObject({ trigger_id: triggerId, if_match: triggerMatch }),
    output: z.object({ deleted: z.string() }),
    handle: async (call, { trigger_id: id, if_match: etag }) => {
      await deleteTrigger(writesOf(call, id, etag), call.actor, id);
      return { deleted: id };
    },
  }),
];
