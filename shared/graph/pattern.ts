import { RE2JS, RE2JSException } from 're2js';
import { createBoundedCache } from './bounded-cache.ts';

const MAX_PATTERN = 1000;

/**
 * Characters times pattern size that are searched at most. Matching is linear in both, but workflow code has two
 * seconds before its worker calls it stuck; the slowest patterns found take 0.4 s for this much.
 */
export const MAX_SEARCH_WORK = 20_000_000;

/** What several searches may cost together. */
export interface SearchBudget {
  work: number;
}

/** A pattern that RE2 does not know, or more work than searches may cost. */
export class PatternError extends Error {
  override readonly name = 'PatternError';
}

const compiled = createBoundedCache<string, RE2JS>(200);

/**
 * Whether a text holds a match of an RE2 pattern anywhere. RE2 has no back-references and no look-around, and in
 * turn cannot be made to hang. Throws PatternError.
 */
export function matchesPattern(
  text: string,
  pattern: string,
  {
    ignoreCase = false,
    budget = { work: MAX_SEARCH_WORK },
  }: { ignoreCase?: boolean; budget?: SearchBudget } = {},
): boolean {
  const regex = compilePattern(pattern, ignoreCase);
  budget.work -= text.length * regex.programSize();
  if (budget.work < 0) {
    throw new PatternError(`the pattern is too costly for a text of ${text.length} characters`);
  }
  return regex.matcher(text).find();
}

/** The compiled pattern, remembered. Throws PatternError. */
export function compilePattern(pattern: string, ignoreCase = false): RE2JS {
  if (pattern.length > MAX_PATTERN) {
    throw new PatternError(`the pattern is longer than ${MAX_PATTERN} characters`);
  }
  return compiled(`${ignoreCase ? 'i' : 'c'}${pattern}`, () => {
    try {
      return RE2JS.compile(pattern, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    } catch (error) {
      if (!(error instanceof RE2JSException)) throw error;
      throw new PatternError(`the pattern is not valid: ${error.message}`, { cause: error });
    }
  });
}
