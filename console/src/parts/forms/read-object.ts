import type { JsonObject } from '#client/index.ts';
import { jsonMistakes } from '#console/src/messages/en/parts/fields.ts';

/** Parses a text as a JSON object. */
export function readObject(text: string): { value: JsonObject } | { mistake: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as JsonObject };
    }
    return { mistake: jsonMistakes.noObjectLike };
  } catch (error) {
    return { mistake: jsonMistakes.invalid((error as Error).message) };
  }
}
