import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { chargesCacheWrites, costOf, type PriceOverrides, priceOf } from '#shared/money/prices.ts';
import type { ModelPrice } from '#shared/money/model-price.ts';

/** Tokens that a provider adds to the prompt: roles, separators, instructions for JSON. */
const FRAMING_TOKENS = 1_000;

/** The output limit of a turn whose node sets none. Without a limit, nothing could be reserved for the turn. */
const TURN_OUTPUT_TOKENS = 4_096;

/** The output limit that is sent to providers. Undefined: the provider's own limit applies. */
export const outputLimit = (node: AgentNode): number | undefined =>
  node.max_output_tokens ?? (node.tools === undefined ? undefined : TURN_OUTPUT_TOKENS);

/** In dollars. Without scripted turns, and after the last of them, a mock costs the same as without tools. */
export function mockTurnCost({ mock }: AgentNode, turn: number): number {
  const scripted = mock?.turns?.[turn - 1];
  return (scripted === undefined ? mock?.cost_usd : scripted.cost_usd) ?? 0;
}

/**
 * The most that one request to a provider can cost, in micro-dollars. `input` is in bytes: a text has at most as many
 * tokens as bytes. Undefined for a model without a price, null without an output limit.
 */
export function requestBound(
  node: AgentNode,
  model: string,
  prices: PriceOverrides,
  inputBytes: number,
): number | null | undefined {
  const price = priceOf(model, prices);
  if (price === undefined) return undefined;
  const output = outputLimit(node);
  if (output === undefined) return null;
  return costAtMost(node, model, price, { inputBytes, output });
}

/**
 * The cost to record, in micro-dollars, for a request whose response does not report its tokens: its upper bound.
 * Without an output limit, the response has at most as many tokens as bytes. Undefined for a model without a price.
 */
export function unreportedCost(
  node: AgentNode,
  model: string,
  prices: PriceOverrides | undefined,
  sizes: { inputBytes: number; answerBytes: number },
): number | undefined {
  const price = priceOf(model, prices);
  if (price === undefined) return undefined;
  const output = outputLimit(node) ?? sizes.answerBytes;
  return costAtMost(node, model, price, { inputBytes: sizes.inputBytes, output });
}

function costAtMost(
  node: AgentNode,
  model: string,
  price: ModelPrice,
  { inputBytes, output }: { inputBytes: number; output: number },
): number {
  const input_tokens = inputBytes + FRAMING_TOKENS;
  // At most, a turn stores everything that it sends in the provider's cache.
  const stored = node.tools !== undefined && chargesCacheWrites(model);
  const usage = { input_tokens, output_tokens: output };
  return Math.max(
    costOf(price, { ...usage, cache_write_tokens: stored ? input_tokens : 0 }),
    // A workspace can set a higher price for cached input.
    costOf(price, { ...usage, cached_tokens: input_tokens }),
  );
}
