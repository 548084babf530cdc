import { Characters } from './characters.ts';
import { isNullable, parsePattern, type Part, sourceOf, WORD } from './parse.ts';

/** A JavaScript expression that finds the same matches as an RE2 pattern, in time linear in the text. */
export interface NativeRegExp {
  /** Global: each `exec` continues after the last match. A match is never empty. */
  regexp: RegExp;
  /** The maximum number of steps that a search takes at one position of the text. */
  steps: number;
}

/**
 * Translates an RE2 pattern for JavaScript's engine, which is compiled to machine code but backtracks. Undefined for a
 * pattern that might take more than `maxSteps` per character, that matches the empty text, or that uses syntax that
 * this function does not know. The pattern must be valid: RE2 has compiled it. For `ignoreCase` see `(?i)` of RE2.
 */
export function nativeRegExp(
  pattern: string,
  { ignoreCase, maxSteps }: { ignoreCase: boolean; maxSteps: number },
): NativeRegExp | undefined {
  const parsed = parsePattern(pattern, ignoreCase);
  if (parsed === undefined || isNullable(parsed)) return undefined;
  const branches = parsed.kind === 'either' ? parsed.of : [parsed];
  let steps = 0;
  for (const branch of branches) {
    const own = branchSteps(branch.kind === 'sequence' ? branch.of : [branch]);
    if (own === undefined) return undefined;
    steps += own;
  }
  if (steps > maxSteps) return undefined;
  return { regexp: new RegExp(sourceOf(parsed), 'gu'), steps };
}

interface Effort {
  /** Steps per position of the text, at most. */
  steps: number;
  /** The number of ways in which the part can match at one position. */
  ways: number;
  /** The minimum length of a match, in characters. */
  shortest: number;
  longest: number;
}

const NOTHING: Effort = { steps: 0, ways: 1, shortest: 0, longest: 0 };

/** Undefined if a part repeats without limit. */
function effortOf(part: Part): Effort | undefined {
  switch (part.kind) {
    case 'character':
      return { steps: 1, ways: 1, shortest: 1, longest: 1 };
    case 'assertion':
      return { ...NOTHING, steps: 1 };
    case 'sequence':
      return part.of.reduce<Effort | undefined>(
        (before, each) => inSequence(before, effortOf(each)),
        NOTHING,
      );
    case 'either':
      return part.of.map(effortOf).reduce(eitherOf);
    case 'repeat':
      return repeatEffort(part, effortOf(part.of));
  }
}

const inSequence = (before: Effort | undefined, next: Effort | undefined): Effort | undefined =>
  before &&
  next && {
    steps: before.steps + before.ways * next.steps,
    ways: before.ways * next.ways,
    shortest: before.shortest + next.shortest,
    longest: before.longest + next.longest,
  };

const eitherOf = (one: Effort | undefined, other: Effort | undefined): Effort | undefined =>
  one &&
  other && {
    steps: one.steps + other.steps,
    ways: one.ways + other.ways,
    shortest: Math.min(one.shortest, other.shortest),
    longest: Math.max(one.longest, other.longest),
  };

function repeatEffort(
  { min, max }: { min: number; max: number },
  each: Effort | undefined,
): Effort | undefined {
  if (each === undefined || max === Infinity) return undefined;
  let steps = 0;
  let ways = min === 0 ? 1 : 0;
  let paths = 1;
  for (let n = 1; n <= max && steps < Number.MAX_SAFE_INTEGER; n += 1) {
    steps += paths * each.steps;
    paths *= each.ways;
    if (n >= min) ways += paths;
  }
  return { steps, ways, shortest: min * each.shortest, longest: max * each.longest };
}

/**
 * The steps of one branch per position. An unlimited repetition is linear if every search enters a run of its
 * characters at the run's start, and if what follows cannot begin within the run. Undefined otherwise.
 */
function branchSteps(parts: readonly Part[]): number | undefined {
  let effort: Effort | undefined = NOTHING;
  /** How many searches that start at different positions can enter the same run. */
  let entries = 1;
  for (const [at, part] of parts.entries()) {
    if (effort === undefined) return undefined;
    if (part.kind === 'repeat' && part.max === Infinity) {
      entries *= effort.longest - effort.shortest + 1;
      const steps = runSteps(parts, at, part);
      if (steps === undefined) return undefined;
      // What follows is only reached at the end of the run, so lengths count from there.
      effort = {
        ...NOTHING,
        steps: effort.steps + effort.ways * entries * steps,
        ways: effort.ways,
      };
    } else {
      effort = inSequence(effort, effortOf(part));
    }
  }
  return effort?.steps;
}

/** The steps at each character of a run: it is read, and then the part after the run is tried there. */
function runSteps(
  parts: readonly Part[],
  at: number,
  run: Part & { kind: 'repeat' },
): number | undefined {
  if (run.of.kind !== 'character') return undefined;
  // It ends the match, so the next search begins after it.
  if (at === parts.length - 1) return run.min + 1;
  if (!entersAtStart(parts[at - 1], run.of.set)) return undefined;
  const rest = parts.slice(at + 1);
  const next = rest.findIndex((part) => part.kind !== 'assertion');
  const part = rest[next];
  if (part === undefined) return 1 + rest.length;
  if (isNullable(part) || !firstOf(part).isDisjointFrom(run.of.set)) return undefined;
  return 1 + next + branchesOf(part);
}

/** How many characters are compared before the part fails at its first one. */
function branchesOf(part: Part): number {
  switch (part.kind) {
    case 'character':
    case 'assertion':
      return 1;
    case 'sequence':
      return part.of[0] === undefined ? 0 : branchesOf(part.of[0]);
    case 'either':
      return part.of.reduce((sum, each) => sum + branchesOf(each), 0);
    case 'repeat':
      return branchesOf(part.of);
  }
}

/** Whether the part before a run can only end where the run begins. */
function entersAtStart(before: Part | undefined, set: Characters): boolean {
  if (before === undefined) return false;
  if (before.kind === 'assertion') {
    return before.source === '^' || (before.source === '\\b' && set.isSubsetOf(WORD));
  }
  return !isNullable(before) && lastOf(before).isDisjointFrom(set);
}

const ALL = Characters.of([]).negated();

/** The characters with which the part can begin; all, if that is not obvious. */
const firstOf = (part: Part): Characters => edgeOf(part, (parts) => parts[0]);
const lastOf = (part: Part): Characters => edgeOf(part, (parts) => parts.at(-1));

function edgeOf(part: Part, pick: (parts: readonly Part[]) => Part | undefined): Characters {
  switch (part.kind) {
    case 'character':
      return part.set;
    case 'assertion':
      return ALL;
    case 'sequence': {
      const edge = pick(part.of);
      return edge === undefined || isNullable(edge) ? ALL : edgeOf(edge, pick);
    }
    case 'either':
      return Characters.union(part.of.map((each) => edgeOf(each, pick)));
    case 'repeat':
      return edgeOf(part.of, pick);
  }
}
