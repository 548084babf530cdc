import { z } from 'zod';
import { recheckSetting } from '#shared/contract/gates/recheck.ts';
import { common, json, jsonObject, MAX_WAIT_SECONDS, outputKey, text } from './node-common.ts';
import { actAs, approversSchema } from './approvers.ts';
import { codeNodeSchema } from './code-node.ts';
import { waitNodeSchema } from './wait-node.ts';

/** Long enough for `workflow:` and the longest workflow name. */
const toolName = z.string().min(1).max(209);

const mockCost = z.number().min(0).max(1_000_000).optional();

/** A turn of the `mock` model: it calls tools or answers. */
const mockTurnSchema = z
  .strictObject({
    calls: z
      .array(
        z.strictObject({
          /** The tool's own name, such as `custom:refund`. */
          tool: toolName,
          /** Strings in it are templates over the run's state. */
          arguments: jsonObject.default({}),
        }),
      )
      .max(100)
      .optional(),
    output: json.optional(),
    cost_usd: mockCost,
  })
  .meta({ id: 'MockTurn' });

/** The output, cost and failures of the `mock` model; other models ignore it. */
export const mockSchema = z
  .strictObject({
    output: json.optional(),
    cost_usd: mockCost,
    delay_ms: z.int().min(0).max(3_600_000).optional(),
    fail_times: z.int().min(0).max(1000).optional(),
    /** For an agent with tools: the model's turns, in order. After the last one, the mock answers. */
    turns: z.array(mockTurnSchema).max(60).optional(),
  })
  .meta({ id: 'MockModel' });

/** What a gate does at its deadline. */
export const timeoutActions = ['reject', 'approve', 'fail'] as const;

/** When a person must approve. An expression can read `args` and the run's state. */
const approvalRule = z.union([z.enum(['always', 'never']), z.string().min(1).max(2_000)]);

/** A template of what is decided, in one line, for lists and notifications. */
const askingTitle = z.string().min(1).max(1_000).optional();

/** What a gate, or a step that needs approval, requires of its approvers. */
const askingFields = {
  /** Who can decide; by default, every credential with the capability `approve_gates`. */
  approvers: approversSchema.optional(),
  /** How many different members must approve; the default is 1. A single rejection rejects. */
  required: z.int().min(1).max(5).optional(),
  /** Who cannot: members who started the run, or one before it; callers without a session, such as a key or a link. */
  not_the_starter: z.boolean().optional(),
  signed_in: z.boolean().optional(),
  /** How long it waits for a decision. Requires `on_timeout`. */
  timeout_seconds: z.number().positive().max(MAX_WAIT_SECONDS).optional(),
  on_timeout: z.enum(timeoutActions).optional(),
  /** The interval between reminders while it waits. */
  remind_seconds: z.number().min(1).max(MAX_WAIT_SECONDS).optional(),
};

/** Whether a person must approve a step with its exact arguments before it is executed, and who. */
const nodeApproval = z
  .union([
    approvalRule,
    z.strictObject({
      when: approvalRule,
      /** Reads `args`, the arguments of the step. */
      title: askingTitle,
      ...askingFields,
    }),
  ])
  .optional();

/** How an agent can use a tool. Without options, an entry of `tools` can be just the name. */
const agentToolSchema = z
  .strictObject({
    /** A built-in tool, `custom:<name>`, or `workflow:<id or exact name>`, which runs that workflow. */
    name: toolName,
    /** Whether a person must approve a call. An expression can read `args` and the run's state. */
    approval: approvalRule.optional(),
    /** For the approvers of a call. Reads `args`, the arguments of the call. */
    title: askingTitle,
    /** For the model; replaces the tool's description. */
    description: z.string().min(1).max(5_000).optional(),
    /** JSON Schema of the arguments, for a tool that has none. Arguments are validated against it. */
    parameters: jsonObject.optional(),
    /** Arguments that the model neither sees nor sets. Strings in it, at any depth, are templates. */
    fixed: jsonObject.optional(),
    /** The maximum number of calls over all turns. */
    max_calls: z.int().min(1).max(1_000).optional(),
    /** What happens when a call has failed permanently: `tell` reports it to the model, `fail` fails the node. */
    on_error: z.enum(['tell', 'fail']).default('tell'),
  })
  .meta({ id: 'AgentTool' });

/** The maximum number of tools of one agent. */
const MAX_AGENT_TOOLS = 64;
/** The maximum number of turns of one conversation, not counting a final turn that answers without tools. */
export const MAX_TURNS = 100;

const agentNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('agent'),
    system_prompt: text.optional(),
    /** A template. Without it, the model gets the run state as JSON. */
    prompt: text.optional(),
    /** `provider/model`, or `mock`. */
    model: z.string().min(1).max(200).default('mock'),
    fallback_models: z.array(z.string().min(1).max(200)).max(10).optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_output_tokens: z.int().min(1).max(10_000_000).optional(),
    /** JSON Schema of the response. The parsed object becomes the output. */
    response_schema: jsonObject.optional(),
    /** State key of the output; the default is the node's id. */
    output_key: outputKey.optional(),
    /** Tools that the model can call, turn by turn, until it answers. */
    tools: z
      .array(z.union([toolName, agentToolSchema]))
      .min(1)
      .max(MAX_AGENT_TOOLS)
      .optional(),
    /** The default is 10. */
    max_turns: z.int().min(1).max(MAX_TURNS).optional(),
    /** `required`: the first turn must call a tool. The default is `auto`. */
    tool_choice: z.enum(['auto', 'required']).optional(),
    /** What happens after the last turn: `fail` (the default), or `answer` in one more turn without tools. */
    on_max_turns: z.enum(['fail', 'answer']).optional(),
    mock: mockSchema.optional(),
  })
  .meta({ id: 'AgentNode' });

const toolNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('tool'),
    /** A built-in tool, or `custom:<name>`. */
    tool_name: z.string().min(1).max(200),
    /** Strings in it, at any depth, are templates. */
    params: jsonObject.default({}),
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
    /**
     * An expression that returns a list of at most 10,000 items. Its `'true'` edges lead to the body, which runs once
     * per item.
     */
    items: text,
    /** How many items are in progress concurrently. */
    concurrency: z.int().min(1).max(MAX_CONCURRENCY).default(DEFAULT_CONCURRENCY),
    /** `fail`: a failed item fails the node. `collect`: its entry in the output is `{error}`. */
    on_item_error: z.enum(['fail', 'collect']).default('fail'),
    /** State key of the list of outputs; the default is the node's id. */
    output_key: outputKey.optional(),
  })
  .meta({ id: 'MapNode' });

// The nodes of the called graph limit how long its run takes.
const { timeout_seconds: _timeout, ...commonOfWorkflow } = common;

/** Starts a run of another workflow and waits for its end. */
const workflowNodeSchema = z
  .strictObject({
    ...commonOfWorkflow,
    kind: z.literal('workflow'),
    /** Id or exact name of a workflow in the workspace, looked up when the step starts. */
    workflow: z.string().min(1).max(200),
    /** The default is the version that is current when the step starts. */
    version: z.int().min(1).max(1_000_000_000).optional(),
    /** The input of the started run. Strings in it, at any depth, are templates. */
    input: jsonObject.default({}),
    /** State key of that run's output; the default is the node's id. */
    output_key: outputKey.optional(),
    approval: nodeApproval,
  })
  .meta({ id: 'WorkflowNode' });

const gateNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('human_gate'),
    /** A template of the question for the approver. */
    prompt: text.default(''),
    /** Reads the run's state, like the prompt. The default is the label. */
    title: askingTitle,
    /** JSON Schema of the approvers' input. The console shows it as a form. */
    input_schema: jsonObject.optional(),
    ...askingFields,
    /** Whether an approval repeats the reads that the gate depends on; `after_seconds`: only those that are older. */
    recheck: recheckSetting.optional(),
    /** Every write that an answer sets in motion must be known when the gate is decided. Otherwise the graph is invalid. */
    covers: z.literal('all').optional(),
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
    /** The result of the source that this edge requires; by default, any. `error`: the source failed. */
    condition_value: z.enum(['true', 'false', 'error']).optional(),
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
    /** The path in the graph, such as `nodes[3].params.url`. */
    path: z.string().optional(),
    /** Offset in the text at `path`, from 0, in UTF-16 units. */
    position: z.int().optional(),
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
