import type { JsonObject } from '#client/index.ts';

/** Parses a text as a JSON object, or returns the problem. */
export function parsedObject(
  text: string,
): { value: JsonObject } | { problem: 'notJson' | 'notObject' } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { problem: 'notObject' };
    }
    return { value: value as JsonObject };
  } catch {
    return { problem: 'notJson' };
  }
}
