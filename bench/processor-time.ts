import type { Stack } from './stack.ts';

/** Adds up the processor time that each part uses while some work runs. */
export interface ProcessorTime {
  /** Counts the time that the parts use during `work`, and passes on its result. */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** The time of all parts for each of `runs` runs, in ms. */
  totalPerRun(runs: number): number;
  /** The same for each part that takes at least half a millisecond, as text. */
  perRun(runs: number): string;
}

/** `partsCpu` returns the time used so far, in ms; the time of this process is added as `client`. */
export function processorTime(partsCpu: Stack['cpu']): ProcessorTime {
  // Clients use processor time too: on a saturated machine they slow both sides.
  const cpu = (): Record<string, number> => {
    const { user, system } = process.cpuUsage();
    return { ...partsCpu(), client: (user + system) / 1_000 };
  };
  const spent = new Map<string, number>();
  return {
    async during(work) {
      const before = cpu();
      const result = await work();
      for (const [part, ms] of Object.entries(cpu())) {
        spent.set(part, (spent.get(part) ?? 0) + ms - (before[part] ?? 0));
      }
      return result;
    },
    totalPerRun: (runs) => [...spent.values()].reduce((sum, ms) => sum + ms, 0) / runs,
    perRun: (runs) =>
      [...spent]
        .filter(([, ms]) => ms / runs >= 0.5)
        .map(([part, ms]) => `${part} ${(ms / runs).toFixed(1)} ms`)
        .join(', '),
  };
}
