import { type Detector, matchesOf, valuesOf } from './span.ts';

// Areas 000, 666 and 900 to 999, group 00 and serial 0000 are never assigned.
const NUMBER = '(?!000|666|9)\\d{3}([- ])(?!00)\\d{2}\\1(?!0000)\\d{4}';
const GROUPED = new RegExp(`(?<![\\p{L}\\d_.,/+-]|\\d )${NUMBER}(?![\\p{L}\\d_]|[-./]\\d)`, 'gu');
/** Nine digits without separators only count after one of these words. */
const NAMED =
  /\b(?:ssn|social[ _-]security(?:[ _-](?:number|no|nr))?)\b["']?[ .:#=]{0,4}(?:is )?["']?((?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4})(?!\d)/gi;

/** Finds social security numbers of the United States. */
export const findSsns: Detector = (text) => [
  ...matchesOf(text, GROUPED),
  ...valuesOf(text, NAMED, () => true),
];
