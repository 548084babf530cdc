/** The mean of differences, and its 95% confidence interval. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** The 97.5% quantiles of Student's t distribution for few degrees of freedom, from 1. */
const FEW: readonly number[] = [12.706, 4.303, 3.182, 2.776, 2.571];
/** The same quantile of the normal distribution. */
const Z = 1.959964;

/**
 * The 95% confidence interval of a mean, by Student's t distribution, for the differences within pairs (candidate minus
 * base). `deviation` is the sample standard deviation. Null for fewer than two pairs, which do not show the spread.
 */
export function intervalOf({
  count,
  mean,
  deviation,
}: {
  count: number;
  mean: number;
  deviation: number;
}): Interval | null {
  if (count < 2) return null;
  const margin = (quantile(count - 1) * deviation) / Math.sqrt(count);
  return { mean, low: mean - margin, high: mean + margin };
}

/** The Cornish-Fisher expansion, which is accurate to three decimals from 6 degrees of freedom on. */
function quantile(freedom: number): number {
  const known = FEW[freedom - 1];
  if (known !== undefined) return known;
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  return Z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}
