/** Works for odd and even counts; NaN for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Interpolates between the two nearest ranks. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const rank = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(rank)] ?? Number.NaN;
  const above = sorted[Math.ceil(rank)] ?? Number.NaN;
  return below + (above - below) * (rank - Math.floor(rank));
}

export interface Sample {
  ours: number;
  baseline: number;
}

/**
 * Alternates the sides, and which of them is first, so that other load on the machine affects both equally. Ends after
 * `count` pairs, or after `budgetMs` once there are at least `least` pairs.
 */
export async function interleave(
  limits: { count: number; least: number; budgetMs: number },
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<Sample[]> {
  const end = performance.now() + limits.budgetMs;
  const samples: Sample[] = [];
  while (samples.length < limits.count) {
    if (samples.length >= limits.least && performance.now() > end) break;
    if (samples.length % 2 === 0) {
      const first = await ours();
      samples.push({ ours: first, baseline: await baseline() });
    } else {
      const first = await baseline();
      samples.push({ ours: await ours(), baseline: first });
    }
  }
  return samples;
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

export const now = (): number => performance.timeOrigin + performance.now();

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Runs `total` jobs with at most `inFlight` at once and returns how long all of them took, in ms. */
export async function flood(
  total: number,
  inFlight: number,
  job: () => Promise<unknown>,
): Promise<number> {
  let left = total;
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await job();
    }
  };
  return timed(() => Promise.all(Array.from({ length: inFlight }, lane)));
}
