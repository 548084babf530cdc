import type { DetectorName, Policies } from '#shared/contract/policies/policy.ts';
import { findMatches, PatternError } from '#shared/values/pattern.ts';
import { takeWork, type WorkBudget } from '#shared/values/work-budget.ts';
import type { Json } from '#shared/json.ts';
import { findApiKeys } from './detectors/api-key.ts';
import { findCreditCards } from './detectors/credit-card.ts';
import { findEmails } from './detectors/email.ts';
import { findIbans } from './detectors/iban.ts';
import { findIpAddresses } from './detectors/ip-address.ts';
import { findPhones } from './detectors/phone.ts';
import type { Detector, Span } from './detectors/span.ts';
import { type PlainText, plainText } from './plain-text.ts';
import { findSsns } from './detectors/ssn.ts';

const detectors: Record<DetectorName, Detector> = {
  email: findEmails,
  phone: findPhones,
  credit_card: findCreditCards,
  ssn: findSsns,
  iban: findIbans,
  ip: findIpAddresses,
  api_key: findApiKeys,
};

/** Deeper values are refused, because they would not be searched. Requests have a lower limit. */
const MAX_DEPTH = 200;
/** The limit for all detectors and patterns, per step. */
const MAX_STEP_WORK = 100_000_000;
/** One search is linear, but finding many matches can search the same text repeatedly. */
const MAX_PATTERN_MS = 500;
/** The maximum cost of one detector. Measured: all seven together need 0.3 µs per character. */
const UNITS_PER_TEXT = 10;
const UNITS_PER_CHARACTER = 0.5;
/** Smaller integers are counts and amounts, not card or account numbers. */
const LEAST_NUMBER = 10_000_000;

/** The value could not be searched completely, so it must not be sent. */
export class RedactionError extends Error {
  override readonly name = 'RedactionError';
}

/** The number of redacted values by the name of their detector or pattern. Names without matches are omitted. */
type RedactionCounts = ReadonlyMap<string, number>;

/** Redacts one step's data and counts the matches. */
export interface Redaction {
  counts: RedactionCounts;
  /** The value with each match replaced by `[REDACTED:<name>]`; the same value when there is no match. */
  redact<Value extends Json>(value: Value): Value;
}

/** Limits of one step's redaction. */
interface RedactionLimits {
  budget: WorkBudget;
  /** Called with the name of each detector and pattern before it is applied. */
  onFinder?: (name: string) => void;
}

interface Finder {
  name: string;
  find: (text: string, effort: Effort, plain: PlainText | undefined) => Span[];
}

/** The remaining limits of the step. */
interface Effort extends RedactionLimits {
  ms: number;
  keepMarks: boolean;
}

/**
 * Starts the redaction of one step. Created once per revision of the policies. Patterns are compiled on first use, and
 * the cost counts against that step.
 */
export type Redactor = (limits?: RedactionLimits) => Redaction;

/** What a redaction puts in place of what it found. */
const MARK = /\[REDACTED:[A-Za-z][A-Za-z0-9_-]*\]/g;

/** Whether something was redacted in a text. */
export const hasMark = (text: string): boolean => text.search(MARK) !== -1;

/**
 * Undefined when the policies redact nothing. With `keepMarks`, nothing is found in the marks of earlier redactions.
 */
export function compileRedaction(
  redaction: Policies['redaction'],
  { keepMarks = false }: { keepMarks?: boolean } = {},
): Redactor | undefined {
  const finders: Finder[] = [
    ...redaction.detectors.map((name) => ({ name, find: detectorFinder(name) })),
    ...redaction.patterns.map(({ name, regex }) => ({ name, find: patternFinder(name, regex) })),
  ];
  if (finders.length === 0) return undefined;
  return (limits = { budget: { work: MAX_STEP_WORK } }) => {
    const counts = new Map<string, number>();
    const effort: Effort = { ...limits, ms: MAX_PATTERN_MS, keepMarks };
    const text = (given: string): string => redactText(given, finders, counts, effort);
    return { counts, redact: (value) => redactValue(value, text, 0) as typeof value };
  };
}

type RedactText = (text: string) => string;

/** Redacts strings at any depth and large integers. Keys are not changed. */
function redactValue(value: Json, redact: RedactText, depth: number): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value === 'number') return redactNumber(value, redact);
  if (value === null || typeof value !== 'object') return value;
  if (depth >= MAX_DEPTH) {
    throw new RedactionError(`values nested deeper than ${MAX_DEPTH} cannot be redacted`);
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => redactValue(item, redact, depth + 1));
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  const entries = Object.entries(value).map(
    ([key, item]) => [key, redactValue(item, redact, depth + 1)] as const,
  );
  return entries.some(([key, item]) => item !== value[key]) ? Object.fromEntries(entries) : value;
}

function redactNumber(value: number, redact: RedactText): Json {
  if (!Number.isSafeInteger(value) || Math.abs(value) < LEAST_NUMBER) return value;
  const text = String(value);
  const redacted = redact(text);
  return redacted === text ? value : redacted;
}

function redactText(
  text: string,
  finders: readonly Finder[],
  counts: Map<string, number>,
  effort: Effort,
): string {
  const found: Found[] = [];
  const plain = plainText(text);
  const marks = effort.keepMarks ? marksIn(text) : [];
  for (const { name, find } of finders) {
    effort.onFinder?.(name);
    for (const span of find(text, effort, plain)) {
      if (!marks.some((mark) => overlap(mark, span))) found.push({ ...span, name });
    }
  }
  if (found.length === 0) return text;
  let redacted = '';
  let kept = 0;
  for (const { start, end, name } of merged(found)) {
    redacted += `${text.slice(kept, start)}[REDACTED:${name}]`;
    kept = end;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return redacted + text.slice(kept);
}

const marksIn = (text: string): Span[] =>
  [...text.matchAll(MARK)].map(({ index, 0: mark }) => ({
    start: index,
    end: index + mark.length,
  }));

const overlap = (one: Span, other: Span): boolean => one.start < other.end && other.start < one.end;

interface Found extends Span {
  name: string;
}

/**
 * Merges overlapping spans into one that covers them all. It has the name of the longest or, for equal lengths, the one
 * listed first in the policy.
 */
function merged(found: readonly Found[]): Found[] {
  const regions: Found[] = [];
  let longest = 0;
  for (const span of found.toSorted((a, b) => a.start - b.start)) {
    const last = regions.at(-1);
    const length = span.end - span.start;
    if (last === undefined || span.start >= last.end) {
      regions.push({ ...span });
      longest = length;
      continue;
    }
    last.end = Math.max(last.end, span.end);
    if (length > longest) {
      last.name = span.name;
      longest = length;
    }
  }
  return regions;
}

function detectorFinder(name: DetectorName): Finder['find'] {
  const detect = detectors[name];
  return (text, { budget }, plain) => {
    const length = text.length + (plain?.text.length ?? 0);
    const units = UNITS_PER_TEXT + length * UNITS_PER_CHARACTER;
    if (!takeWork(budget, units)) throw tooCostly(`detector '${name}'`);
    const spans = detect(text);
    return plain === undefined ? spans : [...spans, ...detect(plain.text).map(plain.written)];
  };
}

function patternFinder(name: string, regex: string): Finder['find'] {
  return (text, effort) => {
    try {
      return findPattern(name, regex, text, effort);
    } catch (error) {
      if (!(error instanceof PatternError)) throw error;
      throw effort.budget.work < 0 ? tooCostly(`pattern '${name}'`) : error;
    }
  };
}

function findPattern(name: string, regex: string, text: string, effort: Effort): Span[] {
  const { budget } = effort;
  let before = performance.now();
  const checkTime = (): void => {
    const now = performance.now();
    effort.ms -= now - before;
    before = now;
    if (effort.ms < 0) throw tooCostly(`pattern '${name}'`);
  };
  const spans: Span[] = [];
  for (const span of findMatches(text, regex, budget)) {
    spans.push(span);
    checkTime();
  }
  checkTime();
  return spans;
}

const tooCostly = (what: string): RedactionError =>
  new RedactionError(
    `the redaction ${what} is too costly for so much text: make it simpler or the text shorter`,
  );
