/** A range of a text, from `start` up to but not including `end`, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Finds all ranges of one kind in a text, in linear time for any text, because the text may be crafted to block the
 * worker.
 */
export type Detector = (text: string) => Span[];

/** All matches of a global pattern that pass the check. */
export function matchesOf(
  text: string,
  pattern: RegExp,
  check: (match: string) => boolean = () => true,
): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    if (check(match[0])) spans.push({ start: match.index, end: match.index + match[0].length });
  }
  return spans;
}

/** The last group of all matches in which it passes the check. The group must end the match. */
export function valuesOf(text: string, pattern: RegExp, check: (value: string) => boolean): Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(pattern)) {
    const value = match.at(-1) ?? '';
    const end = match.index + match[0].length;
    if (check(value)) spans.push({ start: end - value.length, end });
  }
  return spans;
}

export const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** Whether a UTF-16 unit is a letter or digit, in ASCII or Unicode. It compares codes, because texts are long. */
export function isWordCode(code: number): boolean {
  if (code > 127) return /[\p{L}\p{N}]/u.test(String.fromCharCode(code));
  return isDigitCode(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;
