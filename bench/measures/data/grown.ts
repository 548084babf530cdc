import type { Processes } from '#bench/processes.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { interleave, median, percentile, type Sample, timed } from '#bench/statistics.ts';
import { bringUp, list, pageAt, questions, type Records } from './records.ts';

const few = 1_000_000;
const many = 10_000_000;
const deepPage = 300;
const bound = atMost(1.3, 1.1);
const pageSamples = { count: 1_000, least: 1_000, budgetMs: 0 };
const screening = { count: 10, least: 10, budgetMs: 0 };
/** Combinations of filters that are measured again with more samples. */
const suspects = 10;
const suspectSamples = { count: 300, least: 300, budgetMs: 0 };

interface Sides {
  large: Records;
  little: Records;
}

/**
 * Whether lists stay as fast when a table grows tenfold: ten million and one million records, in separate databases on
 * one server, each behind its own API process. The larger one needs about 30 GB of disk, and most of an hour to fill.
 */
export async function grown(stack: Stack, processes: Processes): Promise<Result[]> {
  const little = await bringUp(stack, processes, 'records_million', few);
  const large = await bringUp(stack, processes, 'records_ten_million', many);
  const sides = { large, little };
  const results: Result[] = [];
  for (const [name, count] of [
    ['first page', 1],
    [`page ${deepPage}`, deepPage],
  ] as const) {
    const paths = [await pageAt(large, count), await pageAt(little, count)] as const;
    const samples = await sample(sides, paths, pageSamples);
    results.push(compareTails(`list records, ${name}, 10,000,000 / 1,000,000, p95`, samples, []));
  }
  return [...results, ...(await filters(sides))];
}

type Limits = Parameters<typeof interleave>[0];

const sample = (
  { large, little }: Sides,
  [ours, baseline]: readonly [ours: string, baseline: string],
  limits: Limits,
): Promise<Sample[]> =>
  interleave(
    limits,
    () => timed(() => list(large, ours)),
    () => timed(() => list(little, baseline)),
  );

/**
 * The first page and the next one, for each filter and each pair of filters, first roughly and then again for the
 * slowest.
 */
async function filters(sides: Sides): Promise<Result[]> {
  const screened: { question: string; samples: Sample[] }[] = [];
  for (const question of questions()) {
    for (const limit of [25, 100]) {
      const asked = `${question}&limit=${limit}`;
      screened.push({ question: asked, samples: await turned(sides, asked, screening) });
    }
  }
  const slowest = [...screened]
    .sort((a, b) => tails(b.samples).ours - tails(a.samples).ours)
    .slice(0, suspects);
  const again: typeof screened = [];
  for (const { question } of slowest) {
    again.push({ question, samples: await turned(sides, question, suspectSamples) });
  }
  again.sort((a, b) => tails(b.samples).ours - tails(a.samples).ours);
  const [worst] = again;
  return [
    compareTails(
      'list records, every filter and two filters, 10,000,000 / 1,000,000, p95',
      screened.flatMap(({ samples }) => samples),
      [`${screened.length} combinations, ${screening.count * 2} samples of each`],
    ),
    compareTails(
      'list records, slowest filter or two, 10,000,000 / 1,000,000, p95',
      worst?.samples ?? [],
      again.slice(0, 3).map(({ question, samples }) => {
        const { ours, baseline } = tails(samples);
        return `${question}: ${ours.toFixed(1)} / ${baseline.toFixed(1)} ms`;
      }),
    ),
  ];
}

/** Samples of the first page of a list and of the page after it. */
async function turned(sides: Sides, question: string, limits: Limits): Promise<Sample[]> {
  const path = `/v1/entities?${question}`;
  const after = async (records: Records): Promise<string> => {
    const { next_cursor } = (await list(records, path)).pagination;
    return next_cursor === null ? path : `${path}&cursor=${next_cursor}`;
  };
  const next = [await after(sides.large), await after(sides.little)] as const;
  return [...(await sample(sides, [path, path], limits)), ...(await sample(sides, next, limits))];
}

const tails = (samples: readonly Sample[]): Sample => ({
  ours: percentile(
    samples.map((each) => each.ours),
    95,
  ),
  baseline: percentile(
    samples.map((each) => each.baseline),
    95,
  ),
});

function compareTails(measure: string, samples: readonly Sample[], notes: string[]): Result {
  const { ours, baseline } = tails(samples);
  const sides = [samples.map((each) => each.ours), samples.map((each) => each.baseline)] as const;
  const medians = median(sides[0]) / median(sides[1]);
  return compare({
    measure,
    unit: 'ms',
    ours: figure(sides[0]),
    baseline: figure(sides[1]),
    value: ours / baseline,
    bound,
    notes: [`ratio of the medians ${medians.toFixed(2)}; both are ours`, ...notes],
  });
}
