import { isObject } from '#shared/graph/json-value.ts';
import type { Json } from '#shared/json.ts';

/** With less room than this, a large element is useless, so the list ends early instead. */
const LEAST_ROOM = 1_000;
/** Objects of the API have fewer keys. An object with more is a payload. */
const MAX_KEYS = 100;
/** The quotes, the comma and an ellipsis with the length. */
const TEXT_OVERHEAD = 40;

/** The length of the value as JSON, in characters. */
export const lengthOf = (value: Json): number => JSON.stringify(value).length;

/**
 * The value in at most about `room` characters of JSON, in the same shape: long texts are truncated, long lists and
 * payloads end early, and small values stay complete. Values that need more than their share get equal shares.
 */
export function shortened(value: Json, room: number): Json {
  if (lengthOf(value) <= room) return value;
  if (typeof value === 'string') return cut(value, room);
  if (Array.isArray(value)) {
    const kept = leading(value, room, (item) => Math.min(lengthOf(item), LEAST_ROOM));
    return share(kept, room).map(([item, part]) => shortened(item, part));
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const kept =
    entries.length > MAX_KEYS
      ? leading(entries, room, ([key]) => lengthOf(key) + TEXT_OVERHEAD)
      : entries;
  const names = kept.reduce((sum, [key]) => sum + lengthOf(key) + 1, 0);
  const parts = share(
    kept.map(([, item]) => item),
    Math.max(0, room - names),
  );
  return Object.fromEntries(
    kept.map(([key], at) => {
      const [item, part] = parts[at]!;
      return [key, shortened(item, part)];
    }),
  );
}

function cut(text: string, room: number): string {
  const kept = Math.max(0, room - TEXT_OVERHEAD);
  // Characters that JSON escapes need more room than their count.
  let head = text.slice(0, kept);
  while (head !== '' && lengthOf(head) > room) head = head.slice(0, Math.floor(head.length / 2));
  return `${head.toWellFormed()}… (${text.length} characters)`;
}

/** The first items: as many as fit when each takes its minimum. */
function leading<T>(items: T[], room: number, least: (item: T) => number): T[] {
  let left = room;
  const end = items.findIndex((item) => {
    left -= least(item) + 1;
    return left < 0;
  });
  return end < 0 ? items : items.slice(0, end);
}

/** Each value with its room: small ones get what they need, the others get equal shares of the rest. */
function share(values: Json[], room: number): [Json, number][] {
  const sizes = values.map((value) => lengthOf(value) + 1);
  let left = room;
  let among = values.length;
  let part = 0;
  for (const size of sizes.toSorted((a, b) => a - b)) {
    part = Math.floor(left / among);
    if (size > part) break;
    left -= size;
    among -= 1;
  }
  return values.map((value, at) => [value, Math.min(sizes[at]!, Math.max(0, part))]);
}
