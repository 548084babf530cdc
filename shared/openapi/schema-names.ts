import { isObject } from '#shared/graph/json-value.ts';
import { textHash } from '#shared/values/text-hash.ts';
import { textIn } from './document.ts';
import type { Part, References, Target } from './references.ts';
import { UnsupportedError } from './unsupported.ts';

/** The names of definitions, by what references lead to. */
export interface SchemaNames {
  /** The name for a reference. Throws UnsupportedError for one that leads nowhere. */
  define: (ref: string, base: string) => string;
  /** The part of a document that has a name. */
  place: (name: string) => Part;
}

const MAX_CHAIN = 50;
const MAX_SLUG = 40;
const PLAIN_NAME = /^[A-Za-z0-9_.-]{1,60}$/;
const NAMED = /#\/(?:components\/schemas|definitions)\/[^/]+$/;

/** A name depends on the reference alone, so that it is the same in each import: `Pet`, or `0-1f3c5a77` elsewhere. */
export function createSchemaNames(references: References, rootBase: string): SchemaNames {
  const places = new Map<string, Part>();
  const names = new Map<string, string>();
  const nameOf = ({ key, base }: Target): string => {
    const last = key.slice(key.lastIndexOf('/') + 1);
    if (NAMED.test(key) && base === rootBase && PLAIN_NAME.test(last)) return last;
    return `${last.replaceAll(/[^A-Za-z0-9_.-]+/g, '_').slice(0, MAX_SLUG)}-${textHash(key)}`;
  };
  return {
    define: (ref, base) => {
      const target = endOf(references, references.target(ref, base));
      const known = names.get(target.key);
      if (known !== undefined) return known;
      let name = nameOf(target);
      while (places.has(name)) name = `${name}_`;
      names.set(target.key, name);
      places.set(name, target);
      return name;
    },
    place: (name) => {
      const place = places.get(name);
      if (place === undefined) throw new Error(`No definition ${name}`);
      return place;
    },
  };
}

/** Follows references that say nothing else. */
function endOf(references: References, first: Target): Target {
  let target = first;
  for (let steps = 0; steps < MAX_CHAIN; steps += 1) {
    const { value, base } = target;
    if (!isObject(value) || Object.keys(value).length > 1) return target;
    const ref = textIn(value, '$ref');
    if (ref === undefined) return target;
    target = references.target(ref, base);
  }
  throw new UnsupportedError('a schema of it refers only to itself');
}
