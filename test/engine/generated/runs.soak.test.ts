import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Actor } from '#shared/people/actor.ts';
import { randomGraphOf, randomInput } from '#test/graph/generated/build.ts';
import { evidenceText, verifyText } from '#test/support/evidence.ts';
import { type Case, hasContinued, type Report, runCase } from './case.ts';
import { named, prepareGenerated, replayAll, seedOf, sideBySide } from './cases.ts';
import { startOutside } from './outside.ts';
import { startEngineOfShortHistories } from './short-histories.ts';
import { useStage } from '#test/support/stage.ts';

const MIN_NODES = 8;
const MAX_NODES = 40;

const engine = useStage(startEngineOfShortHistories);
const outside = useStage(startOutside);
let other: Actor;
beforeAll(async () => {
  other = await prepareGenerated(engine);
}, 60_000);

/** `RUNS` sets the number of cases. A failure prints its seed and its number, which repeat it. */
const { GRAPH_CASE, RUNS = '40' } = process.env;
const seed = seedOf();

function cases(): Case[] {
  const graphs = fc.tuple(
    randomGraphOf(MIN_NODES, MAX_NODES),
    randomInput,
    fc.nat({ max: 10_000 }),
  );
  return fc
    .sample(graphs, { numRuns: Number(RUNS), seed })
    .map(([graph, input, salt], at) => ({ name: `case-${at}`, graph, input, salt }))
    .filter((_, at) => GRAPH_CASE === undefined || Number(GRAPH_CASE) === at);
}

/** Cases that a fault was found with, as a failure prints them, also where the generator has changed. */
const kept = (): Case[] => {
  if (GRAPH_CASE !== undefined) return [];
  const folder = join(import.meta.dirname, 'kept');
  return readdirSync(folder).map((file) => ({
    name: file,
    ...(JSON.parse(readFileSync(join(folder, file), 'utf8')) as Omit<Case, 'name'>),
  }));
};

test('runs of generated graphs end like the reference, and all their executions can be replayed', async () => {
  const all = [...kept(), ...cases()];
  const report = async (each: Case): Promise<Report> => {
    try {
      return await runCase(engine, outside, other, each);
    } catch (error) {
      throw new Error(named(seed, each), { cause: error });
    }
  };
  // One after the other, since others beside them would change their times.
  const reports = await sideBySide(kept(), report, 1);
  reports.push(...(await sideBySide(cases(), report)));
  const wrong = reports.flatMap(({ differences }, at) =>
    differences.length === 0 ? [] : [`${differences.join('; ')} in ${named(seed, all[at]!)}`],
  );
  expect(wrong).toEqual([]);
  const ran = new Map(reports.map(({ runId }, at) => [runId, all[at]!]));
  const doubtful = await sideBySide([...ran], async ([runId, each]) => {
    const text = await evidenceText(engine.db, engine.actor.workspaceId, runId);
    const { problems } = verifyText(text);
    return problems.length === 0 ? [] : [{ problems, in: named(seed, each) }];
  });
  expect(doubtful.flat()).toEqual([]);
  const { histories, broken } = await replayAll(engine, seed, ran);
  expect(broken).toEqual([]);
  if (GRAPH_CASE !== undefined) return;
  // The cases are not all easy ones.
  const count = (holds: (report: Report) => boolean): number => reports.filter(holds).length;
  expect(count(({ resumes }) => resumes > 0)).toBeGreaterThan(0);
  expect(count(({ fromLedger }) => fromLedger > 0)).toBeGreaterThan(0);
  expect(count(({ status }) => status === 'failed')).toBeGreaterThan(0);
  expect(histories.filter(hasContinued).length).toBeGreaterThan(0);
}, 600_000);
