import { z } from 'zod';
import { withOneGraph } from '#shared/contract/forks/fork.ts';
import {
  nodeTestFields,
  nodeTestSchema,
  pinFields,
  pinListSchema,
  pinSchema,
  pinsQuery,
  withState,
} from '#shared/contract/workflows/node-test.ts';
import { idempotencyKeySchema } from '#shared/contract/runs/run.ts';
import { findPin, listPins, removePin } from '#shared/db/workflows/pins.ts';
import { pinOutput } from '#shared/operations/workflows/pin-output.ts';
import { executesGraph, next } from './run-tools.ts';
import { defineTool, looksOnly, type McpTool } from './tool.ts';
import { scopeOf, workflowArgument } from './workflow-tools.ts';

const nodeId = z.string().min(1).max(100);
const pinning = { readOnlyHint: false, idempotentHint: true, openWorldHint: false };

/** Tests of single nodes, and the outputs that members pin for them. */
export const nodeTestTools: readonly McpTool[] = [
  defineTool({
    name: 'test_node',
    title: 'Test a node',
    description:
      'Rehearses one node of a workflow with the state that it had in a past run, or with the given state, and answers ' +
      'with its step: input, output or error. Use it after a change of the draft. What it may execute beyond computing ' +
      `must be in allow, such as agent or http_request:GET; nothing with effects can be. ${next}`,
    capability: 'run_workflows',
    annotations: executesGraph,
    input: withState(
      withOneGraph(
        z.strictObject({
          workflow: workflowArgument,
          node_id: nodeId,
          ...nodeTestFields,
          idempotency_key: idempotencyKeySchema.optional(),
        }),
      ),
    ),
    output: nodeTestSchema,
    handle: async (call, args) => {
      const { workflow, node_id, run_id: runId, step_key: stepKey, ...rest } = args;
      const { idempotency_key: idempotencyKey, ...given } = rest;
      const { workflowId } = await scopeOf(call, workflow);
      const place = { workflowId, nodeId: node_id, runId, stepKey };
      const { actor, signal } = call;
      const request = { actor, trigger: 'mcp', idempotencyKey, ...place, ...given } as const;
      return (await call.actions.testNode(request, signal)).tested;
    },
  }),
  defineTool({
    name: 'list_pins',
    title: 'List pinned outputs',
    description:
      'Lists the nodes of a workflow whose outputs you have pinned from past runs, for test_node and rehearsals with ' +
      'pins. With node_id, only that of this node, with its output.',
    capability: 'view',
    annotations: looksOnly,
    input: z.strictObject({ workflow: workflowArgument, ...pinsQuery.shape }),
    output: pinListSchema,
    handle: async (call, { workflow, node_id: of }) => {
      const { workflowId } = await scopeOf(call, workflow);
      const { db } = call.context;
      const pins =
        of === undefined
          ? listPins(db, call.actor, workflowId)
          : findPin(db, call.actor, workflowId, of);
      return { pins: await pins };
    },
  }),
  defineTool({
    name: 'pin_output',
    title: 'Pin an output',
    description:
      'Keeps a copy of the output that a node had in a past run, or the given output instead, for your node tests and ' +
      'rehearsals with pins. It replaces the one that you had pinned for this node. Runs do not use it.',
    capability: 'run_workflows',
    annotations: { ...pinning, destructiveHint: false },
    input: z.strictObject({ workflow: workflowArgument, node_id: nodeId, ...pinFields }),
    output: pinSchema,
    handle: async (call, { workflow, node_id, run_id: runId, step_key: stepKey, output }) => {
      const { workflowId } = await scopeOf(call, workflow);
      const place = { runId, nodeId: node_id, stepKey };
      return pinOutput(call.context.db, call.actor, workflowId, place, output);
    },
  }),
  defineTool({
    name: 'unpin_output',
    title: 'Remove a pinned output',
    description:
      'Removes the output that you have pinned for a node. The run that had it is unchanged.',
    capability: 'run_workflows',
    annotations: { ...pinning, destructiveHint: true },
    input: z.strictObject({ workflow: workflowArgument, node_id: nodeId }),
    output: z.object({ removed: z.literal(true) }),
    handle: async (call, { workflow, node_id }) => {
      const { workflowId } = await scopeOf(call, workflow);
      await removePin(call.context.db, call.actor, workflowId, node_id);
      return { removed: true as const };
    },
  }),
];
