import { mockTurnCost, requestBound } from '#shared/agents/cost-bounds.ts';
import { DEFAULT_MAX_TURNS, MAX_CALLS_PER_TURN } from '#shared/agents/loop.ts';
import { presentedAnswer } from '#shared/agents/presented-schema.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { toMicros } from '#shared/money/money.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { workflowOf } from '#shared/tools.ts';
import { agentToolsOf } from '#shared/graph/node-tools.ts';
import { agentAttempts, callAttempts, longestMs, pausesMs } from './attempts.ts';
import { type Bounds, exactly, plus, times, total, upTo } from './bounds.ts';
import { BYTES_PER_TOKEN, earlierBytes, REWRITTEN, type SentWithTools } from './conversations.ts';
import { bytesOf } from './knowledge.ts';
import type { DryRunRequest } from './request.ts';

/**
 * The maximum cost of one execution of an agent, in micro-dollars, and its maximum duration, in ms, without its calls.
 */
export interface AgentBounds {
  cost: Bounds;
  duration: Bounds;
  /** How often it can call each of its tools. */
  calls: ReadonlyMap<string, number>;
  /** The maximum size of its answer in bytes. Null: unknown. */
  bytes: number | null;
}

interface Asked {
  prices: PriceOverrides;
  customTools: DryRunRequest['customTools'];
  /** The maximum number of bytes that are sent; for an agent with tools, in its prompts. Null: unknown. */
  inputBytes: number | null;
  /** What an agent with tools sends in addition. */
  sent: SentWithTools;
  /** The size of its mock's output. */
  mockBytes: number | null;
  /** Whether its texts can be rendered, and no policy refuses it. */
  fits: boolean;
}

/** Without an output, a mock answers with this many characters of its prompt at most. */
const MOCK_ANSWER_BYTES = 1_000;

const modelsOf = (node: AgentNode): string[] => [node.model, ...(node.fallback_models ?? [])];

const onlyMock = (node: AgentNode): boolean => modelsOf(node).every((model) => model === 'mock');

/** Whether an execution is certain to succeed, apart from its calls. Only a mock's result is known in advance. */
export function surelyAnswers(node: AgentNode): boolean {
  const { most, timeoutMs } = agentAttempts(node);
  const { fail_times = 0, delay_ms = 0 } = node.mock ?? {};
  const inTime = fail_times < most && delay_ms + SLACK_MS <= timeoutMs;
  return onlyMock(node) && inTime && !runsOutOfTurns(node) && !mayStop(node);
}

/** Whether a mock's script has more calls than turns. */
function runsOutOfTurns(node: AgentNode): boolean {
  if (node.tools === undefined || node.on_max_turns === 'answer') return false;
  const last = node.mock?.turns?.[turnsOf(node).length - 1];
  return (last?.calls ?? []).length > 0;
}

/** How much longer than its delay a mock may take, in ms. */
const SLACK_MS = 10_000;

/** Whether each execution of a mock fails. */
export const surelyFails = (node: AgentNode): boolean =>
  onlyMock(node) && (node.mock?.fail_times ?? 0) >= agentAttempts(node).most;

export function agentBounds(node: AgentNode, asked: Asked): AgentBounds {
  const turns = turnsOf(node);
  const calls = callsOf(node, turns);
  const sure = asked.fits && surelyAnswers(node);
  const called = [...calls.values()].reduce((all, count) => all + count, 0);
  const costs = turns.map((turn) => attemptCost(node, { turn, called }, asked));
  const most = total(costs.map(({ max }) => upTo(max)));
  const least = sure ? total(costs).min : 0;
  const attempts = agentAttempts(node);
  const asking = times(exactly(turns.length), upTo(longestMs(attempts)));
  const calling = total(
    [...calls]
      // The runs that it starts have their own bounds.
      .filter(([tool]) => workflowOf(tool) === undefined)
      .map(([tool, count]) => upTo(count * longestMs(callAttempts(tool, asked.customTools)))),
  );
  return {
    cost: { min: least, max: most.max },
    duration: { min: sure ? leastMs(node) : 0, max: plus(asking, calling).max },
    calls,
    bytes: answerBytes(node, asked),
  };
}

/** The turns that it can have. An agent without tools has one. */
function turnsOf(node: AgentNode): number[] {
  if (node.tools === undefined) return [1];
  const { max_turns: most = DEFAULT_MAX_TURNS, on_max_turns } = node;
  const all = most + (on_max_turns === 'answer' ? 1 : 0);
  let count = all;
  if (onlyMock(node)) {
    const answer = (node.mock?.turns ?? []).findIndex(({ calls = [] }) => calls.length === 0);
    const scripted = answer === -1 ? (node.mock?.turns ?? []).length : answer;
    count = Math.min(all, scripted + 1);
  }
  return Array.from({ length: count }, (_, at) => at + 1);
}

/** Whether anything but its turns can end it: a call whose failure fails the agent. */
const mayStop = (node: AgentNode): boolean =>
  agentToolsOf(node).some(({ on_error }) => on_error === 'fail');

/** The cost of all attempts at a turn. A failing mock costs nothing, and its success is the last attempt. */
function attemptCost(
  node: AgentNode,
  { turn, called }: { turn: number; called: number },
  asked: Asked,
): Bounds {
  const models = modelsOf(node);
  const usd = node.tools === undefined ? (node.mock?.cost_usd ?? 0) : mockTurnCost(node, turn);
  const mock = models.includes('mock') ? toMicros(usd) : 0;
  const providers = models.filter((model) => model !== 'mock');
  if (providers.length === 0) return exactly(mock);
  const inputBytes = turnBytes(node, turn, called, asked);
  if (inputBytes === null) return upTo(null);
  const input =
    inputBytes + bytesOf(node.response_schema ? presentedAnswer(node.response_schema) : null);
  const bounds = providers.map((model) => requestBound(node, model, asked.prices, input) ?? null);
  if (bounds.includes(null)) return upTo(null);
  const request = Math.max(...(bounds as number[]));
  const { most } = agentAttempts(node);
  return plus(times(exactly(most - 1), upTo(request)), upTo(Math.max(request, mock)));
}

/** The maximum size of a request in bytes. Turns send the tools, and what was written and returned before. */
function turnBytes(
  node: AgentNode,
  turn: number,
  called: number,
  { inputBytes, sent }: Asked,
): number | null {
  if (node.tools === undefined || inputBytes === null) return inputBytes;
  const earlier = earlierBytes(node, turn, called, sent);
  if (earlier === null || sent.tools === null) return null;
  // In a conversation, the prompts are JSON.
  return REWRITTEN * inputBytes + sent.tools + earlier;
}

function callsOf(node: AgentNode, turns: readonly number[]): Map<string, number> {
  const scripted = node.mock?.turns ?? [];
  return new Map(
    agentToolsOf(node).map(({ name, max_calls: most = Infinity }) => {
      const asked = onlyMock(node)
        ? turns.reduce((all, turn) => {
            const calls = scripted[turn - 1]?.calls ?? [];
            return all + calls.filter(({ tool }) => tool === name).length;
          }, 0)
        : turns.length * MAX_CALLS_PER_TURN;
      return [name, Math.min(most, asked)];
    }),
  );
}

/** The delays of a mock that answers, including those of attempts that fail first. */
function leastMs({ mock, retry }: AgentNode): number {
  const { delay_ms = 0, fail_times = 0 } = mock ?? {};
  // A timer may end a little early.
  return Math.floor(0.95 * ((fail_times + 1) * delay_ms + pausesMs(retry, fail_times + 1)));
}

function answerBytes(node: AgentNode, { mockBytes }: Asked): number | null {
  const models = modelsOf(node);
  const sizes: (number | null)[] = [];
  if (models.includes('mock')) {
    const turns = (node.mock?.turns ?? []).some(({ output }) => output !== undefined);
    const own = node.mock?.output === undefined ? exampleBytes(node) : mockBytes;
    sizes.push(turns ? null : own);
  }
  if (models.some((model) => model !== 'mock')) {
    const { max_output_tokens: tokens, response_schema: schema } = node;
    const factor = schema === undefined ? 1 : REWRITTEN;
    sizes.push(tokens === undefined ? null : tokens * BYTES_PER_TOKEN * factor);
  }
  return sizes.includes(null) ? null : Math.max(0, ...(sizes as number[]));
}

/** Without an output, a mock returns an example of the schema. */
const exampleBytes = (node: AgentNode): number | null =>
  node.response_schema === undefined ? MOCK_ANSWER_BYTES : null;
