import type { AgentNode } from '../contract/graph.ts';
import { chargesCacheWrites, costOf, type PriceOverrides, priceOf } from '../prices.ts';

/** Tokens that a provider adds to the prompt: roles, separators, instructions for JSON. */
const FRAMING_TOKENS = 1_000;

/** The output of a turn whose node sets no limit: without a bound, nothing could be reserved for it. */
const TURN_OUTPUT_TOKENS = 4_096;

/** The limit that is sent to providers. Undefined: their own. */
export const outputLimit = (node: AgentNode): number | undefined =>
  node.max_output_tokens ?? (node.tools === undefined ? undefined : TURN_OUTPUT_TOKENS);

/** In dollars. After the last turn of its script, and without one, a mock costs what it costs without tools. */
export function mockTurnCost({ mock }: AgentNode, turn: number): number {
  const scripted = mock?.turns?.[turn - 1];
  return (scripted === undefined ? mock?.cost_usd : scripted.cost_usd) ?? 0;
}

/**
 * The most that one request to a provider can cost, in micro-dollars, with this input in bytes: a text has at most as
 * many tokens as bytes. Undefined for a model without a price, null without a limit of the output.
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
  const input = inputBytes + FRAMING_TOKENS;
  // A turn can store all that it sends.
  const cache_write_tokens = node.tools !== undefined && chargesCacheWrites(model) ? input : 0;
  return costOf(price, { input_tokens: input, output_tokens: output, cache_write_tokens });
}
