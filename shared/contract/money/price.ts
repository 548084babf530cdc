import { z } from 'zod';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { dollarsOrZero } from '#shared/contract/common.ts';

const perMillion = dollarsOrZero(10_000_000);

/** The workspace's price of a model that overrides the built-in table. */
export const priceSchema = z
  .strictObject({
    model: z.string().min(1).max(200).meta({ description: '`provider/model`' }),
    input_usd_per_million: perMillion,
    output_usd_per_million: perMillion,
    cached_input_usd_per_million: perMillion.optional().meta({
      description:
        'Of input that the provider reads from its cache; by default that of other input',
    }),
  })
  .meta({ id: 'Price' });

export const priceListInput = z.strictObject({
  prices: z
    .array(priceSchema)
    .max(500)
    .refine(
      (prices) => new Set(prices.map((price) => price.model)).size === prices.length,
      'names a model twice',
    ),
});

export const priceListSchema = priceListInput.meta({ id: 'PriceList' });

export type Price = z.infer<typeof priceSchema>;

/** A workspace's prices in the form of the price table. */
export const overridesOf = (prices: readonly Price[]): PriceOverrides =>
  Object.fromEntries(
    prices.map((price) => [
      price.model,
      {
        inputUsd: price.input_usd_per_million,
        outputUsd: price.output_usd_per_million,
        ...(price.cached_input_usd_per_million === undefined
          ? {}
          : { cachedInputUsd: price.cached_input_usd_per_million }),
      },
    ]),
  );
