import type { JsonObject } from '../../../../client/index.ts';

/** Parses a text as a JSON object. */
export function readObject(text: string): { value: JsonObject } | { mistake: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as JsonObject };
    }
    return { mistake: 'Enter a JSON object, like {"note": "fine"}' };
  } catch (error) {
    return { mistake: `Invalid JSON: ${(error as Error).message}` };
  }
}
