import { openingOf } from '#shared/agents/conversation.ts';
import { type CallChecks, decideCalls } from '#shared/agents/decide-calls.ts';
import { requestedCalls } from '#shared/agents/requested-calls.ts';
import type { TurnRecord } from '#shared/agents/turn-record.ts';
import { evaluateExpression, ExpressionError } from '#shared/graph/expression/expression.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { NodeError } from '#shared/node-error.ts';
import { type Answer, answerOf, objectOf, type Place } from './answers.ts';
import { hasOnly, type Mock, scriptIn } from './mock.ts';
import { fitting, mockModel, requireMock } from './models.ts';
import type { AskedTurn } from './options.ts';
import { PlayError } from './play-error.ts';
import type { PlayedAgent } from './played-agent.ts';
import { keyOf, type Playing } from './playing.ts';

interface Asked {
  turn: number;
  /** Whether it can call tools; otherwise it must answer. */
  tools: boolean;
  place: Place;
}

/** What a model says in a turn, after so many seconds. */
type Said = { seconds: number } & (
  | { error: NodeError }
  | { calls: { tool: string; arguments: JsonObject }[] }
  | { output: Json }
);

/** Asks the model of an agent with tools for one turn. The output is the record of the turn. */
export async function askTurn(run: Playing, agent: PlayedAgent, asked: Asked): Promise<Answer> {
  const said = mockOf(run, agent) ?? ((): Said => scripted(run, agent, asked));
  const turn = await said(asked);
  if ('error' in turn) return turn;
  const { seconds } = turn;
  if ('output' in turn) {
    const fitted = fitting(run, agent.node, turn);
    if ('error' in fitted) return fitted;
    const { output: answer } = fitted;
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    return recorded(seconds, { text, calls: [], answer });
  }
  const names = agent.tools.map(({ name }) => name);
  const requested = requestedCalls(
    turn.calls.map(({ tool, arguments: input }, at) => ({
      id: `mock-${asked.turn}-${at + 1}`,
      name: tool,
      input,
    })),
    (name) => names.find((each) => each === name),
    names,
  );
  const { fixed, state } = agent.prepared;
  const context = { agent: { fixed, state }, tools: agent.tools, made: madeBefore(agent, asked) };
  const calls = await decideCalls(requested, context, checksOf(run));
  return recorded(seconds, { text: '', calls });
}

const recorded = (seconds: number, record: TurnRecord): Answer => ({
  seconds,
  output: record as unknown as Json,
});

/** The number of calls in earlier turns, by tool. */
function madeBefore({ turns }: PlayedAgent, { turn }: Asked): Map<string, number> {
  const made = new Map<string, number>();
  for (const { record } of turns.slice(0, turn - 1)) {
    for (const { tool, refusal } of record.calls) {
      if (refusal === undefined) made.set(tool, (made.get(tool) ?? 0) + 1);
    }
  }
  return made;
}

const checksOf = ({ world }: Playing): CallChecks => ({
  arguments: (schema, args) => Promise.resolve(world.schemas.arguments(schema, args)),
  evaluate: (expression, scope) => {
    try {
      return Promise.resolve({ value: evaluateExpression(expression, scope) });
    } catch (error) {
      if (error instanceof ExpressionError) return Promise.resolve({ problem: error.message });
      throw error;
    }
  },
  redact: (args) => Promise.resolve(args),
});

/** The mock of the agent in the test; undefined if it has none. */
function mockOf(run: Playing, agent: PlayedAgent): ((asked: Asked) => Promise<Said>) | undefined {
  const { agents = {} } = run.world.options.mocks ?? {};
  const key = keyOf(run.name, agent.node.id);
  if (!Object.hasOwn(agents, key)) return undefined;
  const named = `mocks.agents['${key}']`;
  const given: unknown = agents[key];
  const script = scriptIn(given);
  return async (asked) => {
    if (script !== undefined && asked.turn > script.length) {
      const turns = script.length === 1 ? '1 turn' : `${script.length} turns`;
      throw new PlayError(
        `${named} has ${turns}, and the model is asked for turn ${asked.turn}: add one, such as { output: 'Done' }`,
      );
    }
    const mock = (script === undefined ? given : script[asked.turn - 1]) as Mock;
    const args = askedTurnOf(agent, asked) as unknown as JsonObject;
    const answer = await answerOf(run, mock, { args, place: asked.place, named });
    if ('error' in answer) return answer;
    const turn = turnIn(answer.output, named);
    if (!asked.tools && 'calls' in turn) {
      throw new PlayError(
        `${named}: in turn ${asked.turn} the model has no tools, since the agent has used its turns: give { output }`,
      );
    }
    const { tool_choice, model } = agent.node;
    if (tool_choice === 'required' && asked.turn === 1 && 'output' in turn) {
      const error = new NodeError(`${model} answered instead of calling a tool`);
      return { seconds: answer.seconds, error };
    }
    return { seconds: answer.seconds, ...turn };
  };
}

/** A turn as the test gives it. Anything but `{ calls }` and `{ output }` is an answer. */
function turnIn(
  given: Json,
  named: string,
): { calls: { tool: string; arguments: JsonObject }[] } | { output: Json } {
  if (hasOnly(given, 'output')) return { output: given['output'] as Json };
  if (!hasOnly(given, 'calls') || !Array.isArray(given['calls'])) return { output: given };
  return {
    calls: given['calls'].map((call: unknown) => {
      const { tool, arguments: args = {} } = objectOf(call, `${named}: a call`);
      if (typeof tool !== 'string') throw new PlayError(`${named}: a call has no tool`);
      return { tool, arguments: objectOf(args, `${named}: arguments`) };
    }),
  };
}

function askedTurnOf({ prepared, tools, turns }: PlayedAgent, asked: Asked): AskedTurn {
  const { system, prompt } = openingOf({ params: prepared.prompts, state: {} });
  return {
    ...{ system_prompt: system, prompt, turn: asked.turn },
    results: turns.slice(0, asked.turn - 1).flatMap(({ record, results }, at) =>
      record.calls.flatMap(({ index, tool, arguments: args = null }) => {
        const result = results.get(index);
        if (result === undefined) return [];
        const { content, isError: failed } = result;
        return [{ turn: at + 1, tool, arguments: args, result: content, failed }];
      }),
    ),
    tools: asked.tools ? tools.map(({ name }) => name) : [],
  };
}

/** The turn of the model `mock`, from the script of the node. After its last turn, it answers. */
function scripted(run: Playing, { node, prepared }: PlayedAgent, asked: Asked): Said {
  requireMock(run, node);
  const params = { ...prepared.prompts, ...prepared.mock };
  const answer = mockModel(run, node, { params, state: {}, place: asked.place });
  if ('error' in answer) return answer;
  const rendered = isObject(params['mock']) ? params['mock']['turns'] : undefined;
  const turns = (rendered ?? []) as unknown as NonNullable<NonNullable<typeof node.mock>['turns']>;
  const { calls = [], output } = turns[asked.turn - 1] ?? {};
  if (asked.tools && calls.length > 0) return { seconds: answer.seconds, calls };
  return output === undefined ? answer : { seconds: answer.seconds, output };
}
