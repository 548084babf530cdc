import { type Conversation, openingOf, type RequestedCall } from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import type { RecordedCall, TurnRecord } from '#shared/agents/turn-record.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { countCalls, readConversation } from '#shared/db/agents/conversations.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { StepCall } from '#shared/execution.ts';
import type { AgentPart } from '#shared/graph/call-parts.ts';
import { truthy } from '#shared/graph/expression/expression.ts';
import { titleOfCall } from '#shared/graph/gates/title.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { messageOf } from '#shared/errors.ts';
import { inChat } from '#shared/values/markup.ts';
import {
  argumentsUntrusted,
  CostlyError,
  evaluateUntrusted,
  type Place,
} from '#shared/platform/threads/untrusted.ts';
import { turnBytes } from '#activities/nodes/agent-cost.ts';
import type { ModelCall, TurnResult, TurnRunner } from '#activities/nodes/model-turn.ts';
import { type Consumption, NodeError } from '#activities/nodes/node.ts';
import { askAbout } from './question.ts';
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
          calls: await decideCalls(call.workspaceId, calls, context, examining).catch(
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

async function decideCalls(
  workspaceId: string,
  requested: TurnResult['said']['calls'],
  { agent, tools, made }: TurnContext,
  examining: Examining,
): Promise<RecordedCall[]> {
  const used = new Map(made);
  const recorded: RecordedCall[] = [];
  for (const call of requested) {
    const decided = await decideCall(workspaceId, call, { agent, tools, used }, examining);
    if (decided.refusal === undefined) used.set(call.tool, (used.get(call.tool) ?? 0) + 1);
    recorded.push(decided);
  }
  return recorded;
}

async function decideCall(
  workspaceId: string,
  call: RequestedCall,
  {
    agent,
    tools,
    used,
  }: { agent: AgentPart; tools: readonly OfferedTool[]; used: ReadonlyMap<string, number> },
  { redact, place }: Examining,
): Promise<RecordedCall> {
  if (call.refusal !== undefined) return call;
  const refuse = (refusal: string): RecordedCall => ({ ...call, refusal });
  const tool = tools.find(({ name }) => name === call.tool);
  if (tool === undefined) return refuse(`There is no tool '${call.tool}'`);
  if (typeof call.given === 'string') return refuse('The arguments are not a JSON object');
  if (tool.maxCalls !== undefined && (used.get(tool.name) ?? 0) >= tool.maxCalls) {
    const times = `${tool.maxCalls} ${tool.maxCalls === 1 ? 'time' : 'times'}`;
    return refuse(`'${tool.name}' can be called ${times} here, and has been`);
  }
  const { problem, schemaProblem } = await argumentsUntrusted(
    workspaceId,
    tool.schema,
    call.given,
    patiently(place),
  );
  if (schemaProblem !== undefined) return refuse(`The schema of '${tool.name}' ${schemaProblem}`);
  if (problem !== undefined) return refuse(`The arguments do not fit the schema: ${problem}`);
  const args = { ...givenFor(tool.name, call.given), ...agent.fixed?.[tool.name] };
  const recorded = {
    ...call,
    arguments: args,
    schema_digest: tool.schemaDigest,
    ...(tool.toolDigest === null ? {} : { tool_digest: tool.toolDigest }),
  };
  const asks = await needsApproval(workspaceId, tool.approval, { ...agent.state, args }, place);
  if (!asks) return recorded;
  const { value } = await redact(args);
  const title = titleOfCall(tool.name, value, tool.title);
  return { ...recorded, title, ...askAbout(tool.name, value) };
}

/** A model writes plain text, not chat markup: what it has read could otherwise make it notify everyone. */
const givenFor = (tool: string, given: JsonObject): JsonObject =>
  tool === 'send_chat_message' && typeof given['text'] === 'string'
    ? { ...given, text: inChat(given['text']) }
    : given;

/** The turn is already paid for, so it must not be repeated because the threads are busy. */
const patiently = (place: Place) => ({ place, patient: true });

/** An expression that fails requires an approval. */
async function needsApproval(
  workspaceId: string,
  approval: string,
  scope: JsonObject,
  place: Place,
): Promise<boolean> {
  if (approval === 'always') return true;
  if (approval === 'never') return false;
  const outcome = await evaluateUntrusted(workspaceId, approval, scope, patiently(place));
  return 'problem' in outcome || truthy(outcome.value);
}
