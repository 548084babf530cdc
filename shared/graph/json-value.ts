import { ownValue } from '#shared/values/json-text.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** Never data keys, from any source, because later code might read the prototype instead. */
const HIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of a value's type, for messages. */
export function typeName(value: Json): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

/**
 * A key of an object or an index of a list; undefined when it is missing, and for other types. Only own data properties
 * are read: no getter runs, and no prototype is searched.
 */
export function memberOf(value: Json, key: Json): Json | undefined {
  if (Array.isArray(value)) {
    return typeof key === 'number' && Number.isInteger(key) && key >= 0
      ? own(value, key)
      : undefined;
  }
  return isObject(value) && typeof key === 'string' && !HIDDEN.has(key)
    ? own(value, key)
    : undefined;
}

function own(value: object, key: string | number): Json | undefined {
  const found = ownValue(value, key);
  switch (typeof found) {
    case 'string':
    case 'boolean':
    case 'object':
      return found as Json;
    case 'number':
      return Number.isFinite(found) ? found : undefined;
    default:
      return undefined;
  }
}

/** Whether a condition treats a value as true: null, false, 0 and everything empty are false. */
export function truthy(value: Json): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (isObject(value)) return Object.keys(value).length > 0;
  return Boolean(value);
}

/** The number of values (object members by their keys) and of text characters in a value, counted up to a limit. */
export function weighJson(value: Json, limit: number): { values: number; length: number } {
  const open: Json[] = [value];
  const weight = { values: 0, length: 0 };
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    weight.values += 1;
    if (weight.values + open.length > limit) return { ...weight, values: Infinity };
    if (typeof next === 'string') weight.length += next.length;
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        weight.length += key.length;
        open.push(next[key]!);
      }
    }
  }
  return weight;
}
