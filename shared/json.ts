/** A JSON value, in HTTP, Temporal payloads and jsonb columns. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json;
}

/** The value of a JSON text, for small texts whose numbers do not matter; undefined for any other text. */
export function parsedJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Matches what Postgres rejects in JSON text: NUL, or half of a surrogate pair. */
const UNSTORABLE = /\\u0000|\\ud[89a-f]/i;

/**
 * The value in a form that can be stored and read back: NUL characters and lone surrogates, which Postgres rejects,
 * become U+FFFD. Returns the value itself when it contains none.
 */
export function toStorable(value: Json): Json {
  return UNSTORABLE.test(JSON.stringify(value)) ? replaceUnstorable(value) : value;
}

function replaceUnstorable(value: Json): Json {
  if (typeof value === 'string') return value.replaceAll('\0', '\ufffd').toWellFormed();
  if (Array.isArray(value)) return value.map(replaceUnstorable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      replaceUnstorable(key) as string,
      replaceUnstorable(item),
    ]),
  );
}

/** Whether a value exceeds this nesting depth. It does not descend further, and does not recurse. */
export function isDeeperThan(value: Json, limit: number): boolean {
  let level: Json[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limit) return true;
    const next: Json[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      for (const part of Array.isArray(item) ? item : Object.values(item)) next.push(part);
    }
    level = next;
  }
  return false;
}
