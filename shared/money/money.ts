/** Money is counted in whole micro-dollars; dollars exist only at the edges (HTTP, display). */
export const MICROS_PER_DOLLAR = 1_000_000;

/** Dollars to micro-dollars, rounded half away from zero. Throws RangeError for an unsafe amount. */
export function toMicros(dollars: number): number {
  const micros = Math.round(Math.abs(dollars) * MICROS_PER_DOLLAR) * Math.sign(dollars);
  if (!Number.isSafeInteger(micros)) throw new RangeError(`Not an amount of money: ${dollars}`);
  return micros === 0 ? 0 : micros;
}

/** Micro-dollars to dollars with at most six decimals. */
export const toDollars = (micros: number): number => micros / MICROS_PER_DOLLAR;

/** Two decimals, or as many as the amount has: `0.05`, `0.1736`. */
export const usd = (micros: number): string =>
  toDollars(micros)
    .toFixed(6)
    .replace(/0{1,4}$/, '');
