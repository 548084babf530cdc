import { median, percentile, type Sample } from './statistics.ts';

export type Unit =
  | 'ms'
  | 'runs/s'
  | 'steps/s'
  | 'requests/s'
  | 'records/s'
  | 'events'
  | 'kB'
  | 'MB'
  | 's';

/** The result of one side. `p95` is set only where single samples are meaningful. */
export interface Figure {
  median: number;
  p95?: number;
  samples: number;
}

/** One line of the table. */
export interface Result {
  measure: string;
  unit: Unit;
  ours: Figure;
  /** If absent, the bound applies to our figure itself. */
  baseline?: Figure;
  /** The value that the bound applies to: ours / baseline, or our figure. */
  value: number;
  bound: Bound;
  met: boolean;
  notes: string[];
}

export interface Bound {
  at: 'most' | 'least';
  value: number;
  /** The target. */
  aim?: number;
}

export const atMost = (value: number, aim?: number): Bound => ({ at: 'most', value, aim });
export const atLeast = (value: number, aim?: number): Bound => ({ at: 'least', value, aim });

export const figure = (samples: readonly number[]): Figure => ({
  median: median(samples),
  p95: percentile(samples, 95),
  samples: samples.length,
});

/** An estimate of both sides on an idle machine, from the fastest tenth of the samples. */
function undisturbed(ours: readonly number[], baseline: readonly number[]): string {
  const [first, second] = [percentile(ours, 10), percentile(baseline, 10)];
  return `fastest tenth: ${first.toFixed(1)} / ${second.toFixed(1)} ms, ratio ${(first / second).toFixed(2)}`;
}

export const single = (value: number): Figure => ({ median: value, samples: 1 });

/** Compares medians, or uses `value` if it was computed in another way. */
export function compare(
  line: Omit<Result, 'value' | 'met' | 'notes'> & { value?: number; notes?: string[] },
): Result {
  const value =
    line.value ??
    (line.baseline === undefined ? line.ours.median : line.ours.median / line.baseline.median);
  const { bound } = line;
  // NaN meets no bound.
  const met = bound.at === 'most' ? value <= bound.value : value >= bound.value;
  return { ...line, value, met, notes: line.notes ?? [] };
}

/** Compares samples that were taken alternately, and puts the note about an idle machine first. */
export function compareSamples(
  samples: readonly Sample[],
  line: Omit<Parameters<typeof compare>[0], 'ours' | 'baseline'>,
): Result {
  const ours = samples.map((sample) => sample.ours);
  const baseline = samples.map((sample) => sample.baseline);
  return compare({
    ...line,
    ours: figure(ours),
    baseline: figure(baseline),
    notes: [undisturbed(ours, baseline), ...(line.notes ?? [])],
  });
}
