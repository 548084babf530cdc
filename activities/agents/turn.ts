import { type Conversation, openingOf } from '#shared/agents/conversation.ts';
import { type CallChecks, decideCalls } from '#shared/agents/decide-calls.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { TurnRecord } from '#shared/agents/turn-record.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { countCalls, readConversation } from '#shared/db/agents/conversations.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { StepCall } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import type { Json } from '#shared/json.ts';
import { messageOf } from '#shared/errors.ts';
import {
  argumentsUntrusted,
  CostlyError,
  evaluateUntrusted,
  type Place,
} from '#shared/platform/threads/untrusted.ts';
import { turnBytes } from '#activities/nodes/agent-cost.ts';
import type { ModelCall, TurnRunner } from '#activities/nodes/model-turn.ts';
import { type Consumption, NodeError } from '#activities/nodes/node.ts';
import type { Redact } from './redact.ts';

/** What a turn needs in addition to its call. */
export interface TurnContext {
  agent: AgentPart;
  /** Empty before the first turn, whose prompts come with the call. */
  earlier: Conversation;
  tools: readonly OfferedTool[];
  /** The number of calls in earlier turns, by tool. */
  made: ReadonlyMap<string, number>;
}

/** How the calls of a turn are examined. */
export interface Examining {
  redact: Redact;
  place: Place;
}

/** Reads what a turn needs. Throws a NodeError when an earlier turn is not stored. */
export async function readTurnContext(
  db: Pool,
  { run_id: runId, agent }: StepCall & { agent: AgentPart },
  tools: readonly OfferedTool[],
): Promise<TurnContext> {
  const key = { runId, agentKey: agent.step_key, before: agent.turn };
  const limited = tools.some((tool) => tool.maxCalls !== undefined);
  const [earlier, made] = await Promise.all([
    readConversation(db, key),
    limited ? countCalls(db, key) : new Map<string, number>(),
  ]);
  if (earlier === undefined) {
    throw new NodeError(`Turn ${agent.turn} cannot start: an earlier turn is not stored`, {
      retryable: false,
    });
  }
  return { agent, earlier, tools, made };
}

/**
 * Calls the model for one turn, and decides about each call that it requests. Throws NodeError, and CostlyError if it
 * must not wait for a thread: such an attempt only calls the mock, and counts as not made.
 */
export async function runTurn(
  ask: TurnRunner,
  call: ModelCall,
  context: TurnContext,
  examining: Examining,
): Promise<{ output: Json } & Consumption> {
  const { agent, earlier, tools } = context;
  const conversation = agent.turn > 1 ? earlier : { ...earlier, ...openingOf(call) };
  const { said, output, ...consumption } = await ask({
    ...call,
    turn: agent.turn,
    conversation,
    inputBytes: turnBytes(call.params, context),
    tools,
    toolChoice: toolChoice(call.node, agent),
  });
  const { text, calls, verbatim } = said;
  const record: TurnRecord =
    calls.length === 0
      ? { text, calls: [], answer: output ?? text }
      : {
          text,
          calls: await decideCalls(calls, context, checksFor(call.workspaceId, examining)).catch(
            (error: unknown) => {
              if (error instanceof CostlyError) throw error;
              throw new NodeError(messageOf(error), { cause: error, consumption });
            },
          ),
          ...(verbatim === undefined ? {} : { verbatim }),
        };
  return { ...consumption, output: record as unknown as Json };
}

/** `required` only applies to the first turn, because a model that must always call a tool never answers. */
function toolChoice(node: AgentNode, { turn, tools }: AgentPart): 'auto' | 'required' | 'none' {
  if (tools === false) return 'none';
  return turn === 1 ? (node.tool_choice ?? 'auto') : 'auto';
}

/** The turn is already paid for, so it must not be repeated because the threads are busy. */
const checksFor = (workspaceId: string, { redact, place }: Examining): CallChecks => {
  const patiently = { place, patient: true };
  return {
    arguments: (schema, args) => argumentsUntrusted(workspaceId, schema, args, patiently),
    evaluate: (expression, scope) => evaluateUntrusted(workspaceId, expression, scope, patiently),
    redact: async (args) => (await redact(args)).value,
  };
};
