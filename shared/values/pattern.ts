import { RE2JS, RE2JSException } from 're2js';
import { createBoundedCache } from './bounded-cache.ts';
import { nativeRegExp, type NativeRegExp } from './regexp/native.ts';
import { MAX_WORK, takeWork, type WorkBudget } from './work-budget.ts';

const MAX_PATTERN = 1000;

/** The pattern is invalid, or a search exceeds its budget. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const compiled = createBoundedCache<string, RE2JS>(200);
/**
 * Ten to fifty times as fast. Created by the first search, because most patterns are only checked when they are stored.
 */
const natives = createBoundedCache<string, { found: NativeRegExp | undefined }>(200);
/** Matchers for long texts. Each caches up to 8 MB of states, so only a few are kept. */
const searchers = createBoundedCache<string, RE2JS>(4);
/** Up to this length, caching states costs more than it saves. */
const SHORT_TEXT = 500;
/** For a longer text, the stack of JavaScript's engine could overflow. */
const MAX_NATIVE_TEXT = 1_000_000;
/**
 * A native search may take this many steps for one instruction of RE2's program, and then costs as much. Measured: a
 * step takes at most 5 ns, while a unit of the budget allows 100; the rest is a margin for slow machines.
 */
const STEPS_PER_INSTRUCTION = 5;
const UNITS_PER_STEP = 1 / STEPS_PER_INSTRUCTION;

export interface SearchOptions {
  ignoreCase?: boolean;
  budget?: WorkBudget;
}

/**
 * Whether an RE2 pattern matches anywhere in a text. RE2 has no back-references and no look-around, so its time is
 * linear in the text. With either engine, it takes the length of the text times the size of the program from the
 * budget, so that workflow code counts the same in every version. Throws PatternError.
 */
export function matchesPattern(
  text: string,
  pattern: string,
  options: SearchOptions = {},
): boolean {
  const { ignoreCase = false, budget = { work: MAX_WORK } } = options;
  const re2 = compileWithin(pattern, ignoreCase, budget);
  if (!takeWork(budget, text.length * re2.programSize())) throw tooCostly(text);
  const native = nativeFor(text, pattern, ignoreCase, re2);
  if (native !== undefined) return text.search(native.regexp) >= 0;
  return holdsMatch(text, pattern, ignoreCase, re2);
}

function holdsMatch(text: string, pattern: string, ignoreCase: boolean, re2: RE2JS): boolean {
  if (text.length <= SHORT_TEXT) return re2.matcher(text).find();
  return searchers(keyOf(pattern, ignoreCase), () => compileRe2(pattern, ignoreCase)).test(text);
}

/**
 * Yields every non-empty match of an RE2 pattern, from left to right. Takes the cost of the whole search from the
 * budget before it begins. Throws PatternError.
 */
export function* findMatches(
  text: string,
  pattern: string,
  budget: WorkBudget,
): Generator<{ start: number; end: number }> {
  const re2 = compileWithin(pattern, false, budget);
  const native = nativeFor(text, pattern, false, re2);
  if (native !== undefined) {
    if (!takeWork(budget, text.length * native.steps * UNITS_PER_STEP)) throw tooCostly(text);
    for (const match of text.matchAll(native.regexp)) {
      yield { start: match.index, end: match.index + match[0].length };
    }
    return;
  }
  // Most texts have no match. Finding that out takes a tenth of the time of locating matches.
  if (!takeWork(budget, text.length * re2.programSize())) throw tooCostly(text);
  if (!holdsMatch(text, pattern, false, re2)) return;
  if (!takeWork(budget, text.length * re2.programSize())) throw tooCostly(text);
  const matcher = re2.matcher(text);
  while (matcher.find()) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end > start) yield { start, end };
  }
}

const tooCostly = (text: string): PatternError =>
  new PatternError(
    `the pattern is too costly for a text of ${text.length} characters: use a simpler pattern or a shorter text`,
  );

/** Throws PatternError if the pattern is not valid. */
export function checkPattern(pattern: string): void {
  compile(pattern, false);
}

/** The compiled pattern, cached. Takes the cost from the budget, even for a cached pattern. */
function compileWithin(pattern: string, ignoreCase: boolean, budget: WorkBudget): RE2JS {
  if (!takeWork(budget, parsingWork(pattern, ignoreCase))) {
    throw new PatternError('the pattern is too costly to compile: use a simpler one');
  }
  const re2 = compile(pattern, ignoreCase);
  if (!takeWork(budget, re2.programSize() * UNITS_PER_INSTRUCTION)) {
    throw new PatternError('the pattern is too costly to compile: use a simpler one');
  }
  return re2;
}

const compile = (pattern: string, ignoreCase: boolean): RE2JS =>
  compiled(keyOf(pattern, ignoreCase), () => compileRe2(pattern, ignoreCase));

/** The native expression of the pattern, unless there is none or the text is too long for it. */
function nativeFor(
  text: string,
  pattern: string,
  ignoreCase: boolean,
  re2: RE2JS,
): NativeRegExp | undefined {
  if (text.length > MAX_NATIVE_TEXT) return undefined;
  const maxSteps = re2.programSize() * STEPS_PER_INSTRUCTION;
  const translate = () => ({ found: nativeRegExp(pattern, { ignoreCase, maxSteps }) });
  return natives(keyOf(pattern, ignoreCase), translate).found;
}

const keyOf = (pattern: string, ignoreCase: boolean): string =>
  `${ignoreCase ? 'i' : 'c'}${pattern}`;

function compileRe2(pattern: string, ignoreCase: boolean): RE2JS {
  if (pattern.length > MAX_PATTERN) {
    throw new PatternError(`the pattern is longer than ${MAX_PATTERN} characters`);
  }
  try {
    return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw new PatternError(`the pattern is not valid: ${error.message}`, { cause: error });
  }
}

// Measured. Most patterns compile in about ten microseconds. A Unicode class takes a hundred. In a case-insensitive
// pattern, a range is expanded character by character: 2 ms for the first 65,536.
const UNITS_PER_CHARACTER = 20;
const UNITS_PER_INSTRUCTION = 50;
const UNITS_PER_CLASS = 1_500;
const UNITS_PER_FOLDED_CHARACTER = 0.4;
const RANGE =
  /(\\x\{([0-9a-f]{1,8})\}|\\x([0-9a-f]{2})|\\?[^\\])-(?=(\\x\{([0-9a-f]{1,8})\}|\\x([0-9a-f]{2})|\\?[^\\]))/giu;

/** The maximum cost of parsing a pattern, estimated from its text. */
function parsingWork(pattern: string, ignoreCase: boolean): number {
  const text = pattern.slice(0, MAX_PATTERN);
  const classes = text.match(/\\p/gi)?.length ?? 0;
  const plain = text.length * UNITS_PER_CHARACTER + classes * UNITS_PER_CLASS;
  if (!ignoreCase && !/\(\?[a-z]*i/i.test(text)) return plain;
  let folded = 0;
  for (const [, low = '', l1, l2, high = '', h1, h2] of text.matchAll(RANGE)) {
    folded += Math.max(0, codeOf(high, h1 ?? h2) - codeOf(low, l1 ?? l2));
  }
  return plain + folded * UNITS_PER_FOLDED_CHARACTER;
}

const codeOf = (written: string, hex: string | undefined): number =>
  hex === undefined
    ? written.codePointAt(written.length > 1 && written.startsWith('\\') ? 1 : 0)!
    : parseInt(hex, 16);
