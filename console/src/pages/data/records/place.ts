import type { Entity } from '../../../../../client/index.ts';

/** City, region and country, as far as they are known. Undefined when none is. */
export function placeText({ city, region, country }: Entity['geography']): string | undefined {
  const known = [city, region, country].filter((part) => typeof part === 'string' && part !== '');
  return known.length === 0 ? undefined : known.join(', ');
}
