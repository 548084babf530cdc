import type { Detector, Span } from './span.ts';

/**
 * Issuers' ranges with their lengths. Visa's 13 digits are omitted: they are no longer issued, and look like EAN codes.
 */
const ISSUERS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 17, 18, 19]],
  [/^(?:30[0-5]|309|36|3[89])/, [14]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^(?:62|81)/, [16, 17, 18, 19]],
  [/^(?:5018|5020|5038|5893|6304|6759|676[1-3])/, [16, 17, 18, 19]],
];
/** The groupings of digits on cards, and ungrouped digits. */
const GROUPINGS = /^(?:\d{14,19}|\d{4}-\d{4}-\d{4}-\d{4}(?:-\d{1,3})?|\d{4}-\d{6}-\d{4,5})$/;
const MIN_DIGITS = 14;
const MAX_DIGITS = 19;
const MAX_GROUPS = 5;

/** Finds payment card numbers: a known issuer with its length, the grouping of a card, and a valid check digit. */
export const findCreditCards: Detector = (text) => {
  const spans: Span[] = [];
  // Digits with at most one space or hyphen between two of them. This takes two steps, because repeating a group over
  // megabytes of digits would overflow the stack.
  for (const run of text.matchAll(/\d[\d -]{13,}/g)) {
    let start = run.index;
    for (const piece of run[0].split(/[ -]{2,}/)) {
      const at = text.indexOf(piece, start);
      start = at + piece.length;
      if (piece.length >= MIN_DIGITS) spans.push(...cardsIn(text, { start: at, end: start }));
    }
  }
  return spans;
};

interface Group extends Span {
  digits: string;
}

function cardsIn(text: string, run: Span): Span[] {
  const groups: Group[] = Array.from(
    text.slice(run.start, run.end).matchAll(/\d+/g),
    ({ 0: digits, index }) => ({
      digits,
      start: run.start + index,
      end: run.start + index + digits.length,
    }),
  );
  const spans: Span[] = [];
  for (let first = 0; first < groups.length; first += 1) {
    const { digits, start } = groups[first]!;
    // A card starts with a group of four digits, or is ungrouped.
    if (digits.length !== 4 && digits.length < MIN_DIGITS) continue;
    if (isTiedBefore(text, start)) continue;
    const last = lastOfCard(text, groups, first);
    if (last === undefined) continue;
    spans.push({ start: groups[first]!.start, end: groups[last]!.end });
    first = last;
  }
  return spans;
}

function lastOfCard(text: string, groups: readonly Group[], first: number): number | undefined {
  let digits = '';
  let shape = '';
  const separator = text.charAt(groups[first]!.end);
  for (let at = first; at < groups.length && at < first + MAX_GROUPS; at += 1) {
    const group = groups[at]!;
    if (at > first && text.charAt(group.start - 1) !== separator) return undefined;
    digits += group.digits;
    shape += `${at > first ? '-' : ''}${group.digits}`;
    if (digits.length > MAX_DIGITS) return undefined;
    if (digits.length < MIN_DIGITS || isTiedAfter(text, group.end)) continue;
    if (GROUPINGS.test(shape) && isCard(digits)) return at;
  }
  return undefined;
}

/** Whether a letter, a hyphen or a decimal point makes digits part of something longer. */
const isTiedBefore = (text: string, start: number): boolean =>
  /(?:[\p{L}_]|\d-|\d[.,])$/u.test(text.slice(Math.max(0, start - 2), start));

const isTiedAfter = (text: string, end: number): boolean =>
  /^(?:[\p{L}_]|-\d|[.,]\d)/u.test(text.slice(end, end + 2));

function isCard(digits: string): boolean {
  const issued = ISSUERS.some(
    ([range, lengths]) => lengths.includes(digits.length) && range.test(digits),
  );
  return issued && passesLuhn(digits);
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const digit = Number(digits.charAt(digits.length - 1 - at));
    const weighed = at % 2 === 0 ? digit : digit * 2;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}
