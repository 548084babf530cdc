import type { Evals } from '#shared/contract/workflows/evaluation-check.ts';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { differencesOf, type JsonDifference } from '#shared/graph/json-differences.ts';

/** A run that has ended, as an experiment compares it. */
export interface EndedRun {
  status: 'success' | 'failed';
  output: Json;
  error: string | null;
  /** For a failed run; `node_id` is set if a node is the reason. */
  failure: { kind: string; node_id?: string | undefined } | null;
  /** For a successful run: the results of the experiment's checks. */
  evals: Evals | null;
}

export type Outcome = 'equal' | 'changed' | 'failed' | 'unrecorded' | 'refused';

/** One difference between two outputs. A long value is cut to the beginning of its JSON, with `…`. */
interface OutputDifference {
  path: string;
  change: 'added' | 'removed' | 'changed';
  /** Absent for `added`. */
  from?: Json;
  /** Absent for `removed`. */
  to?: Json;
}

export interface OutputDiff {
  differences: OutputDifference[];
  /** Whether there are more differences. */
  more: boolean;
}

/** The names of the checks that only the rehearsal passed, and of those that only the source run passed. */
interface ChangedChecks {
  won: string[];
  lost: string[];
}

export interface Comparison {
  outcome: Outcome;
  /** The difference between the outputs; null unless the rehearsal was successful. */
  diff: OutputDiff | null;
  checks: ChangedChecks;
  /** Why the runs are not equal, if the outputs do not show it. */
  reason: string | null;
}

const MAX_DIFFERENCES = 50;
/** The maximum length of one value's JSON, and of all values in a diff, in characters. */
const MAX_SHOWN = 1_000;
const MAX_SHOWN_IN_ALL = 16_000;

/**
 * Compares a rehearsal with its source run. A rehearsal that ended at a missing record, or for lack of budget, shows
 * nothing. A run that newly fails is `failed`. Two failures are equal if they have the same reason. A failed run passes
 * no check.
 */
export function compareRuns(source: EndedRun, rehearsal: EndedRun): Comparison {
  const { failure, error } = rehearsal;
  if (failure?.kind === 'unrecorded') return uncompared('unrecorded', error);
  if (failure?.kind === 'budget') return uncompared('refused', error);
  if (failure?.kind === 'cancelled') return uncompared('refused', 'The rehearsal was cancelled');
  const checks = changedChecks(source.evals, rehearsal.evals);
  if (rehearsal.status === 'failed') {
    if (source.status === 'success') {
      return { outcome: 'failed', diff: null, checks, reason: error };
    }
    const same = sameFailure(source, rehearsal);
    return {
      outcome: same ? 'equal' : 'changed',
      diff: null,
      checks,
      reason: same ? null : `It fails for another reason: ${error ?? 'failed'}`,
    };
  }
  const diff = diffOutputs(source.output, rehearsal.output);
  const equal = source.status === 'success' && diff.differences.length === 0;
  return {
    outcome: equal ? 'equal' : 'changed',
    diff,
    checks,
    reason: source.status === 'failed' ? `It had failed: ${source.error ?? 'failed'}` : null,
  };
}

/** For a run that the experiment cannot compare. */
export const uncompared = (
  outcome: 'unrecorded' | 'refused',
  reason: string | null,
): Comparison => ({ outcome, diff: null, checks: { won: [], lost: [] }, reason });

const sameFailure = (one: EndedRun, other: EndedRun): boolean =>
  one.failure?.kind === other.failure?.kind &&
  one.failure?.node_id === other.failure?.node_id &&
  one.error === other.error;

/** Both runs are scored by the same checks, in the same order. */
function changedChecks(before: Evals | null, after: Evals | null): ChangedChecks {
  const results = (before ?? after)?.results ?? [];
  const passed = (evals: Evals | null, index: number) => evals?.results[index]?.passed ?? false;
  const named = (wanted: (index: number) => boolean): string[] =>
    results.filter((_result, index) => wanted(index)).map(({ name }) => name);
  return {
    won: named((index) => passed(after, index) && !passed(before, index)),
    lost: named((index) => passed(before, index) && !passed(after, index)),
  };
}

/** The differences between two outputs, up to a readable number. */
export function diffOutputs(from: Json, to: Json): OutputDiff {
  const differences: OutputDifference[] = [];
  let shown = 0;
  for (const difference of differencesOf(from, to)) {
    if (differences.length === MAX_DIFFERENCES || shown > MAX_SHOWN_IN_ALL) {
      return { differences, more: true };
    }
    const { value, length } = shownDifference(difference);
    differences.push(value);
    shown += length;
  }
  return { differences, more: false };
}

function shownDifference({ path, from, to }: JsonDifference) {
  const before = from === undefined ? undefined : shortened(from);
  const after = to === undefined ? undefined : shortened(to);
  const value: OutputDifference = {
    path,
    change: changeOf(from, to),
    ...(before === undefined ? {} : { from: before.value }),
    ...(after === undefined ? {} : { to: after.value }),
  };
  return { value, length: path.length + (before?.length ?? 0) + (after?.length ?? 0) };
}

function changeOf(from: Json | undefined, to: Json | undefined): OutputDifference['change'] {
  if (from === undefined) return 'added';
  return to === undefined ? 'removed' : 'changed';
}

function shortened(value: Json): { value: Json; length: number } {
  const text = canonicalJson(value);
  if (text.length <= MAX_SHOWN) return { value, length: text.length };
  return { value: `${text.slice(0, MAX_SHOWN)}…`, length: MAX_SHOWN };
}

/** The order of outcomes, worst first. */
const badness: Record<Outcome, number> = {
  failed: 4,
  changed: 2,
  refused: 1,
  unrecorded: 1,
  equal: 0,
};

/**
 * A whole number that orders the runs of an experiment; the worst has the highest. Failures come first, then runs with
 * lost checks, then changed runs; within each, those with more lost checks and more differences come first.
 */
export function badnessOf({ outcome, checks, diff }: Comparison): number {
  const lost = Math.min(checks.lost.length, 999);
  const differences = Math.min(diff?.differences.length ?? 0, 999);
  const kind = outcome !== 'failed' && lost > 0 ? 3 : badness[outcome];
  return kind * 1_000_000 + lost * 1_000 + differences;
}
