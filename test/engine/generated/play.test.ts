import { beforeAll, expect, test } from '@jest/globals';
import { play } from '#client/testing.ts';
import type { Actor } from '#shared/people/actor.ts';
import { worldOf } from '#test/graph/generated/world.ts';
import { startEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';
import { type Case, runCase } from './case.ts';
import { named, prepareGenerated, seedOf, sideBySide } from './cases.ts';
import { startOutside } from './outside.ts';
import { playCases } from './play-cases.ts';
import { type Compared, compareWithPlay } from './play-compare.ts';
import { playOptions } from './play-options.ts';

const engine = useStage(startEngine);
const outside = useStage(startOutside);
let other: Actor;
beforeAll(async () => {
  other = await prepareGenerated(engine);
}, 60_000);

const { GRAPH_CASE, RUNS = '1000' } = process.env;
/** Always the same few cases beside the soak. */
const SEED = 271828182;

/** Runs a case on the service until its end or its first failure, and in this process. */
async function compareCase(each: Case): Promise<Compared & { status: string }> {
  const { run, reference, connected, differences } = await runCase(
    ...([engine, outside, other, each, false] as const),
  );
  const { input, salt } = each;
  const played = await play(connected, playOptions(connected, input, worldOf(salt)));
  const compared = compareWithPlay(run, played, reference);
  return { ...compared, status: run.status, problems: [...differences, ...compared.problems] };
}

async function check(count: number, seed: number): Promise<void> {
  const wrong: string[] = [];
  const total = { steps: 0, success: 0, failed: 0, whole: 0 };
  await sideBySide(playCases(count, seed), async (each) => {
    const found = await compareCase(each).catch((error: unknown) => String(error));
    if (typeof found === 'string') {
      wrong.push(`${found} in ${named(seed, each)}`);
      return;
    }
    const { problems, steps, whole, status } = found;
    total.steps += steps;
    if (whole) total.whole += 1;
    if (status === 'success' || status === 'failed') total[status] += 1;
    if (problems.length > 0) wrong.push(`${problems.join('; ')} in ${named(seed, each)}`);
  });
  expect(wrong).toEqual([]);
  if (GRAPH_CASE !== undefined) return;
  expect(total.success).toBeGreaterThan(count / 2);
  expect(total.whole).toBeGreaterThan(count / 2);
  expect(total.steps).toBeGreaterThan(count * 5);
  expect(total.failed).toBeGreaterThan(0);
}

test(
  'a generated graph gives in the process what it gives on the service',
  () => check(20, SEED),
  60_000,
);

soakTest('many generated graphs give in the process what they give on the service', 1_800_000, () =>
  check(Number(RUNS), seedOf()),
);
