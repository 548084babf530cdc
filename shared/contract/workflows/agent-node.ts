import { z } from 'zod';
import { approvalRule, askingTitle } from './approvers.ts';
import { common, json, jsonObject, outputKey, text } from './node-common.ts';

/** Long enough for `workflow:` and the longest workflow name. */
const toolName = z.string().min(1).max(209);

const mockCost = z.number().min(0).max(1_000_000).optional();

/** A turn of the `mock` model: it calls tools or answers. */
const mockTurnSchema = z
  .strictObject({
    calls: z
      .array(
        z.strictObject({
          tool: toolName.meta({ description: "The tool's own name, such as `custom:refund`" }),
          arguments: jsonObject
            .default({})
            .meta({ description: "Strings in it are templates over the run's state" }),
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
    turns: z.array(mockTurnSchema).max(60).optional().meta({
      description:
        "For an agent with tools: the model's turns, in order. After the last one, the mock answers",
    }),
  })
  .meta({ id: 'MockModel' });

/** How an agent can use a tool. Without options, an entry of `tools` can be just the name. */
export const agentToolSchema = z
  .strictObject({
    name: toolName.meta({
      description:
        'A built-in tool, `custom:<name>`, or `workflow:<id or exact name>`, which runs that workflow',
    }),
    approval: approvalRule.optional().meta({
      description:
        "Whether a person must approve a call. An expression can read `args` and the run's state",
    }),
    title: askingTitle.meta({
      description: 'For the approvers of a call. Reads `args`, the arguments of the call',
    }),
    description: z
      .string()
      .min(1)
      .max(5_000)
      .optional()
      .meta({ description: "For the model; replaces the tool's description" }),
    parameters: jsonObject.optional().meta({
      description:
        'JSON Schema of the arguments, for a tool that has none. Arguments are validated against it',
    }),
    fixed: jsonObject.optional().meta({
      description:
        'Arguments that the model neither sees nor sets. Strings in it, at any depth, are templates',
    }),
    max_calls: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .meta({ description: 'The maximum number of calls over all turns' }),
    on_error: z.enum(['tell', 'fail']).default('tell').meta({
      description:
        'What happens when a call has failed permanently: `tell` reports it to the model, `fail` fails the node',
    }),
  })
  .meta({ id: 'AgentTool' });

/** The maximum number of tools of one agent. */
const MAX_AGENT_TOOLS = 64;
/** The maximum number of turns of one conversation, not counting a final turn that answers without tools. */
export const MAX_TURNS = 100;

export const agentNodeSchema = z
  .strictObject({
    ...common,
    kind: z.literal('agent'),
    system_prompt: text.optional(),
    prompt: text
      .optional()
      .meta({ description: 'A template. Without it, the model gets the run state as JSON' }),
    model: z
      .string()
      .min(1)
      .max(200)
      .default('mock')
      .meta({ description: '`provider/model`, or `mock`' }),
    fallback_models: z.array(z.string().min(1).max(200)).max(10).optional(),
    temperature: z.number().min(0).max(2).optional(),
    max_output_tokens: z.int().min(1).max(10_000_000).optional(),
    response_schema: jsonObject
      .optional()
      .meta({ description: 'JSON Schema of the response. The parsed object becomes the output' }),
    output_key: outputKey
      .optional()
      .meta({ description: "State key of the output; the default is the node's id" }),
    tools: z
      .array(z.union([toolName, agentToolSchema]))
      .min(1)
      .max(MAX_AGENT_TOOLS)
      .optional()
      .meta({ description: 'Tools that the model can call, turn by turn, until it answers' }),
    max_turns: z.int().min(1).max(MAX_TURNS).optional().meta({ description: 'The default is 10' }),
    tool_choice: z
      .enum(['auto', 'required'])
      .optional()
      .meta({ description: '`required`: the first turn must call a tool. The default is `auto`' }),
    on_max_turns: z.enum(['fail', 'answer']).optional().meta({
      description:
        'What happens after the last turn: `fail` (the default), or `answer` in one more turn without tools',
    }),
    mock: mockSchema.optional(),
  })
  .meta({ id: 'AgentNode' });
