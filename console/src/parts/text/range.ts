import { ranges } from '#console/src/messages/en/parts/values.ts';

/** A lower and an upper bound in a few words; null: there is no upper bound. */
export function rangeText(
  { min, max }: { min: number; max: number | null },
  text: (value: number) => string,
): string {
  if (max === null) return ranges.orMore(text(min));
  return min === max ? text(min) : ranges.between(text(min), text(max));
}
