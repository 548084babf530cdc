import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { type Opening, openingOf } from '#shared/agents/conversation.ts';
import { createStreamCutter } from '#shared/platform/secrets/stream-cutter.ts';
import { askMock } from './mock-model.ts';
import { consumptionOf } from './agent-cost.ts';
import { answerOf, refuseUnfinished } from './model-answer.ts';
import { type AgentDeps, askInOrder } from './model-order.ts';
import { askModel } from './model-request.ts';
import { type NodeCall, NodeError, type NodeResult, type NodeRunner } from './node.ts';

/**
 * Calls the node's model, then its fallbacks. The output is the response text or, with `response_schema`, the parsed
 * value. Throws NodeError, which carries the cost of an unusable response, and the signal's reason on abort.
 */
export function createAgentRunner(deps: AgentDeps): NodeRunner<AgentNode> {
  return (call) => {
    const opening = openingOf(call);
    return askInOrder(deps, call, (model) =>
      model === 'mock' ? askMock(call, opening.prompt) : askProvider(deps, call, model, opening),
    );
  };
}

async function askProvider(
  deps: AgentDeps,
  call: NodeCall<AgentNode>,
  model: string,
  { system, prompt }: Opening,
): Promise<NodeResult> {
  const { node, workspaceId, signal, onText } = call;
  const found = deps.findModel(model);
  if ('problem' in found) throw new NodeError(found.problem, { retryable: false });
  const schema = node.response_schema;
  const stream = onText && createStreamCutter(deps.keys, (text) => onText(text, model));
  const reply = await askModel({
    model: found.model,
    system,
    messages: [{ role: 'user', content: prompt }],
    temperature: node.temperature,
    maxOutputTokens: node.max_output_tokens,
    schema,
    signal,
    onText: stream?.add,
  });
  stream?.end();
  const consumption = consumptionOf(call, model, reply);
  const asked = { workspaceId, model, keys: deps.keys, schema, consumption };
  refuseUnfinished(asked, reply);
  return { ...consumption, output: await answerOf(asked, reply) };
}
