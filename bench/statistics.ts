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

interface Limits {
  count: number;
  least: number;
  budgetMs: number;
}

/**
 * Calls each side once per round. Every round starts with the next side, so that other load on the machine affects all
 * equally. Ends after `count` rounds, or after `budgetMs` once there are at least `least` rounds. Returns the rounds,
 * each with one value per side, in the order of the sides.
 */
export async function alternate(
  limits: Limits,
  sides: readonly (() => Promise<number>)[],
): Promise<number[][]> {
  const end = performance.now() + limits.budgetMs;
  const rounds: number[][] = [];
  while (rounds.length < limits.count) {
    if (rounds.length >= limits.least && performance.now() > end) break;
    const first = rounds.length % sides.length;
    const round = new Array<number>(sides.length).fill(Number.NaN);
    const entries = [...sides.entries()];
    for (const [index, side] of [...entries.slice(first), ...entries.slice(0, first)]) {
      round[index] = await side();
    }
    rounds.push(round);
  }
  return rounds;
}

/** `alternate` for two sides. */
export async function interleave(
  limits: Limits,
  ours: () => Promise<number>,
  baseline: () => Promise<number>,
): Promise<Sample[]> {
  const rounds = await alternate(limits, [ours, baseline]);
  return rounds.map(([first = Number.NaN, second = Number.NaN]) => ({
    ours: first,
    baseline: second,
  }));
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
