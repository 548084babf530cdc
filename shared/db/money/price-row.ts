import { z } from 'zod';
import { type Price, priceSchema } from '#shared/contract/money/price.ts';

/** A row of `workspace_prices`. */
export const priceRow = z.object({
  ...priceSchema.shape,
  cached_input_usd_per_million: z.number().nullable(),
});

export const toPrice = ({
  cached_input_usd_per_million: cached,
  ...price
}: z.infer<typeof priceRow>): Price => ({
  ...price,
  ...(cached === null ? {} : { cached_input_usd_per_million: cached }),
});
