import { mockTurnCost, requestBound } from '../../shared/agents/cost-bounds.ts';
import type { Conversation } from '../../shared/agents/conversation.ts';
import type { OfferedTool } from '../../shared/agents/offered-tool.ts';
import type { AgentNode } from '../../shared/contract/graph.ts';
import type { JsonObject } from '../../shared/json.ts';
import { toMicros } from '../../shared/money.ts';
import type { PriceOverrides } from '../../shared/prices.ts';
import { FREE, type StepCost, UNKNOWN_COST } from '../../shared/spending.ts';

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
    const input = inputBytes + bytesOf(node.response_schema ?? null);
    // Models without a price are not called where a limit applies.
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

/** The size of what a turn sends: the conversation before it, and the offered tools. */
export const conversationBytes = (
  conversation: Conversation,
  tools: readonly OfferedTool[],
): number => bytesOf([conversation, tools]);

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

const dearest = (one: StepCost, other: StepCost): StepCost => ({
  least: Math.min(one.least, other.least),
  most: one.most === null || other.most === null ? null : Math.max(one.most, other.most),
  ...(one.estimated === true || other.estimated === true ? { estimated: true } : {}),
});
