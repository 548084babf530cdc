/** The mean of differences, and where it lies with 95% confidence. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

/** The 97.5% quantiles of Student's t distribution for few degrees of freedom, from 1. */
const FEW: readonly number[] = [12.706, 4.303, 3.182, 2.776, 2.571];
/** That of the normal distribution. */
const Z = 1.959964;

/**
 * The 95% confidence interval of a mean, by Student's t distribution: of the difference of each pair, candidate minus
 * base. `deviation` is the standard deviation of the sample. Null for fewer than two pairs, which say nothing about
 * the spread.
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

/** The expansion by Fisher and Cornish, which is exact to three decimals from 6 degrees of freedom on. */
function quantile(freedom: number): number {
  const known = FEW[freedom - 1];
  if (known !== undefined) return known;
  const first = (Z ** 3 + Z) / 4;
  const second = (5 * Z ** 5 + 16 * Z ** 3 + 3 * Z) / 96;
  const third = (3 * Z ** 7 + 19 * Z ** 5 + 17 * Z ** 3 - 15 * Z) / 384;
  return Z + first / freedom + second / freedom ** 2 + third / freedom ** 3;
}
