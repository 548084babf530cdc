import { AppError } from './errors.ts';
import { isDeeperThan, type Json } from './json.ts';
import { isSchemaLimit } from './values/schema-parts.ts';

/**
 * JSON from outside: request bodies, webhooks, imports, responses of tools, MCP servers and models. It is measured
 * before it is parsed, and no number is changed. `JSON.parse` rounds integers beyond 2^53 - 1 silently, and the loss
 * cannot be detected afterward: many systems use such integers as ids.
 */

/**
 * The limits of one JSON text. Its bytes are limited where it is read; its later cost depends on the number of values.
 * 200,000 values are parsed and serialized in 50 ms or less; 4.8 MB of `[],[],…` have 1.6 million values, and take half
 * a second each time. At 100 levels of lists and objects, no recursion overflows, here or in Postgres.
 */
export const MAX_LEVELS = 100;
export const MAX_VALUES = 200_000;

/** Outputs of steps are built from such texts, so they can have more levels. */
const OUTPUT_LEVELS = 2 * MAX_LEVELS;
const OUTPUT_VALUES = MAX_VALUES + 50_000;
const MAX_OUTPUT_CHARACTERS = 10_000_000;

export const tooDeep = (levels: number): string =>
  `nested deeper than ${levels} levels of lists and objects`;
const tooMany = (values: number): string => `more than ${values} values`;

/** Thrown for a text with too many levels or values. The message says which. */
export class JsonLimitError extends Error {
  override readonly name = 'JsonLimitError';
}

const MAX_PATH_CHARACTERS = 200;

/** Only such digits can be a number that a double cannot represent. They may also be part of a string. */
const SUSPICIOUS = /[0-9]{16}|[0-9][eE]/;

/**
 * Parses JSON text of callers. Throws SyntaxError for invalid JSON, and AppError `invalid` (`Invalid <part>: <path>
 * ...`) for too many levels or values, an integer outside of ±(2^53 - 1) and a number too large, or too close to 0, for
 * a double. Extra digits of a fraction are rounded, as usual, and so are limits of numbers in a JSON Schema, such as
 * those of 64-bit integers.
 */
export function parseExactJson(part: string, text: string): unknown {
  const problem = sizeProblem(text);
  if (problem !== undefined) throw new AppError('invalid', `Invalid ${part}: ${problem}`);
  const value: unknown = JSON.parse(text);
  for (const { from, to, path, problem: odd } of inexactNumbers(text)) {
    if (Number.isFinite(Number(text.slice(from, to))) && isSchemaLimit(path())) continue;
    const at = pathText(path());
    throw new AppError('invalid', `Invalid ${part}: ${at === '' ? '' : `${at} `}${odd}`);
  }
  return value;
}

/**
 * Parses JSON text of services that cannot be asked to send it differently: a number that no double can represent
 * becomes the text of its digits. Throws SyntaxError and JsonLimitError.
 */
export function parseOutsideJson(text: string): Json {
  const problem = sizeProblem(text);
  if (problem !== undefined) throw new JsonLimitError(problem);
  return JSON.parse(withDigits(text)) as Json;
}

/**
 * The JSON text with every number that no double can represent replaced by the text of its digits. `concerns` selects
 * numbers by path; by default, all. A text that is not JSON does not change.
 */
export function withDigits(
  text: string,
  concerns: (path: readonly string[]) => boolean = () => true,
): string {
  if (inexactNumbers(text).next().done === true || !isJsonText(text)) return text;
  let written = '';
  let end = 0;
  for (const { from, to, path } of inexactNumbers(text)) {
    if (!concerns(path())) continue;
    written += `${text.slice(end, from)}"${text.slice(from, to)}"`;
    end = to;
  }
  return written + text.slice(end);
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Which limit a JSON text exceeds. Counts levels and values without recursion and without creating values, so it takes
 * milliseconds for megabytes. Undefined for a text within the limits, and for one that is not JSON, judging by its
 * brackets.
 */
export function sizeProblem(
  text: string,
  limits = { levels: MAX_LEVELS, values: MAX_VALUES },
): string | undefined {
  if (text.length <= limits.levels || !/^\s*[[{]/.test(text)) return undefined;
  let values = 1;
  let level = 0;
  let deepest = 0;
  let opened = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code <= 0x20) continue;
    if (code === 0x5d || code === 0x7d) {
      level -= 1;
      if (opened) values -= 1;
      opened = false;
      // After the outermost value there is white space, or the text is invalid.
      if (level <= 0) break;
      continue;
    }
    opened = code === 0x5b || code === 0x7b;
    if (opened) {
      level += 1;
      deepest = Math.max(deepest, level);
    }
    // A list or object has one value, unless it closes next, and one more after each comma.
    if (opened || code === 0x2c) values += 1;
    else if (code === QUOTE) at = endOfString(text, at);
  }
  if (level !== 0) return undefined;
  if (deepest > limits.levels) return tooDeep(limits.levels);
  return values > limits.values ? tooMany(limits.values) : undefined;
}

/** Which limit the output of a step exceeds. */
export function outputProblem(output: Json): string | undefined {
  // Deeper values would overflow the stack of a JSON serializer.
  if (isDeeperThan(output, OUTPUT_LEVELS)) return tooDeep(OUTPUT_LEVELS);
  const text = JSON.stringify(output);
  return text.length > MAX_OUTPUT_CHARACTERS
    ? `more than ${MAX_OUTPUT_CHARACTERS} characters`
    : storedProblem(text);
}

/** Like `outputProblem`, for the JSON text of a stored output, which may be older than the limits. */
export const storedProblem = (text: string): string | undefined =>
  sizeProblem(text, { levels: OUTPUT_LEVELS, values: OUTPUT_VALUES });

const SEND_AS_STRING = 'send it as a string';

/** Why no double can represent the number in this text; undefined if one can. */
export function numberProblem(source: string): string | undefined {
  const value = Number(source);
  if (!Number.isFinite(value)) return `is a number too large to hold; ${SEND_AS_STRING}`;
  if (value === 0 && /^[^eE]*[1-9]/.test(source)) {
    return `is a number too close to 0 to hold; ${SEND_AS_STRING}`;
  }
  if (Math.abs(value) <= Number.MAX_SAFE_INTEGER) return undefined;
  // Written with an exponent or a decimal point, it does not claim to be exact beyond the digits of a double.
  const isMeasured = /[.eE]/.test(source) && digitsOf(source) === digitsOf(String(value));
  return isMeasured
    ? undefined
    : `is an integer beyond ±9007199254740991, which would be rounded; ${SEND_AS_STRING}`;
}

const digitsOf = (source: string): string =>
  source
    .replace(/[eE].*$/, '')
    .replaceAll(/\D/g, '')
    .replaceAll(/^0+|0+$/g, '');

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** For an open list, its index; for an open object, where the key of its current member begins and ends. */
type Place = number | { from: number; to: number } | undefined;

interface InexactNumber {
  from: number;
  to: number;
  problem: string;
  path: () => string[];
}

/** Walks valid JSON text; `JSON.parse` with a reviver takes ten times as long and has no paths. */
function* inexactNumbers(text: string): Generator<InexactNumber> {
  if (!SUSPICIOUS.test(text)) return;
  const places: Place[] = [];
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
      const problem = at - from < 2 ? undefined : numberProblem(text.slice(from, at + 1));
      if (problem === undefined) continue;
      yield { from, to: at + 1, problem, path: () => pathOf(text, places) };
    }
  }
}

function endOfString(text: string, from: number): number {
  let at = from + 1;
  for (; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    if (code === BACKSLASH) at += 1;
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

const pathOf = (text: string, places: readonly Place[]): string[] =>
  places.map((place) =>
    typeof place === 'object'
      ? (JSON.parse(text.slice(place.from, place.to)) as string)
      : String(place),
  );

const pathText = (path: readonly string[]): string =>
  path.join('.').slice(0, MAX_PATH_CHARACTERS).toWellFormed();
