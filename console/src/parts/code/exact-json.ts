/** Characters that a reader cannot see, or that change the order of others: format, line and paragraph separators. */
const UNSEEN = /[\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * JSON text of a value in which nothing is hidden: such characters are escapes, so the text shows what it contains and
 * still parses to the same value.
 */
export const exactJson = (value: unknown): string => exactText(JSON.stringify(value, null, 2));

/** A text with such characters as escapes. */
export const exactText = (text: string): string =>
  text.replace(UNSEEN, (character) =>
    Array.from({ length: character.length }, (_, at) => escapeOf(character.charCodeAt(at))).join(
      '',
    ),
  );

const escapeOf = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;
