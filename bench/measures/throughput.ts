import { chain, ordinaryChain } from '#bench/graphs.ts';
import { processorTime } from '#bench/processor-time.ts';
import { atLeast, type Bound, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, interleave, median } from '#bench/statistics.ts';

const inFlight = 30;
const runsPerRound = 150;
const rounds = 5;

/** Runs of three nodes per second with thirty in flight, next to both kinds of bare runs. */
export async function throughput({ service, bare, cpu }: Stack): Promise<Result[]> {
  const short = await service.define('Three tools', chain(3));
  const ordinary = await service.define('Three agents', ordinaryChain(3));
  const sides = {
    'short steps': () => service.run(short),
    'ordinary steps': () => service.run(ordinary),
    activities: () => bare.run(3),
    'local activities': () => bare.run(3, 'local activities'),
  };
  for (const work of Object.values(sides)) await flood(2 * inFlight, inFlight, work);
  const against = async (
    ours: 'short steps' | 'ordinary steps',
    baseline: 'activities' | 'local activities',
    bound: Bound,
  ): Promise<Result> => {
    const spent = { ours: processorTime(cpu), baseline: processorTime(cpu) };
    const samples = await interleave(
      { count: rounds, least: 3, budgetMs: 150_000 },
      () => spent.ours.during(() => rate(sides[ours])),
      () => spent.baseline.during(() => rate(sides[baseline])),
    );
    const total = samples.length * runsPerRound;
    return compare({
      measure: `runs per second, 3 ${ours}, ${inFlight} in flight / bare Temporal, 3 ${baseline}`,
      unit: 'runs/s',
      ours: figure(samples.map((sample) => sample.ours)),
      baseline: figure(samples.map((sample) => sample.baseline)),
      // Adjacent iterations ran under the same load; the medians of each side separately may not have.
      value: median(samples.map((sample) => sample.ours / sample.baseline)),
      bound,
      notes: [
        `processor time per run, ours: ${spent.ours.perRun(total)}`,
        `baseline: ${spent.baseline.perRun(total)}`,
      ],
    });
  };
  return [
    await against('short steps', 'activities', atLeast(1.25, 2)),
    await against('short steps', 'local activities', atLeast(0.5, 0.8)),
    await against('ordinary steps', 'activities', atLeast(0.8, 0.9)),
  ];
}

const rate = async (work: () => Promise<unknown>): Promise<number> =>
  (runsPerRound * 1_000) / (await flood(runsPerRound, inFlight, work));
