import type { AgentNode } from '../../shared/contract/graph.ts';
import type { JsonObject } from '../../shared/json.ts';
import { toMicros } from '../../shared/money.ts';
import { costOf, type PriceOverrides, priceOf } from '../../shared/prices.ts';
import { FREE, type StepCost } from '../../shared/spending.ts';

/** Tokens a provider adds to what is sent: roles, separators, instructions for JSON. */
const FRAMING_TOKENS = 1_000;

/**
 * What one attempt at an agent may cost, over its model and its fallbacks. A mock's cost is what its node says. With
 * `max_output_tokens` a provider's is bounded by the price table, since no model makes more tokens of a text than it
 * has bytes. Else it is what the node has cost before, and unknown where that is not known either.
 */
export async function agentCost(
  call: { node: AgentNode; params: JsonObject; state: JsonObject },
  ask: { prices: () => Promise<PriceOverrides>; lastCost: () => Promise<number | null> },
): Promise<StepCost> {
  const { node } = call;
  const models = [node.model, ...(node.fallback_models ?? [])];
  const costs: StepCost[] = [];
  if (models.includes('mock')) {
    const micros = toMicros(node.mock?.cost_usd ?? 0);
    costs.push({ least: micros, most: micros });
  }
  const providers = models.filter((model) => model !== 'mock');
  if (providers.length > 0) {
    const overrides = await ask.prices();
    // Without a price it is not asked at all where a limit applies.
    const prices = providers.flatMap((model) => priceOf(model, overrides) ?? []);
    const { max_output_tokens: output } = node;
    const input = Buffer.byteLength(
      JSON.stringify([call.params, call.state, node.response_schema ?? null]),
    );
    const bounds = prices.map((price) =>
      output === undefined
        ? null
        : costOf(price, { input_tokens: input + FRAMING_TOKENS, output_tokens: output }),
    );
    const before = bounds.includes(null) ? await ask.lastCost() : null;
    costs.push(...bounds.map((bound) => ({ least: 1, most: bound ?? before })));
  }
  return costs.reduce(dearest, costs[0] ?? FREE);
}

const dearest = (one: StepCost, other: StepCost): StepCost => ({
  least: Math.min(one.least, other.least),
  most: one.most === null || other.most === null ? null : Math.max(one.most, other.most),
});
