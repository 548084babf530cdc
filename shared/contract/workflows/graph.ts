import { z } from 'zod';
import { recheckSetting } from '#shared/contract/gates/recheck.ts';
import { common, json, jsonObject, outputKey, text } from './node-common.ts';
import { agentNodeSchema, type agentToolSchema } from './agent-node.ts';
import { actAs, askingFields, askingTitle, nodeApproval } from './approvers.ts';
import { codeNodeSchema } from './code-node.ts';
import { waitNodeSchema } from './wait-node.ts';
import { toolParams, type ToolParams } from '#shared/tools.ts';

/** `url, method?`: someone who reads only the schema needs no other list. */
const paramNames = ({ required, optional }: ToolParams): string =>
  [
    ...required.map((name) => [name].flat().join(' or ')),
    ...optional.map((name) => `${name}?`),
  ].join(', ');

const builtinParams = Object.entries(toolParams)
  .map(([tool, params]) => `\`${tool}\`: \`${paramNames(params)}\``)
  .join('; ');

const toolNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('tool'),
    tool_name: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'A built-in tool, or `custom:<name>`' }),
    params: jsonObject.default({}).meta({
      description: `Strings in it, at any depth, are templates. Those of the built-in tools are ${builtinParams}`,
    }),
    output_key: outputKey.optional(),
    approval: nodeApproval,
    act_as: actAs,
  })
  .meta({ id: 'ToolNode' });

const conditionNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('condition'),
    expression: text,
  })
  .meta({ id: 'ConditionNode' });

const loopNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('loop'),
    expression: text,
    max_iterations: z.int().min(1).max(10_000).default(5),
  })
  .meta({ id: 'LoopNode' });

const DEFAULT_CONCURRENCY = 10;
const MAX_CONCURRENCY = 100;

const mapNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('map'),
    items: text.meta({
      description:
        "An expression that returns a list of at most 10,000 items. Its `'true'` edges lead to the body, which runs once per item",
    }),
    concurrency: z
      .int()
      .min(1)
      .max(MAX_CONCURRENCY)
      .default(DEFAULT_CONCURRENCY)
      .meta({ description: 'How many items are in progress concurrently' }),
    on_item_error: z.enum(['fail', 'collect']).default('fail').meta({
      description:
        '`fail`: a failed item fails the node. `collect`: its entry in the output is `{error}`',
    }),
    output_key: outputKey
      .optional()
      .meta({ description: "State key of the list of outputs; the default is the node's id" }),
  })
  .meta({ id: 'MapNode' });

// The nodes of the called graph limit how long its run takes.
const { timeout_seconds: _timeout, ...commonOfWorkflow } = common;

/** Starts a run of another workflow and waits for its end. */
const workflowNodeSchema = z
  .strictObject({
    ...commonOfWorkflow,
    kind: z.literal('workflow'),
    workflow: z.string().min(1).max(200).meta({
      description:
        'Id or exact name of a workflow in the workspace, looked up when the step starts',
    }),
    version: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .optional()
      .meta({ description: 'The default is the version that is current when the step starts' }),
    input: jsonObject.default({}).meta({
      description: 'The input of the started run. Strings in it, at any depth, are templates',
    }),
    output_key: outputKey
      .optional()
      .meta({ description: "State key of that run's output; the default is the node's id" }),
    approval: nodeApproval,
  })
  .meta({ id: 'WorkflowNode' });

const gateNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('human_gate'),
    prompt: text.default('').meta({ description: 'A template of the question for the approver' }),
    title: askingTitle.meta({
      description: "Reads the run's state, like the prompt. The default is the label",
    }),
    input_schema: jsonObject
      .optional()
      .meta({ description: "JSON Schema of the approvers' input. The console shows it as a form" }),
    ...askingFields,
    recheck: recheckSetting.optional().meta({
      description:
        'Whether an approval repeats the reads that the gate depends on; `after_seconds`: only those that are older',
    }),
    covers: z.literal('all').optional().meta({
      description:
        'Every write that an answer sets in motion must be known when the gate is decided. Otherwise the graph is invalid',
    }),
  })
  .meta({ id: 'HumanGateNode' });

const mergeNodeSchema = z
  .strictObject({ ...common, kind: z.literal('merge') })
  .meta({ id: 'MergeNode' });

export const graphNodeSchema = z
  .discriminatedUnion('kind', [
    agentNodeSchema,
    toolNodeSchema,
    codeNodeSchema,
    conditionNodeSchema,
    loopNodeSchema,
    mapNodeSchema,
    workflowNodeSchema,
    gateNodeSchema,
    waitNodeSchema,
    mergeNodeSchema,
  ])
  .meta({ id: 'GraphNode' });

export const graphEdgeSchema = z
  .strictObject({
    id: z.string().min(1).max(200).optional(),
    source: z.string().min(1).max(100),
    target: z.string().min(1).max(100),
    condition_value: z.enum(['true', 'false', 'error']).optional().meta({
      description:
        'The result of the source that this edge requires; by default, any. `error`: the source failed',
    }),
  })
  .meta({ id: 'GraphEdge' });

/** A graph that has the right shape for compilation. `checkGraph` validates the rest. */
export const graphSchema = z.strictObject({
  nodes: z.array(graphNodeSchema).default([]),
  edges: z.array(graphEdgeSchema).default([]),
});

/** A graph that can be saved. Drafts store everything, even if it cannot run yet. */
export const draftGraphSchema = z.looseObject({
  nodes: z.array(json).default([]),
  edges: z.array(json).default([]),
});

export const graphIssueSchema = z
  .object({
    code: z.string(),
    message: z.string(),
    node_id: z.string().optional(),
    path: z
      .string()
      .optional()
      .meta({ description: 'The path in the graph, such as `nodes[3].params.url`' }),
    position: z
      .int()
      .optional()
      .meta({ description: 'Offset in the text at `path`, from 0, in UTF-16 units' }),
  })
  .meta({ id: 'GraphIssue' });

export const graphReportSchema = z
  .object({
    valid: z.boolean(),
    errors: z.array(graphIssueSchema),
    warnings: z.array(graphIssueSchema),
  })
  .meta({ id: 'GraphReport' });

export type GraphNode = z.infer<typeof graphNodeSchema>;
export type AgentNode = z.infer<typeof agentNodeSchema>;
export type AgentTool = z.infer<typeof agentToolSchema>;
export type ToolNode = z.infer<typeof toolNodeSchema>;
export type LoopNode = z.infer<typeof loopNodeSchema>;
export type ConditionNode = z.infer<typeof conditionNodeSchema>;
export type MapNode = z.infer<typeof mapNodeSchema>;
export type WorkflowNode = z.infer<typeof workflowNodeSchema>;
export type GateNode = z.infer<typeof gateNodeSchema>;
export type CodeNode = z.infer<typeof codeNodeSchema>;
export type WaitNode = z.infer<typeof waitNodeSchema>;
export type NodeKind = GraphNode['kind'];
export type GraphEdge = z.infer<typeof graphEdgeSchema>;
export type EdgeCondition = NonNullable<GraphEdge['condition_value']>;
export type Graph = z.infer<typeof graphSchema>;
/** A graph in a request, before defaults are applied. */
export type GraphInput = z.input<typeof graphSchema>;
export type DraftGraph = z.infer<typeof draftGraphSchema>;
export type GraphIssue = z.infer<typeof graphIssueSchema>;
export type GraphReport = z.infer<typeof graphReportSchema>;
