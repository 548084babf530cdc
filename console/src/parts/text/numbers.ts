const whole = new Intl.NumberFormat('en');

export const countText = (count: number): string => whole.format(count);

/** Dollars with cents, or with as many decimals as a small amount needs, six at most. */
export function dollarsText(dollars: number): string {
  const size = Math.abs(dollars);
  const digits = size === 0 || size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  }).format(dollars);
}

/** Percent with one decimal at most. */
export const percentText = (percent: number): string => `${Math.round(percent * 10) / 10}%`;
