const MOST = 120;

/** The beginning of a text, cut between two characters: half of one could not be stored. */
export const beginningOf = (text: string, most: number): string =>
  text.slice(0, most).replace(/[\ud800-\udbff]$/, '');

/**
 * The beginning of a JSON object in one line, for people: `order: A-1042, amount: 240`. Only its texts, numbers and
 * booleans. Null if it has none.
 */
export const excerptOf = (json: string): string | null =>
  excerptOfFields(JSON.parse(json) as object);

/** The same of a parsed object. */
export function excerptOfFields(fields: object): string | null {
  const parts: string[] = [];
  let length = 0;
  for (const [name, value] of Object.entries(fields)) {
    if (!['string', 'number', 'boolean'].includes(typeof value)) continue;
    const part = `${name}: ${String(value)}`.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
    parts.push(part.slice(0, MOST + 1));
    length += part.length;
    if (length >= MOST) break;
  }
  if (parts.length === 0) return null;
  const text = parts.join(', ');
  return text.length <= MOST ? text : `${text.slice(0, MOST - 1)}…`;
}
