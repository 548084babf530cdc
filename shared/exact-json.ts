import { AppError } from './errors.ts';

/**
 * JSON from callers, read without changing any number. `JSON.parse` silently rounds integers beyond 2^53 - 1, and the
 * loss cannot be detected afterwards: many systems use such integers as ids.
 */

const MAX_PATH_CHARACTERS = 200;

/** Only such digits can be a number that a double cannot hold. They may also be part of a string. */
const SUSPICIOUS = /[0-9]{16}|[0-9][eE]/;

/**
 * Parses JSON text. Throws SyntaxError for invalid JSON, and AppError `invalid` (`Invalid <part>: <path> ...`) for an
 * integer outside of ±(2^53 - 1) and for a number too large, or too close to 0, for a double. Extra digits of a
 * fraction are rounded, as usual.
 */
export function parseExactJson(part: string, text: string): unknown {
  const value: unknown = JSON.parse(text);
  const odd = SUSPICIOUS.test(text) ? findInexactNumber(text) : undefined;
  if (odd === undefined) return value;
  const path = odd.path.slice(0, MAX_PATH_CHARACTERS).toWellFormed();
  throw new AppError('invalid', `Invalid ${part}: ${path === '' ? '' : `${path} `}${odd.problem}`);
}

/** The problem with a number's text, if any. */
function problemOf(source: string): string | undefined {
  const value = Number(source);
  if (!Number.isFinite(value)) return 'is a number too large to hold; send it as a string';
  if (/[.eE]/.test(source)) {
    const isZero = !/^[^eE]*[1-9]/.test(source);
    return value === 0 && !isZero
      ? 'is a number too close to 0 to hold; send it as a string'
      : undefined;
  }
  return Number.isSafeInteger(value)
    ? undefined
    : 'is an integer beyond ±9007199254740991, which would be rounded; send it as a string';
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Walks valid JSON text; `JSON.parse` with a reviver takes ten times as long and has no paths. */
function findInexactNumber(text: string): { path: string; problem: string } | undefined {
  // For each open list the index, for each open object the start and end of the current member's key.
  const places: (number | { from: number; to: number } | undefined)[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const from = at;
      at = endOfString(text, from);
      const place = places.at(-1);
      if (typeof place !== 'number' && isKey(text, at + 1)) {
        places[places.length - 1] = { from, to: at + 1 };
      }
    } else if (code === 0x7b) places.push(undefined);
    else if (code === 0x5b) places.push(0);
    else if (code === 0x7d || code === 0x5d) places.pop();
    else if (code === 0x2c) {
      const place = places.at(-1);
      if (typeof place === 'number') places[places.length - 1] = place + 1;
    } else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      const from = at;
      while (at + 1 < text.length && isPartOfNumber(text.charCodeAt(at + 1))) at += 1;
      const problem = at - from < 2 ? undefined : problemOf(text.slice(from, at + 1));
      if (problem !== undefined) return { path: pathOf(text, places), problem };
    }
  }
  return undefined;
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at;
}

function isKey(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) <= 0x20) at += 1;
  return text[at] === ':';
}

// Digits, '+', '-', '.', 'E', 'e'.
const isPartOfNumber = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) ||
  code === 0x2b ||
  code === 0x2d ||
  code === 0x2e ||
  code === 0x45 ||
  code === 0x65;

const pathOf = (
  text: string,
  places: readonly (number | { from: number; to: number } | undefined)[],
): string =>
  places
    .map((place) =>
      typeof place === 'object'
        ? (JSON.parse(text.slice(place.from, place.to)) as string)
        : String(place),
    )
    .join('.');
