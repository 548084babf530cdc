import type { Json, JsonObject } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { isObject } from './json-value.ts';

/** One location where two values differ. */
export interface JsonDifference {
  /** Like `retry.max_attempts` or `urls[2]`; empty for the whole value. */
  path: string;
  /** Undefined if only the other value has this location. */
  from: Json | undefined;
  to: Json | undefined;
}

/** The deepest level at which differences have separate paths. Deeper ones use the path of this level. */
const MAX_PATH_DEPTH = 20;

/**
 * Where two values differ, with keys in alphabetical order and list items by position. The order of keys does not
 * matter, nor does the notation of numbers. The work stops when the caller takes no further differences.
 */
export const differencesOf = (
  from: Json | undefined,
  to: Json | undefined,
): Generator<JsonDifference, void> => walk(from, to, '', 0);

function* walk(
  from: Json | undefined,
  to: Json | undefined,
  path: string,
  depth: number,
): Generator<JsonDifference, void> {
  if (from !== undefined && to !== undefined && depth < MAX_PATH_DEPTH) {
    if (isObject(from) && isObject(to)) {
      for (const key of keysOf(from, to)) {
        const place = path === '' ? key : `${path}.${key}`;
        yield* walk(ownOf(from, key), ownOf(to, key), place, depth + 1);
      }
      return;
    }
    if (Array.isArray(from) && Array.isArray(to)) {
      for (let at = 0; at < Math.max(from.length, to.length); at += 1) {
        yield* walk(from[at], to[at], `${path}[${at}]`, depth + 1);
      }
      return;
    }
  }
  if (from === undefined || to === undefined || canonicalJson(from) !== canonicalJson(to)) {
    yield { path, from, to };
  }
}

function keysOf(from: JsonObject, to: JsonObject): string[] {
  return [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
}

function ownOf(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}
