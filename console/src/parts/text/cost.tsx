import { VisuallyHidden } from '@mantine/core';
import { costs as text } from '#console/src/messages/en/parts/values.ts';
import { countText, dollarsText } from './numbers.ts';

interface CostProps {
  usd: number;
  /** How many steps it does not contain, because their model has no price. */
  unpriced: number;
}

/** At least what is known. */
export const costText = ({ usd, unpriced }: CostProps): string =>
  unpriced > 0 ? text.atLeast(dollarsText(usd)) : dollarsText(usd);

/** The same, with the number of steps without a price. */
export const wholeCostText = ({ usd, unpriced }: CostProps): string =>
  unpriced > 0
    ? text.withUnpriced(costText({ usd, unpriced }), text.unpriced(unpriced, countText(unpriced)))
    : dollarsText(usd);

/** A cost in a table; a hint says how many steps have no price. */
export function Cost({ usd, unpriced }: CostProps) {
  const hint = unpriced > 0 ? text.unpriced(unpriced, countText(unpriced)) : undefined;
  return (
    <span title={hint}>
      {costText({ usd, unpriced })}
      {hint !== undefined && <VisuallyHidden>, {hint}</VisuallyHidden>}
    </span>
  );
}
