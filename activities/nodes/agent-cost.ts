import type { AgentNode } from '../../shared/contract/graph.ts';
import type { JsonObject } from '../../shared/json.ts';
import { toMicros } from '../../shared/money.ts';
import { costOf, type PriceOverrides, priceOf } from '../../shared/prices.ts';
import { FREE, type StepCost } from '../../shared/spending.ts';

/** Tokens that a provider adds to the prompt: roles, separators, instructions for JSON. */
const FRAMING_TOKENS = 1_000;

/**
 * The possible cost of one attempt at an agent, over its model and its fallbacks. A mock's cost is in its node. With
 * `max_output_tokens`, the price table bounds a provider's cost, since a text has at most as many tokens as bytes.
 * Otherwise it is the node's last cost, and unknown without one.
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
    // Models without a price are not called where a limit applies.
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
