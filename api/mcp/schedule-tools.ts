import { z } from 'zod';
import {
  scheduleInput,
  scheduleSchema,
  scheduleUpdate,
} from '#shared/contract/schedules/schedule.ts';
import type { Pool } from '#shared/db/pool.ts';
import { listSchedules, readSchedule } from '#shared/db/schedules/schedules.ts';
import {
  createSchedule,
  deleteSchedule,
  updateSchedule,
} from '#shared/operations/schedules/schedules.ts';
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
import { pageArguments, scopeOf, workflowArgument } from './workflow-tools.ts';

const scheduleId = z.string().min(1).max(100).meta({ description: 'Id of the schedule (sch_...)' });
const scheduleMatch = ifMatchArgument('schedule');

const scope = ({ actor }: ToolCall, id: string) => ({
  workspaceId: actor.workspaceId,
  scheduleId: id,
});
const writesOf = (call: ToolCall, id: string, etag: string | undefined): Pool =>
  comparingWrites(call.context.db, matchOf(etag), {
    noun: 'schedule',
    workspaceId: call.actor.workspaceId,
    id,
    read: (tx) => readSchedule(tx, scope(call, id)),
  });

/** No tool starts a run of a schedule: run_workflow with its input does. */
export const scheduleTools: readonly McpTool[] = [
  defineTool({
    name: 'list_schedules',
    title: 'List schedules',
    description:
      'Lists the schedules of all workflows, newest first: when each runs next, its last run, and why a due time had none.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject(pageArguments),
    output: z.object({ schedules: z.array(scheduleSchema) }),
    handle: async ({ context, actor }, page) => ({
      schedules: await listSchedules(context.db, { workspaceId: actor.workspaceId, ...page }),
    }),
  }),
  defineTool({
    name: 'create_schedule',
    title: 'Create a schedule',
    description:
      'Starts a run of the current version of the workflow, with this input, whenever the cron expression is due in the time ' +
      'zone. The result has next_run_at: show it to the person. An enabled schedule also needs run_workflows.',
    capability: 'create_edit_workflows',
    annotations: changes,
    input: z.strictObject({
      workflow: workflowArgument,
      ...scheduleInput.omit({ workflow_id: true }).shape,
      idempotency_key: idempotencyKeyArgument,
    }),
    output: scheduleSchema,
    handle: async (call, args) => {
      const { workflow, idempotency_key: _key, ...input } = args;
      const { workflowId } = await scopeOf(call, workflow);
      return callOnce(call, 'create_schedule', args, async (db) => {
        const stores = { ...call.context, db };
        const wanted = { ...input, workflow_id: workflowId };
        const { schedule, dispatched } = await createSchedule(stores, call.actor, wanted);
        return { answer: schedule, dispatched };
      });
    },
  }),
  defineTool({
    name: 'update_schedule',
    title: 'Change a schedule',
    description:
      'Changes a schedule, pauses it (enabled: false) or continues it (enabled: true). What is absent stays. Times before ' +
      'the change are not caught up.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true, idempotentHint: true },
    input: z.strictObject({
      schedule_id: scheduleId,
      ...scheduleUpdate.omit({ workflow_id: true }).shape,
      if_match: scheduleMatch,
    }),
    output: scheduleSchema,
    handle: async (call, { schedule_id: id, if_match: etag, ...change }) => {
      const stores = { ...call.context, db: writesOf(call, id, etag) };
      const { dispatched } = await updateSchedule(stores, call.actor, id, change);
      await call.context.inFlight.add(dispatched);
      return readSchedule(call.context.db, scope(call, id));
    },
  }),
  defineTool({
    name: 'delete_schedule',
    title: 'Delete a schedule',
    description:
      'Deletes a schedule. Runs that it started continue. To stop it for a while, use update_schedule with enabled false.',
    capability: 'create_edit_workflows',
    annotations: { ...changes, destructiveHint: true },
    input: z.strictObject({ schedule_id: scheduleId, if_match: scheduleMatch }),
    output: z.object({ deleted: z.string() }),
    handle: async (call, { schedule_id: id, if_match: etag }) => {
      const stores = { ...call.context, db: writesOf(call, id, etag) };
      const { dispatched } = await deleteSchedule(stores, call.actor, id);
      await call.context.inFlight.add(dispatched);
      return { deleted: id };
    },
  }),
];
