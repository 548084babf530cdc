import { locale } from '#console/src/messages/en/locale.ts';

const whole = new Intl.NumberFormat(locale);
const inPercent = new Intl.NumberFormat(locale, {
  style: 'unit',
  unit: 'percent',
  maximumFractionDigits: 1,
});

export const countText = (count: number): string => whole.format(count);

/** Dollars with cents; small amounts have up to six decimals. */
export function dollarsText(dollars: number): string {
  const size = Math.abs(dollars);
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(dollars);
}

/** Percent with at most one decimal. */
export const percentText = (percent: number): string =>
  // Adding 0 turns -0 into 0.
  inPercent.format(Math.round(percent * 10) / 10 + 0);
