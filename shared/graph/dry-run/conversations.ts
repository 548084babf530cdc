import { builtinDefinitions } from '#shared/agents/builtin-tools.ts';
import { outputLimit } from '#shared/agents/cost-bounds.ts';
import {
  MAX_CALLS_PER_TURN,
  MAX_REQUESTED_CALLS,
  MAX_RESULT_CHARACTERS,
} from '#shared/agents/loop.ts';
import type { AgentNode, AgentTool } from '#shared/contract/workflows/graph.ts';
import { workflowOf } from '#shared/tools.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { customFacts } from './attempts.ts';
import { bytesOf } from './knowledge.ts';
import type { DryRunRequest } from './request.ts';

/** The longest known token has 128 bytes: a line of spaces. */
export const BYTES_PER_TOKEN = 256;
/**
 * When parsed and serialized again, a number such as 1e20 becomes five times as long, and a character in JSON six
 * times.
 */
export const REWRITTEN = 6;
/** A call without its arguments and result: its name, its id, and why it was not made. */
const CALL_BYTES = 10_000;
/** The JSON around the conversation and the tools. */
const FRAME_BYTES = 6_000;
/** A schema is sent in a form that providers accept, which can repeat parts of it. */
const PRESENTED = 4;
/** The limits of a workflow's description and schema. */
const WORKFLOW_TOOL_BYTES = REWRITTEN * 80_000;

/** What an agent with tools sends besides its prompts, in bytes. */
export interface SentWithTools {
  /** The tools, in every turn. Null: unknown. */
  tools: number | null;
  /** The arguments that the node sets, in each call. Null: unknown. */
  fixed: number | null;
}

/** The maximum size of the tools that an agent offers, in bytes. */
export function toolBytes(node: AgentNode, customTools: DryRunRequest['customTools']): number {
  const sizes = agentToolsOf(node).map((tool) => definitionBytes(tool, customTools));
  return sizes.reduce((all, bytes) => all + bytes, FRAME_BYTES);
}

function definitionBytes(tool: AgentTool, customTools: DryRunRequest['customTools']): number {
  const { name } = tool;
  const own = FRAME_BYTES + PRESENTED * bytesOf(tool as never);
  if (workflowOf(name) !== undefined) return own + PRESENTED * WORKFLOW_TOOL_BYTES;
  const custom = customFacts(name, customTools);
  if (custom !== undefined) return own + PRESENTED * custom.bytes;
  return Object.hasOwn(builtinDefinitions, name)
    ? own +
        PRESENTED * bytesOf(builtinDefinitions[name as keyof typeof builtinDefinitions] as never)
    : own;
}

/**
 * The maximum size, in bytes, of what earlier turns added to the conversation: the model's text, and the results of its
 * calls, which are truncated. Null: unknown.
 */
export function earlierBytes(
  node: AgentNode,
  turn: number,
  calls: number,
  { fixed }: SentWithTools,
): number | null {
  const tokens = outputLimit(node);
  if (tokens === undefined || fixed === null) return null;
  const turns = turn - 1;
  const made = Math.min(calls, turns * Math.min(tokens, MAX_CALLS_PER_TURN));
  const requested = turns * Math.min(tokens, MAX_REQUESTED_CALLS);
  return (
    turns * tokens * BYTES_PER_TOKEN * REWRITTEN +
    requested * (CALL_BYTES + 2 * REWRITTEN * fixed) +
    made * MAX_RESULT_CHARACTERS * REWRITTEN
  );
}
