import { openingOf } from '#shared/agents/conversation.ts';
import { echoedPrompt, examplesOf } from '#shared/agents/mock-examples.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { mockFailed, refusedAnswer } from '#shared/graph/failure-texts.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { type Answer, answerOf, type Place } from './answers.ts';
import { type Mock, scriptIn } from './mock.ts';
import { PlayError } from './play-error.ts';
import { keyOf, type Playing } from './playing.ts';

/** What is sent to the model of an agent. */
interface Asked {
  params: JsonObject;
  state: JsonObject;
  place: Place;
}

/** Asks the model of an agent without tools: its mock in the test, or the model `mock`. */
export async function askModel(run: Playing, node: AgentNode, asked: Asked): Promise<Answer> {
  const { params, state, place } = asked;
  const given = mockOfAgent(run, node);
  const { mock: _script, ...prompts } = params;
  const args = params['prompt'] === undefined ? { ...prompts, state } : prompts;
  const answer =
    given === undefined
      ? mockModel(run, node, asked)
      : await answerOf(run, given.mock, { args, place, named: given.named });
  return fitting(run, node, answer);
}

/** The mock of an agent in the test. */
function mockOfAgent(run: Playing, { id }: AgentNode): { mock: Mock; named: string } | undefined {
  const { nodes = {}, agents = {} } = run.world.options.mocks ?? {};
  const key = keyOf(run.name, id);
  if (Object.hasOwn(nodes, key)) return { mock: nodes[key], named: `mocks.nodes['${key}']` };
  if (!Object.hasOwn(agents, key)) return undefined;
  const named = `mocks.agents['${key}']`;
  if (scriptIn(agents[key]) !== undefined) {
    throw new PlayError(`${named}: the agent has no tools, so it takes no turns: give its answer`);
  }
  return { mock: agents[key] as Mock, named };
}

/** The answer as the node's response schema requires it. */
export function fitting(run: Playing, { model, ...node }: AgentNode, answer: Answer): Answer {
  if ('error' in answer || node.response_schema === undefined) return answer;
  const outcome = run.world.schemas.answer(node.response_schema, answer.output);
  const refusal = refusedAnswer(model, outcome);
  if (refusal === undefined) return answer;
  const error = new NodeError(refusal, { retryable: outcome.schemaProblem === undefined });
  return { seconds: answer.seconds, error };
}

/** The model of the examples, as in the service. Throws PlayError for another model. */
export function mockModel(run: Playing, node: AgentNode, asked: Asked): Answer {
  requireMock(run, node);
  const seconds = (node.mock?.delay_ms ?? 0) / 1_000;
  const failures = node.mock?.fail_times ?? 0;
  const { attempt } = asked.place;
  if (attempt <= failures) {
    return { seconds, error: new NodeError(mockFailed(attempt, failures)) };
  }
  return { seconds, output: mockOutput(run, node, asked) };
}

export function requireMock(run: Playing, { id, model, tools }: AgentNode): void {
  if (model === 'mock') return;
  const key = keyOf(run.name, id);
  const turns = tools === undefined ? '' : `, or its turns in mocks.agents['${key}']`;
  throw new PlayError(
    `Node '${key}' asks the model '${model}', which is not asked in a test: give its answer in mocks.nodes['${key}']${turns}`,
  );
}

function mockOutput(run: Playing, node: AgentNode, { params, state }: Asked): Json {
  const rendered = params['mock'];
  if (isObject(rendered) && rendered['output'] !== undefined) return rendered['output'];
  if (node.mock?.output !== undefined) return node.mock.output;
  const { response_schema: schema } = node;
  if (schema === undefined) return echoedPrompt(openingOf({ params, state }).prompt);
  const examples = examplesOf(schema);
  const fits = examples.find((example) => {
    const { schemaProblem, problem } = run.world.schemas.answer(schema, example);
    return schemaProblem === undefined && problem === undefined;
  });
  return fits ?? examples[0]!;
}
