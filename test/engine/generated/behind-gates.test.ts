import { beforeAll, expect, test } from '@jest/globals';
import type { Actor } from '#shared/people/actor.ts';
import { startEngine } from '#test/support/engine.ts';
import { useStage } from '#test/support/stage.ts';
import { soakTest } from '#test/support/soak.ts';
import { checkEffects, type Seen } from './behind-gates.ts';
import { type Case, runCase } from './case.ts';
import { startOutside } from './outside.ts';
import {
  gatedCases,
  mismatches,
  named,
  prepareGenerated,
  replayAll,
  seedOf,
  sideBySide,
} from './cases.ts';

const engine = useStage(startEngine);
const outside = useStage(startOutside);
let other: Actor;
beforeAll(async () => {
  other = await prepareGenerated(engine);
}, 60_000);

const { GRAPH_CASE, RUNS = '2000' } = process.env;
/** Always the same few cases beside the soak. */
const SEED = 880415017;

async function check(count: number, seed: number): Promise<void> {
  const total: Seen = { behind: 0, sent: 0, known: 0, certain: 0, onlyRejected: 0 };
  const wrong: string[] = [];
  const ran = new Map<string, Case>();
  await sideBySide(gatedCases(count, seed), async (each) => {
    const report = await runCase(engine, outside, other, each).catch((error: unknown) => {
      throw new Error(named(seed, each), { cause: error });
    });
    ran.set(report.runId, each);
    const { problems, seen } = await checkEffects(engine, outside, each, report);
    for (const key of Object.keys(total) as (keyof Seen)[]) total[key] += seen[key];
    if (problems.length > 0) wrong.push(`${problems.join('; ')} in ${named(seed, each)}`);
  });
  const { broken } = await replayAll(engine, seed, ran);
  expect([wrong, await mismatches(engine), broken]).toEqual([[], [], []]);
  // Few cases may not have all of it.
  if (GRAPH_CASE !== undefined || count < 100) return;
  expect(Object.values(total).every((found) => found > 0)).toBe(true);
}

test('what runs do behind gates was shown by them', () => check(20, SEED), 60_000);

soakTest('what many runs do behind gates was shown by them', 1_800_000, () =>
  check(Number(RUNS), seedOf()),
);
