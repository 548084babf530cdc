import type { ComparedRun } from '#client/index.ts';

/** The result of a run, the worst first. */
export const results = ['failed', 'broken', 'changed', 'equal', 'none'] as const;
export type Result = (typeof results)[number];

export function resultOf({ outcome, checks }: Pick<ComparedRun, 'outcome' | 'checks'>): Result {
  if (outcome === 'failed') return 'failed';
  if (checks.lost.length > 0) return 'broken';
  return outcome === 'unrecorded' || outcome === 'refused' ? 'none' : outcome;
}

/** Runs with exactly the same change, in the order of the first of them. */
export interface RunGroup {
  result: Result;
  runs: [ComparedRun, ...ComparedRun[]];
}

export function groupsOf(runs: readonly ComparedRun[]): RunGroup[] {
  const groups = new Map<string, RunGroup>();
  for (const run of runs) {
    const { outcome, reason, diff, checks } = run;
    const key = JSON.stringify([outcome, reason, diff, checks]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { result: resultOf(run), runs: [run] });
    else known.runs.push(run);
  }
  return [...groups.values()];
}

/** The mean difference per run, candidate minus base; undefined if no run has a figure. */
export function meanDifference(
  runs: readonly ComparedRun[],
  of: 'cost_usd' | 'duration_ms',
): number | undefined {
  const pairs = runs.flatMap((run) => run[of] ?? []);
  if (pairs.length === 0) return undefined;
  return pairs.reduce((sum, { base, candidate }) => sum + candidate - base, 0) / pairs.length;
}
