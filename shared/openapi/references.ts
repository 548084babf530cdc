import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseText, textIn } from './document.ts';
import { UnsupportedError } from './unsupported.ts';

/** A part of a document, and the URL of the document that it is in; empty for an inline one. */
export interface Part {
  value: Json;
  base: string;
}

/** A part that is an object without `$ref`. */
export interface ObjectPart extends Part {
  value: JsonObject;
}

/** A part that a `$ref` leads to. `key` identifies it. */
export interface Target extends Part {
  key: string;
}

export interface References {
  /** The part that a reference leads to. Throws UnsupportedError. */
  target: (ref: string, base: string) => Target;
  /** Follows references until the part is something else. Throws UnsupportedError, also for what is not an object. */
  object: (part: Part, what: string) => ObjectPart;
  /** URLs of documents that were not given. */
  missing: Set<string>;
}

const MAX_STEPS = 50;
const MAX_SHOWN = 200;

/** References within a document, and to other documents by URL. Nothing is loaded, and each is followed when needed. */
export function createReferences(
  root: JsonObject,
  {
    documentUrl = '',
    documents,
  }: { documentUrl?: string; documents?: ReadonlyMap<string, string> },
): References {
  const own = withoutFragment(documentUrl);
  const parsed = new Map<string, Json>([[own, root]]);
  const missing = new Set<string>();
  const documentAt = (url: string, ref: string): Json => {
    const known = parsed.get(url);
    if (known !== undefined) return known;
    const text = documents?.get(url);
    if (text === undefined) {
      missing.add(url);
      throw new UnsupportedError(`it refers to ${shown(ref)}, which was not loaded`);
    }
    const outcome = parseText(text);
    if ('problem' in outcome) {
      throw new UnsupportedError(`it refers to ${shown(ref)}, and ${outcome.problem}`);
    }
    parsed.set(url, outcome.value);
    return outcome.value;
  };
  const target = (ref: string, base: string): Target => {
    const [address, fragment] = splitAtFragment(ref);
    const url = address === '' ? base : absolute(address, base);
    if (url === undefined) {
      throw new UnsupportedError(
        `it refers to ${shown(ref)}, which has no address without the URL of the document`,
      );
    }
    const value = atPointer(documentAt(url, ref), fragment);
    if (value === undefined) {
      throw new UnsupportedError(`it refers to ${shown(ref)}, which is not there`);
    }
    return { value, base: url, key: `${url}#${fragment}` };
  };
  const object = (part: Part, what: string): ObjectPart => {
    let { value, base } = part;
    for (let steps = 0; steps < MAX_STEPS; steps += 1) {
      if (!isObject(value)) throw new UnsupportedError(`${what} is not an object`);
      const ref = textIn(value, '$ref');
      if (ref === undefined) return { value, base };
      ({ value, base } = target(ref, base));
    }
    throw new UnsupportedError(`${what} refers to itself`);
  };
  return { target, object, missing };
}

function splitAtFragment(ref: string): [address: string, fragment: string] {
  const at = ref.indexOf('#');
  return at < 0 ? [ref, ''] : [ref.slice(0, at), ref.slice(at + 1)];
}

const withoutFragment = (url: string): string => splitAtFragment(url)[0];

function absolute(address: string, base: string): string | undefined {
  const url = URL.parse(address, base === '' ? undefined : base);
  return url !== null && /^https?:$/.test(url.protocol) ? withoutFragment(url.href) : undefined;
}

/** The part of a document at a JSON pointer, as a fragment of a URL. */
function atPointer(document: Json, fragment: string): Json | undefined {
  if (fragment === '') return document;
  if (!fragment.startsWith('/')) return undefined;
  let part: Json | undefined = document;
  for (const token of fragment.slice(1).split('/')) {
    if (typeof part !== 'object' || part === null) return undefined;
    const name = decoded(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(part)) part = /^\d+$/.test(name) ? part[Number(name)] : undefined;
    else part = Object.hasOwn(part, name) ? part[name] : undefined;
  }
  return part;
}

function decoded(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    return token;
  }
}

const shown = (ref: string): string =>
  `'${(ref.length > MAX_SHOWN ? `${ref.slice(0, MAX_SHOWN)}…` : ref).toWellFormed()}'`;
