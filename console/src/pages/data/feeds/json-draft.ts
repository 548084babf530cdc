import type { JsonObject } from '../../../../../client/index.ts';

/** An object as the text to edit; empty for an empty one. */
export const draftOf = (value: JsonObject): string =>
  Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);

/** What was typed as an object, `{}` for nothing; or what is wrong with it. */
export function parseDraft(text: string): { value: JsonObject } | { problem: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as JsonObject };
    }
    return { problem: 'Enter a JSON object.' };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
