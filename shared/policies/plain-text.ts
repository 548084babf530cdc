import type { Span } from './detectors/span.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** A normalized text for detectors, with a mapping of its spans to the original text. */
export interface PlainText {
  text: string;
  written: (span: Span) => Span;
}

const ASCII = /^[\0-\x7f]*$/;
/** Invisible characters. Between two digits, they would hide a number from a detector. */
const INVISIBLE = /^[\u00ad\u034f\u061c\u180e\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff]$/;
/** Normalized characters. The limit is about as many as a text in any language uses. */
const known = new BoundedMap<string, string>(10_000);

/**
 * Normalizes a text: NFKC for compatibility forms, 0 to 9 for digits of every script, a hyphen for every dash, a space
 * for every kind of space. Invisible characters are removed. Undefined when the text is already normalized.
 */
export function plainText(text: string): PlainText | undefined {
  if (ASCII.test(text)) return undefined;
  let plain = '';
  let changed = false;
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    const instead = plainCharacter(character);
    changed ||= instead !== character;
    for (let unit = 0; unit < instead.length; unit += 1) starts.push(at);
    plain += instead;
    at += character.length;
  }
  if (!changed) return undefined;
  return {
    text: plain,
    written: ({ start, end }) => {
      const last = starts[end - 1] ?? 0;
      const width = (text.codePointAt(last) ?? 0) > 0xffff ? 2 : 1;
      return { start: starts[start] ?? 0, end: last + width };
    },
  };
}

function plainCharacter(character: string): string {
  if (character.length === 1 && character < '\x80') return character;
  const before = known.get(character);
  if (before !== undefined) return before;
  const plain = makePlain(character);
  known.set(character, plain);
  return plain;
}

function makePlain(character: string): string {
  if (INVISIBLE.test(character)) return '';
  if (/^\p{Zs}$/u.test(character)) return ' ';
  if (/^[\p{Pd}\u2212]$/u.test(character)) return '-';
  const plain = character.normalize('NFKC');
  return /^\p{Nd}$/u.test(plain) && !/^\d$/.test(plain) ? String(digitOf(plain)) : plain;
}

/** In Unicode, the ten digits of a script follow each other, starting with zero. */
function digitOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  let before = 0;
  while (/^\p{Nd}$/u.test(String.fromCodePoint(code - before - 1))) before += 1;
  return before % 10;
}
