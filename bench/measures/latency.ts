import { chain } from '../graphs.ts';
import { atMost, compareSamples, type Result } from '../result.ts';
import type { Stack } from '../stack.ts';
import { flood, interleave, timed } from '../statistics.ts';

/** One run of three tool nodes, from the trigger to the frame that reports completion, on an idle machine. */
export async function latency({ service, bare }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const ours = () => timed(() => service.run(workflow));
  const baseline = () => timed(() => bare.run(3));
  await flood(20, 1, ours);
  await flood(20, 1, baseline);
  const samples = await interleave({ count: 150, least: 30, budgetMs: 30_000 }, ours, baseline);
  return [
    compareSamples(samples, {
      measure: '3-node run, end to end',
      unit: 'ms',
      bound: atMost(1.3),
    }),
  ];
}
