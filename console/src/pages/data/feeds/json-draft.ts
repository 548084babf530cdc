import type { JsonObject } from '#client/index.ts';
import { feedForm as texts } from '#console/src/messages/en/data/feeds.ts';

/** An object as editable text; empty for an empty object. */
export const draftOf = (value: JsonObject): string =>
  Object.keys(value).length === 0 ? '' : JSON.stringify(value, null, 2);

/** Parses the text as an object, with an empty text as `{}`, or returns the problem. */
export function parseDraft(text: string): { value: JsonObject } | { problem: string } {
  if (text.trim() === '') return { value: {} };
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { value: value as JsonObject };
    }
    return { problem: texts.notAnObject };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}
