import type { LanguageModelUsage } from 'ai';
import { mockTurnCost, requestBound, unreportedCost } from '#shared/agents/cost-bounds.ts';
import type { Conversation } from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { presentedAnswer, presentedSchema } from '#shared/agents/presented-schema.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { JsonObject } from '#shared/json.ts';
import { toMicros } from '#shared/money/money.ts';
import type { Consumption, Usage } from '#shared/node-error.ts';
import {
  chargesCacheWrites,
  costOf,
  type PriceOverrides,
  priceOf,
  rateOf,
} from '#shared/money/prices.ts';
import { FREE, type StepCost, UNKNOWN_COST } from '#shared/money/spending.ts';
import type { ModelReply } from './model-request.ts';
import type { ModelCall } from './model-turn.ts';

interface CostSources {
  prices: PriceOverrides;
  lastCost: () => Promise<number | null>;
}

/**
 * The possible cost of one attempt at an agent, over its model and its fallbacks. A mock's cost is in its node. With an
 * output limit, the price table limits a provider's cost, since a text has at most as many tokens as bytes. Otherwise
 * it is the node's last cost, or unknown if there is none.
 */
export const agentCost = (
  { node, params, state }: { node: AgentNode; params: JsonObject; state: JsonObject },
  ask: CostSources,
): Promise<StepCost> =>
  costOverModels(
    node,
    { mockUsd: node.mock?.cost_usd ?? 0, inputBytes: requestBytes({ params, state }) },
    ask,
  );

/** The possible cost of one attempt at a turn after a conversation of this size. */
export const turnCost = (
  { node, turn, inputBytes }: { node: AgentNode; turn: number; inputBytes: number },
  ask: CostSources,
): Promise<StepCost> =>
  costOverModels(node, { mockUsd: mockTurnCost(node, turn), inputBytes }, ask);

async function costOverModels(
  node: AgentNode,
  { mockUsd, inputBytes }: { mockUsd: number; inputBytes: number },
  ask: CostSources,
): Promise<StepCost> {
  const models = [node.model, ...(node.fallback_models ?? [])];
  const costs: StepCost[] = [];
  if (models.includes('mock')) {
    const micros = toMicros(mockUsd);
    costs.push({ least: micros, most: micros });
  }
  const providers = models.filter((model) => model !== 'mock');
  if (providers.length > 0) {
    const input = sentBytes(node, inputBytes);
    // Models without a price are not called if a limit applies.
    const bounds = providers
      .map((model) => requestBound(node, model, ask.prices, input))
      .filter((bound) => bound !== undefined);
    const before = bounds.includes(null) ? await ask.lastCost() : null;
    costs.push(
      ...bounds.map((bound) => (bound === null ? costBefore(before) : { least: 1, most: bound })),
    );
  }
  return costs.reduce(dearest, costs[0] ?? FREE);
}

const costBefore = (most: number | null): StepCost =>
  most === null ? UNKNOWN_COST : { least: 1, most, estimated: true };

/** The size of what an agent without tools sends. */
const requestBytes = ({ params, state }: { params: JsonObject; state: JsonObject }): number =>
  bytesOf([params, state]);

/** The size of what a turn sends: the earlier conversation, the offered tools, and, in the first turn, the prompts. */
export function turnBytes(
  { mock: _script, ...prompts }: JsonObject,
  { earlier, tools }: { earlier: Conversation; tools: readonly OfferedTool[] },
): number {
  const sent = tools.map((tool) => ({ ...tool, schema: presentedSchema(tool.schema) }));
  return bytesOf([earlier, sent]) + bytesOf(prompts);
}

const sentBytes = (node: AgentNode, inputBytes: number): number =>
  inputBytes + bytesOf(node.response_schema ? presentedAnswer(node.response_schema) : null);

/**
 * The cost of a response, in micro-dollars. `inputBytes` is the size of a turn, see `turnBytes`; by default, that of an
 * agent without tools.
 */
export function consumptionOf(
  { node, params, state, prices }: Pick<ModelCall, 'node' | 'params' | 'state' | 'prices'>,
  model: string,
  { usage: reported, parts }: Pick<ModelReply, 'usage' | 'parts'>,
  inputBytes = requestBytes({ params, state }),
): Consumption {
  const counted = tokensOf(model, reported);
  if (counted === undefined) {
    const sizes = { inputBytes: sentBytes(node, inputBytes), answerBytes: bytesOf(parts) };
    const most = unreportedCost(node, model, prices, sizes);
    return most === undefined
      ? { model, costMicros: 0, unpriced: true }
      : { model, costMicros: most, estimated: true };
  }
  const price = priceOf(model, prices);
  if (price === undefined) return { model, usage: counted, costMicros: 0, unpriced: true };
  const { inputUsd, outputUsd, cachedInputUsd: cached } = rateOf(price, counted);
  const usage = {
    ...counted,
    price: {
      input_usd_per_million: inputUsd,
      output_usd_per_million: outputUsd,
      ...(cached === undefined || counted.cached_tokens === undefined
        ? {}
        : { cached_input_usd_per_million: cached }),
    },
  };
  return { model, usage, costMicros: costOf(price, counted) };
}

/** Undefined when the provider did not report them. */
function tokensOf(model: string, usage: LanguageModelUsage): Usage | undefined {
  const input = tokenCount(usage.inputTokens);
  const output = tokenCount(usage.outputTokens);
  if (input === undefined || output === undefined) return undefined;
  const cached = tokenCount(usage.inputTokenDetails.cacheReadTokens) ?? 0;
  const written = chargesCacheWrites(model)
    ? (tokenCount(usage.inputTokenDetails.cacheWriteTokens) ?? 0)
    : 0;
  return {
    input_tokens: input,
    output_tokens: output,
    // A part that exceeds the whole is ignored.
    ...(cached > 0 && cached <= input ? { cached_tokens: cached } : {}),
    ...(written > 0 && written <= input ? { cache_write_tokens: written } : {}),
  };
}

const tokenCount = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const dearest = (one: StepCost, other: StepCost): StepCost => ({
  least: Math.min(one.least, other.least),
  most: one.most === null || other.most === null ? null : Math.max(one.most, other.most),
  ...(one.estimated === true || other.estimated === true ? { estimated: true } : {}),
});
