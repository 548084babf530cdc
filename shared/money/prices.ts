import type { ModelPrice, Rate } from './model-price.ts';
import { MICROS_PER_DOLLAR, toMicros } from './money.ts';
import { priceTable } from './price-table.ts';

export { priceTable };

/** A workspace's own prices by model name; they override the table. */
export type PriceOverrides = Readonly<Record<string, ModelPrice>>;

/** Providers charge a dated snapshot at its model's price unless they list it separately. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8})$/;

/** The mock's nodes declare their own cost. */
const MOCK_PRICE: ModelPrice = { inputUsd: 0, outputUsd: 0 };

/** The price of `provider/model`; undefined if there is none: then the cost is unknown, which is not zero. */
export function priceOf(model: string, overrides: PriceOverrides = {}): ModelPrice | undefined {
  if (model === 'mock') return MOCK_PRICE;
  for (const name of [model, model.replace(SNAPSHOT, '')]) {
    for (const table of [overrides, priceTable.models]) {
      if (Object.hasOwn(table, name)) return table[name];
    }
  }
  return undefined;
}

interface Tokens {
  input_tokens: number;
  output_tokens: number;
  /** The cached part of `input_tokens`. */
  cached_tokens?: number;
  /** The part of `input_tokens` that the provider stored in its cache at a surcharge. Not part of the cached tokens. */
  cache_write_tokens?: number;
}

/** Anthropic charges 25% more for input that it stores for five minutes. */
const SURCHARGE_DIVISOR = 4n;

/** Whether the provider charges for input that it stores in its cache. */
export const chargesCacheWrites = (model: string): boolean => model.startsWith('anthropic/');

/** What these tokens are charged at. */
export function rateOf(price: ModelPrice, { input_tokens }: Pick<Tokens, 'input_tokens'>): Rate {
  const { longContext: long, ...rate } = price;
  return long !== undefined && input_tokens > long.aboveInputTokens ? long : rate;
}

/** The cost in micro-dollars, rounded up. Token counts are non-negative integers. */
export function costOf(price: ModelPrice, usage: Tokens): number {
  const rate = rateOf(price, usage);
  const cached = Math.min(usage.cached_tokens ?? 0, usage.input_tokens);
  const written = Math.min(usage.cache_write_tokens ?? 0, usage.input_tokens - cached);
  const input = BigInt(toMicros(rate.inputUsd));
  // Integers throughout: as floats, 20 tokens at 0.15 would be slightly above 3 and round up to 4.
  const surcharge = (BigInt(written) * input + SURCHARGE_DIVISOR - 1n) / SURCHARGE_DIVISOR;
  const scaled =
    BigInt(usage.input_tokens - cached) * input +
    surcharge +
    BigInt(cached) * BigInt(toMicros(rate.cachedInputUsd ?? rate.inputUsd)) +
    BigInt(usage.output_tokens) * BigInt(toMicros(rate.outputUsd));
  const million = BigInt(MICROS_PER_DOLLAR);
  return Number((scaled + million - 1n) / million);
}
