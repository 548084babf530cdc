import { chain } from '#bench/graphs.ts';
import { atMost, compareSamples, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, interleave, now, timed } from '#bench/statistics.ts';

const limits = { count: 150, least: 30, budgetMs: 30_000 };

/**
 * One run of three tool nodes on an idle machine, from the trigger to the frame that reports completion, and from the
 * trigger to the first step.
 */
export async function latency({ service, bare }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const ours = () => timed(() => service.run(workflow));
  const activities = () => timed(() => bare.run(3));
  const local = () => timed(() => bare.run(3, 'local activities'));
  for (const work of [ours, activities, local]) await flood(20, 1, work);
  return [
    compareSamples(await interleave(limits, ours, activities), {
      measure: '3 short steps, end to end / bare Temporal, 3 activities',
      unit: 'ms',
      bound: { ...atMost(0.75), aim: 0.5 },
    }),
    compareSamples(await interleave(limits, ours, local), {
      measure: '3 short steps, end to end / bare Temporal, 3 local activities',
      unit: 'ms',
      bound: { ...atMost(2), aim: 1.5 },
    }),
    await firstStep({ service, bare }, workflow),
  ];
}

/** On the same machine the times of the two clocks can be subtracted. */
async function firstStep(
  { service, bare }: Pick<Stack, 'service' | 'bare'>,
  workflow: string,
): Promise<Result> {
  const ours = async (): Promise<number> => {
    const triggered = now();
    const { steps } = await service.read(await service.run(workflow));
    const startedAt = steps?.[0]?.started_at;
    if (startedAt === undefined || startedAt === null) throw new Error('The run has no step');
    return Date.parse(startedAt) - triggered;
  };
  const baseline = async (): Promise<number> => {
    const started = now();
    const [first = Number.NaN] = await bare.run(1);
    return first - started;
  };
  return compareSamples(await interleave(limits, ours, baseline), {
    measure: 'trigger to first step begun / bare start to first activity',
    unit: 'ms',
    bound: { ...atMost(1.3), aim: 1.1 },
  });
}
