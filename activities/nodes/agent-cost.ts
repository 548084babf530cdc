import type { Conversation } from '../../shared/agents/conversation.ts';
import type { OfferedTool } from '../../shared/agents/offered-tool.ts';
import type { AgentNode } from '../../shared/contract/graph.ts';
import type { JsonObject } from '../../shared/json.ts';
import { toMicros } from '../../shared/money.ts';
import { chargesCacheWrites, costOf, type PriceOverrides, priceOf } from '../../shared/prices.ts';
import { FREE, type StepCost } from '../../shared/spending.ts';

/** Tokens that a provider adds to the prompt: roles, separators, instructions for JSON. */
const FRAMING_TOKENS = 1_000;

/** The output of a turn whose node sets no limit: without a bound, nothing could be reserved for it. */
const TURN_OUTPUT_TOKENS = 4_096;

/** The limit that is sent to providers. Undefined: their own. */
export const outputLimit = (node: AgentNode): number | undefined =>
  node.max_output_tokens ?? (node.tools === undefined ? undefined : TURN_OUTPUT_TOKENS);

interface CostSources {
  prices: PriceOverrides;
  lastCost: () => Promise<number | null>;
}

/**
 * The possible cost of one attempt at an agent, over its model and its fallbacks. A mock's cost is in its node. With an
 * output limit, the price table bounds a provider's cost, since a text has at most as many tokens as bytes. Otherwise
 * it is the node's last cost, and unknown without one.
 */
export const agentCost = (
  { node, params, state }: { node: AgentNode; params: JsonObject; state: JsonObject },
  ask: CostSources,
): Promise<StepCost> =>
  costOverModels(
    node,
    { mockUsd: node.mock?.cost_usd ?? 0, inputBytes: bytesOf([params, state]) },
    ask,
  );

/** The possible cost of one attempt at a turn, before which the conversation has this size. */
export const turnCost = (
  { node, turn, inputBytes }: { node: AgentNode; turn: number; inputBytes: number },
  ask: CostSources,
): Promise<StepCost> =>
  costOverModels(node, { mockUsd: mockTurnCost(node, turn), inputBytes }, ask);

/** In dollars. After the last turn of its script, and without one, a mock costs what it costs without tools. */
export function mockTurnCost({ mock }: AgentNode, turn: number): number {
  const scripted = mock?.turns?.[turn - 1];
  return (scripted === undefined ? mock?.cost_usd : scripted.cost_usd) ?? 0;
}

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
    // Models without a price are not called where a limit applies.
    const output = outputLimit(node);
    const input = inputBytes + bytesOf(node.response_schema ?? null) + FRAMING_TOKENS;
    const bounds = providers.flatMap((model): (number | null)[] => {
      const price = priceOf(model, ask.prices);
      if (price === undefined) return [];
      if (output === undefined) return [null];
      // A turn can store all that it sends.
      const cache_write_tokens = node.tools !== undefined && chargesCacheWrites(model) ? input : 0;
      return [costOf(price, { input_tokens: input, output_tokens: output, cache_write_tokens })];
    });
    const before = bounds.includes(null) ? await ask.lastCost() : null;
    costs.push(...bounds.map((bound) => ({ least: 1, most: bound ?? before })));
  }
  return costs.reduce(dearest, costs[0] ?? FREE);
}

/** The size of what a turn sends: the conversation before it, and the offered tools. */
export const conversationBytes = (
  conversation: Conversation,
  tools: readonly OfferedTool[],
): number => bytesOf([conversation, tools]);

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const dearest = (one: StepCost, other: StepCost): StepCost => ({
  least: Math.min(one.least, other.least),
  most: one.most === null || other.most === null ? null : Math.max(one.most, other.most),
});
