import { z } from 'zod';
import { jsonObject } from '../../shared/contract/common.ts';
import {
  gateAnswerFields,
  gateChoiceFields,
  toolCallDecisionFields,
  idempotencyKeySchema,
  type Run,
  runListSchema,
  runListQuery,
  runSchema,
} from '../../shared/contract/run.ts';
import type { RunRequest } from '../../shared/db/runs/run-request.ts';
import { listRuns } from '../../shared/db/runs/runs.ts';
import { restOf } from './run-watch.ts';
import { defineTool, type McpTool, type ToolCall } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

/** Below the request timeout, so that the response can still be sent. */
const MAX_WAIT_SECONDS = 25;

const runId = z.string().min(1).max(100).meta({ description: 'Id of the run (run_...)' });

/** A run after an action. Its payloads and steps would fill a model's context; get_run has them. */
const runAfter = runSchema.omit({
  workspace_id: true,
  input: true,
  state: true,
  steps: true,
  checkpoints: true,
  pending_gate: true,
});

export const next =
  'The status is pending, running, paused (waits for a person: see pending_gates), success or failed (see error).';

/** Starts a run, and waits for it to end or to pause. */
export async function startedRun(
  { actor, actions, context, signal }: ToolCall,
  wanted: Pick<RunRequest, 'workflowId' | 'input' | 'idempotencyKey'> & { waitMs: number },
): Promise<Run & { replayed: boolean }> {
  const { waitMs, ...request } = wanted;
  const { run, replayed } = await actions.start({ actor, trigger: 'mcp', ...request });
  if (waitMs === 0) return { ...run, replayed };
  const watched = { workspaceId: actor.workspaceId, runId: run.id };
  await restOf(context.db, watched, { waitMs, signal });
  return { ...(await actions.read(actor, run.id)), replayed };
}

/** The first is `run_workflow`. */
export const runTools: readonly [McpTool, ...McpTool[]] = [
  defineTool({
    name: 'run_workflow',
    title: 'Run a workflow',
    description:
      'Starts a run of the current version of a workflow. It continues by itself, whether or not anyone waits. Pass ' +
      `wait_seconds to get short runs with their output, else call get_run later. ${next} Pass the same ` +
      'idempotency_key when you repeat a call, so that it starts one run only.',
    capability: 'run_workflows',
    annotations: {
      readOnlyHint: false,
      // The effects depend on the graph, which may write to external systems.
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      workflow: workflowArgument,
      input: jsonObject.optional().meta({
        description:
          "Input of the run; it must fit the workflow's input_schema, or its description says what it needs",
      }),
      idempotency_key: idempotencyKeySchema.optional(),
      wait_seconds: z
        .number()
        .min(0)
        .max(MAX_WAIT_SECONDS)
        .default(0)
        .meta({ description: 'How long to wait for the run to end or to pause' }),
    }),
    output: runAfter.extend({
      replayed: z
        .boolean()
        .meta({ description: 'An earlier call with this idempotency_key started it' }),
    }),
    handle: async (call, args) => {
      const { workflowId } = await scopeOf(call, args.workflow);
      return startedRun(call, {
        workflowId,
        input: args.input ?? {},
        idempotencyKey: args.idempotency_key,
        waitMs: args.wait_seconds * 1_000,
      });
    },
  }),
  defineTool({
    name: 'get_run',
    title: 'Read a run',
    description: `Reads one run with its steps, output, cost and open gates. ${next}`,
    capability: 'view',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({ run_id: runId }),
    output: runSchema,
    handle: async ({ actions, actor }, args) => actions.read(actor, args.run_id),
  }),
  defineTool({
    name: 'list_runs',
    title: 'List runs',
    description:
      'Lists runs, newest first, without their payloads; get_run reads one in full. Filter by workflow, status, ' +
      'trigger, time of creation, or the run that started them.',
    capability: 'view',
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({
      workflow: workflowArgument.optional(),
      ...runListQuery.pick({ status: true, trigger: true, parent_run_id: true, since: true }).shape,
      limit: z.int().min(1).max(50).default(20),
      cursor: runListQuery.shape.cursor.meta({ description: '`next_cursor` of the previous call' }),
    }),
    output: runListSchema,
    handle: async (call, { workflow, parent_run_id: parentRunId, ...filter }) =>
      listRuns(call.context.db, {
        ...(workflow === undefined
          ? { workspaceId: call.actor.workspaceId }
          : await scopeOf(call, workflow)),
        ...filter,
        parentRunId,
      }),
  }),
  defineTool({
    name: 'approve_run',
    title: 'Approve or reject a gate',
    description:
      'Decides an open gate of a run on behalf of a person. Only call it when a person has decided: ask them ' +
      'with the prompt in pending_gates first. With approved false the gate is rejected. For a gate of kind ' +
      'tool_call, show the person its arguments, and send its digest. A gate with an input_schema needs an input that fits.',
    capability: 'approve_gates',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({
      run_id: runId,
      ...gateChoiceFields,
      ...gateAnswerFields,
      ...toolCallDecisionFields,
    }),
    output: runAfter,
    handle: async ({ actions, actor }, { run_id, node_id: nodeId, step_key: stepKey, ...answer }) =>
      actions.decide(actor, run_id, { ...answer, nodeId, stepKey }),
  }),
  defineTool({
    name: 'resume_run',
    title: 'Resume a failed run',
    description:
      'Continues a failed run from its last checkpoint: only steps that had not completed run again.',
    capability: 'cancel_resume',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    },
    input: z.strictObject({ run_id: runId }),
    output: runAfter,
    handle: async ({ actions, actor }, args) => actions.resume(actor, args.run_id),
  }),
  defineTool({
    name: 'cancel_run',
    title: 'Cancel a run',
    description: 'Ends a pending, running or paused run. Its status is failed afterwards.',
    capability: 'cancel_resume',
    annotations: {
      readOnlyHint: false,
      destructiveHint: true,
      // A second call is refused and changes nothing.
      idempotentHint: true,
      openWorldHint: false,
    },
    input: z.strictObject({ run_id: runId }),
    output: runAfter,
    handle: async ({ actions, actor }, args) => actions.cancel(actor, args.run_id),
  }),
];
