import { chain } from '../graphs.ts';
import { atLeast, compare, figure, type Result } from '../result.ts';
import type { Stack } from '../stack.ts';
import { flood, interleave, median } from '../statistics.ts';

const inFlight = 30;
const runsPerRound = 150;
const rounds = 5;

/** Runs of three tool nodes per second with thirty in flight. */
export async function throughput({ service, bare, cpu }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const spent = { ours: counter(cpu), baseline: counter(cpu) };
  const round = async (work: () => Promise<unknown>): Promise<number> =>
    (runsPerRound * 1_000) / (await flood(runsPerRound, inFlight, work));
  const ours = () => spent.ours.during(() => round(() => service.run(workflow)));
  const baseline = () => spent.baseline.during(() => round(() => bare.run(3)));
  await flood(2 * inFlight, inFlight, () => service.run(workflow));
  await flood(2 * inFlight, inFlight, () => bare.run(3));
  const samples = await interleave({ count: rounds, least: 3, budgetMs: 150_000 }, ours, baseline);
  const total = samples.length * runsPerRound;
  return [
    compare({
      measure: `runs per second, ${inFlight} in flight`,
      unit: 'runs/s',
      ours: figure(samples.map((sample) => sample.ours)),
      baseline: figure(samples.map((sample) => sample.baseline)),
      // Adjacent iterations ran under the same load; the medians of each side separately may not have.
      value: median(samples.map((sample) => sample.ours / sample.baseline)),
      bound: atLeast(0.7, 0.9),
      notes: [
        `processor time per run, ours: ${spent.ours.perRun(total)}`,
        `baseline: ${spent.baseline.perRun(total)}`,
      ],
    }),
  ];
}

function counter(partsCpu: Stack['cpu']) {
  // Clients use processor time too: on a saturated machine they slow both sides.
  const cpu = (): Record<string, number> => {
    const { user, system } = process.cpuUsage();
    return { ...partsCpu(), client: (user + system) / 1_000 };
  };
  const spent = new Map<string, number>();
  return {
    async during<T>(work: () => Promise<T>): Promise<T> {
      const before = cpu();
      const result = await work();
      for (const [part, ms] of Object.entries(cpu())) {
        spent.set(part, (spent.get(part) ?? 0) + ms - (before[part] ?? 0));
      }
      return result;
    },
    perRun: (runs: number): string =>
      [...spent]
        .filter(([, ms]) => ms / runs >= 0.5)
        .map(([part, ms]) => `${part} ${(ms / runs).toFixed(1)} ms`)
        .join(', '),
  };
}
