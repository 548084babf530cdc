/** A stretch of a text, from `start` up to but not including `end`, in UTF-16 units. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Finds every stretch of one kind in a text. Takes time linear in its length, whatever the text: it may come from
 * somebody who wants the worker to hang.
 */
export type Detector = (text: string) => Span[];

/** Every match of a global pattern that passes the check, which is given the match. */
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

/** Every match whose last group, which must end the match, passes the check: the spans are those of the groups. */
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

/** Letters and digits of ASCII; what lies beyond is a letter when Unicode calls it one. By code: texts are long. */
export function isWordCode(code: number): boolean {
  if (code > 127) return /[\p{L}\p{N}]/u.test(String.fromCharCode(code));
  return isDigitCode(code) || (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

const isDigitCode = (code: number): boolean => code >= 48 && code <= 57;
