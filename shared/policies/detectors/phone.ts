import { type Detector, digitsOf, matchesOf, type Span, valuesOf } from './span.ts';

/** Assigned country codes. Those with three digits are matched by their first two. */
const COUNTRY =
  /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|(?:2[1-6]|29|35|37|38|42|50|59|67|68|69|80|85|87|88|96|97|99)\d)/;
// A `+`, or `00` with a separator somewhere; digits with single separators; parentheses around an area code.
const INTERNATIONAL =
  /(?<![\p{L}\d_+])(?:\+ ?|00)\(?[1-9](?:[ .\-/\u00a0]?(?:\(\d{1,5}\)|\d)){6,18}/gu;
// Area and exchange of North America, e.g. (415) 555-2671, 1-415-555-2671, 415.555.2671.
const NORTH_AMERICAN =
  /(?<![\p{L}\d_+]|\d[.\- ]|[.,#/-])(?:1[-. ])?(?:\([2-9]\d{2}\)[ -]?\d{3}[-. ]|[2-9]\d{2}([-. ])\d{3}\1)\d{4}(?![\p{L}\d_]|[-./]\d)/gu;
// National numbers elsewhere: a trunk 0 and an area code, e.g. 020 7946 0958, 0171/1234567.
const NATIONAL =
  /(?<![\p{L}\d_+.,:#/-]|\d )0[1-9]\d{0,3}[ /]\d{2,8}(?: \d{2,8}){0,4}(?![\p{L}\d_]|[-.:/]\d)/gu;
/** Plain digits only count after one of these words. */
const NAMED =
  /\b(?:tel|telephone|phone|telefon|t[eé]l[eé]phone|mobile|mobil|cell|cellphone|handy|fax|whatsapp|sms|call (?:me|us))(?: ?(?:no|nr|number|nummer))?\b["']?\.? ?[:=#]? ?(?:is |at |on |under )?["']?(\+?\(?\d(?:[ .\-/()]{0,2}\d){5,14})(?!\d)/giu;

/** Finds phone numbers by their format or a word before them. Digits alone do not count. */
export const findPhones: Detector = (text) => [
  ...internationalIn(text),
  ...matchesOf(text, NORTH_AMERICAN),
  ...matchesOf(text, NATIONAL, (match) => between(digitsOf(match).length, 9, 12)),
  ...valuesOf(text, NAMED, (value) => between(digitsOf(value).length, 7, 15) && !isDate(value)),
];

function internationalIn(text: string): Span[] {
  const spans: Span[] = [];
  for (const { 0: match, index } of text.matchAll(INTERNATIONAL)) {
    const length = numberLength(match);
    if (length > 0) spans.push({ start: index, end: index + length });
  }
  return spans;
}

/** The length of the number in the match, which may end with other groups. 0 if there is none. */
function numberLength(match: string): number {
  if (match.startsWith('00') && !/[^\d]/.test(match)) return 0;
  const ends = Array.from(match.matchAll(/\d(?!\d)\)?/g), (end) => end.index + end[0].length);
  return ends.findLast((end) => isNumber(match.slice(0, end))) ?? 0;
}

function isNumber(text: string): boolean {
  const digits = digitsOf(text).replace(/^00/, '');
  if (!COUNTRY.test(digits)) return false;
  // North America: ten digits, or a short fictitious number, because those are common in sample texts.
  if (digits.startsWith('1')) return /^1(?:[2-9]\d{9}|555\d{4})$/.test(digits);
  return between(digits.length, 8, 15);
}

const between = (value: number, least: number, most: number): boolean =>
  value >= least && value <= most;

const isDate = (text: string): boolean =>
  /^(?:(?:19|20)\d{2}[-./ ]?\d{2}[-./ ]?\d{2}|\d{1,2}[-./ ]\d{1,2}[-./ ](?:19|20)\d{2})$/.test(
    text,
  );
