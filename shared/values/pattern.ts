import { RE2JS, RE2JSException } from 're2js';
import { createBoundedCache } from './bounded-cache.ts';
import { MAX_WORK, takeWork, type WorkBudget } from './work-budget.ts';

const MAX_PATTERN = 1000;

/** The pattern is invalid, or a search exceeds its budget. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const compiled = createBoundedCache<string, RE2JS>(200);
/** Matchers for long texts. Each caches up to 8 MB of states, so only a few are kept. */
const searchers = createBoundedCache<string, RE2JS>(4);
/** Up to this length, caching states costs more than it saves. */
const SHORT_TEXT = 500;

export interface SearchOptions {
  ignoreCase?: boolean;
  budget?: WorkBudget;
}

/**
 * Whether an RE2 pattern matches anywhere in a text. RE2 has no back-references and no look-around, so its time is
 * linear in the text. Takes the length of the text times the size of the program from the budget. Throws PatternError.
 */
export function matchesPattern(
  text: string,
  pattern: string,
  options: SearchOptions = {},
): boolean {
  const { ignoreCase = false, budget = { work: MAX_WORK } } = options;
  const regex = compileWithin(pattern, ignoreCase, budget);
  if (!takeWork(budget, text.length * regex.programSize())) throw tooCostly(text);
  if (text.length <= SHORT_TEXT) return regex.matcher(text).find();
  return searchers(keyOf(pattern, ignoreCase), () => compile(pattern, ignoreCase)).test(text);
}

const tooCostly = (text: string): PatternError =>
  new PatternError(
    `the pattern is too costly for a text of ${text.length} characters: use a simpler pattern or a shorter text`,
  );

/** The compiled pattern, cached. Throws PatternError. */
export function compilePattern(pattern: string, ignoreCase = false): RE2JS {
  return compiled(keyOf(pattern, ignoreCase), () => compile(pattern, ignoreCase));
}

/** Like `compilePattern`, but takes the cost from the budget, even for a cached pattern. Throws PatternError. */
export function compileWithin(pattern: string, ignoreCase: boolean, budget: WorkBudget): RE2JS {
  const { searchesOnly = false } = budget;
  if (!searchesOnly && !takeWork(budget, parsingWork(pattern, ignoreCase))) {
    throw new PatternError('the pattern is too costly to compile: use a simpler one');
  }
  const regex = compilePattern(pattern, ignoreCase);
  if (!searchesOnly && !takeWork(budget, regex.programSize() * UNITS_PER_INSTRUCTION)) {
    throw new PatternError('the pattern is too costly to compile: use a simpler one');
  }
  return regex;
}

const keyOf = (pattern: string, ignoreCase: boolean): string =>
  `${ignoreCase ? 'i' : 'c'}${pattern}`;

function compile(pattern: string, ignoreCase: boolean): RE2JS {
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
