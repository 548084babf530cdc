import { outputLimit } from '#shared/agents/cost-bounds.ts';
import { createStreamCutter } from '#shared/platform/secrets/stream-cutter.ts';
import { askMockTurn } from './mock-turn.ts';
import { consumptionOf } from './agent-cost.ts';
import { type Asked, answerOf, cutOff, refuseUnfinished } from './model-answer.ts';
import { type AgentDeps, askInOrder } from './model-order.ts';
import { askModel, type ModelReply } from './model-request.ts';
import type { TurnCall, TurnResult, TurnRunner } from './model-turn.ts';
import { NodeError } from './node.ts';
import { turnOf } from './turn-calls.ts';
import { withPrefixes } from './turn-cache.ts';
import { messagesOf } from './turn-messages.ts';

/**
 * Calls the node's model for one turn, then its fallbacks while providers fail. Throws NodeError, which carries the
 * cost of an unusable response, and the signal's reason on abort.
 */
export function createTurnRunner(deps: AgentDeps): TurnRunner {
  return (call) =>
    askInOrder(deps, call, (model) =>
      model === 'mock' ? askMockTurn(call) : askProvider(deps, call, model),
    );
}

async function askProvider(deps: AgentDeps, call: TurnCall, model: string): Promise<TurnResult> {
  const found = deps.findModel(model);
  if ('problem' in found) throw new NodeError(found.problem, { retryable: false });
  const { node, conversation, tools, onText } = call;
  const stream = onText && createStreamCutter(deps.keys, (text) => onText(text, model));
  const reply = await askModel({
    model: found.model,
    system: conversation.system,
    messages: withPrefixes(messagesOf(conversation, model, tools), {
      last: call.toolChoice === 'none',
    }),
    temperature: node.temperature,
    maxOutputTokens: outputLimit(node),
    schema: node.response_schema,
    signal: call.signal,
    tools,
    toolChoice: call.toolChoice,
    onText: stream?.add,
  });
  stream?.end();
  const consumption = consumptionOf(call, model, reply, call.inputBytes);
  const asked: Asked = {
    workspaceId: call.workspaceId,
    model,
    keys: deps.keys,
    schema: node.response_schema,
    consumption,
  };
  refuseUnfinished(asked, reply);
  refuseUnusable(asked, call, reply);
  const said = turnOf(model, reply, tools, deps.keys);
  if (said.calls.length > 0) return { ...consumption, said };
  return { ...consumption, said, output: await answerOf(asked, reply) };
}

/** Throws a retryable NodeError for a turn that is truncated, or that neither calls nor answers as required. */
function refuseUnusable({ model, consumption }: Asked, call: TurnCall, reply: ModelReply): void {
  const isCut = reply.finishReason === 'length';
  const calls = reply.parts.some((part) => part.type === 'tool-call');
  if (isCut && (calls || reply.ignoredToolChoice)) {
    throw cutOff(model, 'its calls were complete', consumption);
  }
  if (reply.ignoredToolChoice) {
    const what = calls
      ? 'called a tool instead of answering'
      : 'answered instead of calling a tool';
    throw new NodeError(`${model} ${what}`, { consumption });
  }
  // A text that ends at the node's own limit is accepted, as for agents without tools. No one chose the default limit.
  const chosen = call.node.max_output_tokens !== undefined && reply.text !== '';
  if (isCut && !calls && !chosen && call.node.response_schema === undefined) {
    throw cutOff(model, 'its answer was complete', consumption);
  }
}
