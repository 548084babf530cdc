import { MICROS_PER_DOLLAR, toMicros } from './money.ts';
import { priceTable } from './prices/price-table.ts';

export { priceTable };

/** US dollars per million tokens. */
export interface ModelPrice {
  inputUsd: number;
  outputUsd: number;
  /** Some models charge the whole request at another rate when its input is longer than this. */
  longContext?: { aboveInputTokens: number; inputUsd: number; outputUsd: number };
}

/** A workspace's own prices by model name; they override the table. */
export type PriceOverrides = Readonly<Record<string, ModelPrice>>;

/** Providers charge a dated snapshot at its model's price unless they list it separately. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** The mock's nodes declare their own cost. */
const MOCK_PRICE: ModelPrice = { inputUsd: 0, outputUsd: 0 };

/** The price of `provider/model`, or undefined without one: then a cost is unknown, which is not zero. */
export function priceOf(model: string, overrides: PriceOverrides = {}): ModelPrice | undefined {
  if (model === 'mock') return MOCK_PRICE;
  for (const name of [model, model.replace(SNAPSHOT, '')]) {
    for (const table of [overrides, priceTable.models]) {
      if (Object.hasOwn(table, name)) return table[name];
    }
  }
  return undefined;
}

/**
 * Cost in micro-dollars, rounded up. Cached input counts at the full rate, since the discount depends on the provider's
 * caching. Token counts are non-negative integers.
 */
export function costOf(
  price: ModelPrice,
  usage: { input_tokens: number; output_tokens: number },
): number {
  const long = price.longContext;
  const rate = long !== undefined && usage.input_tokens > long.aboveInputTokens ? long : price;
  // Integers throughout: as floats, 20 tokens at 0.15 are slightly above 3 and would round up to 4.
  const scaled =
    BigInt(usage.input_tokens) * BigInt(toMicros(rate.inputUsd)) +
    BigInt(usage.output_tokens) * BigInt(toMicros(rate.outputUsd));
  const million = BigInt(MICROS_PER_DOLLAR);
  return Number((scaled + million - 1n) / million);
}
