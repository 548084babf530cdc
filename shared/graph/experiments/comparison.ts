import type { Evals } from '#shared/contract/workflows/graph.ts';
import type { Json } from '#shared/json.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { differencesOf, type JsonDifference } from '#shared/graph/json-differences.ts';

/** A run that has ended, as an experiment compares it. */
export interface EndedRun {
  status: 'success' | 'failed';
  output: Json;
  error: string | null;
  /** For a failed run; `node_id` where a node is the reason. */
  failure: { kind: string; node_id?: string | undefined } | null;
  /** Of a successful run, by the checks of the experiment. */
  evals: Evals | null;
}

export type Outcome = 'equal' | 'changed' | 'failed' | 'unrecorded' | 'refused';

/** One difference of two outputs. A long value is the beginning of its JSON, with `…`. */
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
  /** There are more of them. */
  more: boolean;
}

/** The names of the checks that only the rehearsal, and that only the source run has passed. */
interface ChangedChecks {
  won: string[];
  lost: string[];
}

export interface Comparison {
  outcome: Outcome;
  /** Of the outputs; null unless both are successful, or the rehearsal alone is. */
  diff: OutputDiff | null;
  checks: ChangedChecks;
  /** Why it is not equal, where the outputs do not say it. */
  reason: string | null;
}

const MAX_DIFFERENCES = 50;
/** Characters of the JSON of one value, and of all values of a diff. */
const MAX_SHOWN = 1_000;
const MAX_SHOWN_IN_ALL = 16_000;

/**
 * What a rehearsal shows about its source run. A rehearsal that a missing record ended says nothing, nor one that was
 * refused money. A run that fails and did not fail before is `failed`; two failures are equal when they have the same
 * reason. A run without success passes no check.
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

/** For a run about which the experiment learns nothing. */
export const uncompared = (
  outcome: 'unrecorded' | 'refused',
  reason: string | null,
): Comparison => ({ outcome, diff: null, checks: { won: [], lost: [] }, reason });

const sameFailure = (one: EndedRun, other: EndedRun): boolean =>
  one.failure?.kind === other.failure?.kind &&
  one.failure?.node_id === other.failure?.node_id &&
  one.error === other.error;

/** Both are scored by the same checks, in the same order. */
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

/** The differences of two outputs, up to what is worth reading. */
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
 * A whole number that orders the runs of an experiment, the worst with the highest: failures, then runs with lost
 * checks, then changed ones, each with more lost checks and more differences before others.
 */
export function badnessOf({ outcome, checks, diff }: Comparison): number {
  const lost = Math.min(checks.lost.length, 999);
  const differences = Math.min(diff?.differences.length ?? 0, 999);
  const kind = outcome !== 'failed' && lost > 0 ? 3 : badness[outcome];
  return kind * 1_000_000 + lost * 1_000 + differences;
}
