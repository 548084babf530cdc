import type { Entity } from '#client/index.ts';

/** The known parts of city, region and country; undefined if none is known. */
export function placeText({ city, region, country }: Entity['geography']): string | undefined {
  const known = [city, region, country].filter((part) => typeof part === 'string' && part !== '');
  return known.length === 0 ? undefined : known.join(', ');
}
