import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import fc from 'fast-check';
import type { Actor } from '#shared/people/actor.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { newId } from '#shared/crypto/ids.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { childWorkflow, randomGraphOf, randomInput } from '#test/graph/generated/build.ts';
import { setting } from '#test/support/settings.ts';
import { type Case, hasContinued, historiesOf, type Report, runCase } from './case.ts';
import { startOutside } from './outside.ts';
import { startEngineOfShortHistories } from './short-histories.ts';
import { useStage } from '#test/support/stage.ts';

/** Cases at the same time. */
const AT_ONCE = 6;
const MIN_NODES = 8;
const MAX_NODES = 40;

const engine = useStage(startEngineOfShortHistories);
const outside = useStage(startOutside);
let other: Actor;
beforeAll(async () => {
  const id = newId('member');
  await engine.db.query(sql.unsafe`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${id}, ${engine.actor.workspaceId}, 'Other', 'other@example.com', 'editor', 'active')`);
  other = { ...engine.actor, id, name: 'Other', role: 'editor' };
  const refused = { tool: 'send_email', allowed_workflow_ids: ['wf_other'] };
  const { name, graph, input_schema } = childWorkflow;
  const childId = await engine.define(graph, name);
  await updateWorkflow(engine.db, engine.actor, childId, { input_schema });
  await replacePolicies(engine.db, engine.actor, { ...unrestricted, tools: [refused] });
}, 60_000);

/** `RUNS` sets the number of cases. A failure prints its seed and its number, which repeat it. */
const { GRAPH_SEED, GRAPH_CASE, RUNS = '40' } = process.env;
const seed = GRAPH_SEED === undefined ? Date.now() % 1_000_000_000 : Number(GRAPH_SEED);

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

/** Does the same for all, some at a time; the results in their order. */
async function sideBySide<Item, Result>(
  all: readonly Item[],
  act: (item: Item) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < all.length) {
      const at = next;
      next += 1;
      results[at] = await act(all[at]!);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

const named = ({ name, ...rest }: Case): string =>
  `GRAPH_SEED=${seed} GRAPH_CASE=${name.replace('case-', '')} ${JSON.stringify(rest)}`;

test('runs of generated graphs end like the reference, and all their executions can be replayed', async () => {
  const all = [...kept(), ...cases()];
  const report = async (each: Case): Promise<Report> => {
    try {
      return await runCase(engine, outside, other, each);
    } catch (error) {
      throw new Error(named(each), { cause: error });
    }
  };
  // One after the other, since others beside them would change their times.
  const reports = await sideBySide(kept(), report, 1);
  reports.push(...(await sideBySide(cases(), report)));
  const wrong = reports.flatMap(({ differences }, at) =>
    differences.length === 0 ? [] : [`${differences.join('; ')} in ${named(all[at]!)}`],
  );
  expect(wrong).toEqual([]);
  const histories = (await sideBySide(reports, ({ runId }) => historiesOf(engine, runId))).flat();
  const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
  const caseOf = new Map(reports.map(({ runId }, at) => [runId, all[at]!]));
  const broken: string[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle: bundle }, histories)) {
    if (result.error === undefined) continue;
    broken.push(`${result.error.message} in ${named(caseOf.get(result.workflowId)!)}`);
  }
  expect(broken).toEqual([]);
  if (GRAPH_CASE !== undefined) return;
  // The cases are not all easy ones.
  const count = (holds: (report: Report) => boolean): number => reports.filter(holds).length;
  expect(count(({ resumes }) => resumes > 0)).toBeGreaterThan(0);
  expect(count(({ fromLedger }) => fromLedger > 0)).toBeGreaterThan(0);
  expect(count(({ status }) => status === 'failed')).toBeGreaterThan(0);
  expect(histories.filter(hasContinued).length).toBeGreaterThan(0);
}, 600_000);
