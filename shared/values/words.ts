/** The words of texts to search, and of search queries. */

/** The maximum length of a word in characters. Longer words are split. */
const LONGEST = 40;
/** Scripts without spaces between words: each character is a word. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}`;
const WORD = new RegExp(`[${UNSPACED}]|[[\\p{L}\\p{M}\\p{N}]--[${UNSPACED}]]{1,${LONGEST}}`, 'gv');
/** A number after letters, such as ORD1234: people search for both the whole word and the number. */
const NUMBERED = /^\p{L}+(\p{N}{2,})$/u;
const ESCAPED = /\\(?:u([0-9a-f]{4})|(.))/gi;

/** The words of a text in order, in lower case and with normalized characters. */
export const wordsIn = (text: string): string[] =>
  text.normalize('NFKC').toLowerCase().match(WORD) ?? [];

/** The distinct words of a text to store, at most `most`. */
export function searchableWords(text: string, most: number): string[] {
  const words = new Set<string>();
  for (const word of wordsIn(text)) {
    if (words.size >= most) break;
    words.add(word);
    const number = NUMBERED.exec(word)?.[1];
    if (number !== undefined) words.add(number);
  }
  return [...words];
}

/** The beginning of a JSON text as readable text, with its escapes resolved. The JSON need not be complete. */
export const readableJson = (json: string): string =>
  json.replace(ESCAPED, (_all, code: string | undefined, character: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
    return character === '"' || character === '\\' || character === '/' ? character : ' ';
  });
