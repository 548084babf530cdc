import { type Detector, isWordCode } from './span.ts';

/** The maximum length of local part and domain that mail servers accept. */
const MAX_LOCAL = 64;
const MAX_DOMAIN = 253;
// Without quotes and rarer characters, which are more often next to an address than part of it.
const LOCAL_SIGNS: ReadonlySet<number> = codesOf('._%+-');
const DOMAIN_SIGNS: ReadonlySet<number> = codesOf('.-');
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u;
const TOP_LEVEL = /^(?:\p{L}{2,}|xn--[a-z0-9-]+)$/iu;
/** `logo@2x.png` is an image file. */
const FILE_ENDINGS: ReadonlySet<string> = new Set(
  'png jpg jpeg gif svg webp ico css js mjs ts json html map'.split(' '),
);

function codesOf(signs: string): ReadonlySet<number> {
  return new Set(Array.from(signs, (sign) => sign.charCodeAt(0)));
}

/** Finds `name@example.org`, also with `%40` for `@`, as in URLs. */
export const findEmails: Detector = (text) => {
  const spans = [];
  // No address extends back beyond the previous `@`, so no text is scanned twice.
  let before = 0;
  for (const sign of text.matchAll(/@|%40/g)) {
    const after = sign.index + sign[0].length;
    let start = sign.index;
    while (
      start > Math.max(before, sign.index - MAX_LOCAL) &&
      isPart(text.charCodeAt(start - 1), LOCAL_SIGNS)
    ) {
      start -= 1;
    }
    before = after;
    while (start < sign.index && text.charAt(start) === '.') start += 1;
    const length = start < sign.index ? domainLength(text, after) : 0;
    if (length > 0) spans.push({ start, end: after + length });
  }
  return spans;
};

/** The length of the domain at `start`, up to a top-level domain of letters; 0 when there is none. */
function domainLength(text: string, start: number): number {
  let end = start;
  const last = Math.min(text.length, start + MAX_DOMAIN);
  while (end < last && isPart(text.charCodeAt(end), DOMAIN_SIGNS)) end += 1;
  if (end === start) return 0;
  const labels = text.slice(start, end).split('.');
  const broken = labels.findIndex((label) => !LABEL.test(label));
  const kept = broken < 0 ? labels : labels.slice(0, broken);
  while (kept.length > 1 && !TOP_LEVEL.test(kept.at(-1) ?? '')) kept.pop();
  if (kept.length < 2 || FILE_ENDINGS.has((kept.at(-1) ?? '').toLowerCase())) return 0;
  return kept.join('.').length;
}

const isPart = (code: number, signs: ReadonlySet<number>): boolean =>
  isWordCode(code) || signs.has(code);
