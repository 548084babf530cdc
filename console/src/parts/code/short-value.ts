import { shortValues as texts } from '#console/src/messages/en/parts/code.ts';
import { countText } from '#console/src/parts/text/numbers.ts';

const SHOWN_CHARACTERS = 40;

/**
 * The type of a value and its beginning, in a few words: `text "Ada"`, `list of 3`. Never reads a large value
 * completely.
 */
export function shortValue(value: unknown): string {
  if (value === undefined) return texts.none;
  if (value === null) return 'null';
  if (typeof value === 'string') return texts.text(quoted(value));
  if (Array.isArray(value)) return texts.list(countText(value.length));
  if (typeof value === 'number') return texts.number(String(value));
  if (typeof value === 'boolean') return texts.boolean(String(value));
  if (typeof value !== 'object') return typeof value;
  const keys = Object.keys(value);
  if (keys.length === 0) return texts.emptyObject;
  const shown = cut(keys.slice(0, 4).join(', '));
  return keys.length > 4 ? texts.objectOfMore(shown) : texts.object(shown);
}

const quoted = (text: string): string => JSON.stringify(cut(text));

const cut = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
