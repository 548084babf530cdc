import { chain } from '../graphs.ts';
import { atMost, compare, figure, type Result, undisturbed } from '../result.ts';
import type { Stack } from '../stack.ts';
import { flood, interleave, timed } from '../statistics.ts';

/** One run of three tool nodes from the trigger to the frame that says it is complete, alone on the machine. */
export async function latency({ service, bare }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const ours = () => timed(() => service.run(workflow));
  const baseline = () => timed(() => bare.run(3));
  await flood(20, 1, ours);
  await flood(20, 1, baseline);
  const samples = await interleave({ count: 150, least: 30, budgetMs: 30_000 }, ours, baseline);
  const [our, their] = [
    samples.map((sample) => sample.ours),
    samples.map((sample) => sample.baseline),
  ];
  return [
    compare({
      measure: '3-node run, end to end',
      unit: 'ms',
      ours: figure(our),
      baseline: figure(their),
      bound: atMost(1.3),
      notes: [undisturbed(our, their)],
    }),
  ];
}
