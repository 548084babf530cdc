import { describe, expect, test } from '@jest/globals';
import type { UsageBreakdown } from '#shared/contract/money/usage.ts';
import { sql } from '#shared/db/pool.ts';
import { finishStep, recordStepError, type StepSpending } from '#shared/db/steps/step-ends.ts';
import { foldUsage } from '#shared/db/money/usage.ts';
import { readUsageBreakdown } from '#shared/db/money/usage-breakdown.ts';
import { newId } from '#shared/crypto/ids.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beginAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const run = (statement: ReturnType<typeof sql.fragment>) =>
  engine.db.query(sql.unsafe`${statement}`);
const addWorkspace = async (): Promise<string> => {
  const id = newId('workspace');
  await run(sql.fragment`INSERT INTO workspaces (id, name) VALUES (${id}, 'W')`);
  return id;
};
const addWorkflow = async (workspaceId: string, name: string): Promise<string> => {
  const id = newId('workflow');
  await run(sql.fragment`
    INSERT INTO workflows (id, workspace_id, name) VALUES (${id}, ${workspaceId}, ${name})`);
  await run(sql.fragment`
    INSERT INTO workflow_versions (workflow_id, version, graph) VALUES (${id}, 1, '{}')`);
  return id;
};

/** The columns of a stored step. */
interface TestStep {
  cost?: number;
  model?: string;
  usage?: [number, number];
  unpriced?: boolean;
}

/** A finished run, with its steps and its daily usage. */
async function addRun(
  workspaceId: string,
  workflowId: string,
  { at, steps = [] }: { at: string; steps?: TestStep[] },
): Promise<string> {
  const id = newId('run');
  const cost = steps.reduce((sum, step) => sum + (step.cost ?? 0), 0);
  await run(sql.fragment`
    INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, cost_micros, created_at,
                      finished_at)
    VALUES (${id}, ${workspaceId}, ${workflowId}, 1, 'success', 'manual', '{}', ${cost}, ${at}, ${at})`);
  await run(sql.fragment`
    INSERT INTO usage_deltas (workspace_id, day, runs, cost_micros)
    VALUES (${workspaceId}, (${at}::timestamptz AT TIME ZONE 'UTC')::date, 1, ${cost})`);
  for (const [n, { cost: micros = 0, model = null, usage, unpriced = false }] of steps.entries()) {
    const tokens = usage && JSON.stringify({ input_tokens: usage[0], output_tokens: usage[1] });
    await run(sql.fragment`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, status, cost_micros, model, usage, unpriced)
      VALUES (${id}, ${`s${n}`}, 'n', 'N', 'agent', 'success', ${micros}, ${model}, ${tokens ?? null}::json, ${unpriced})`);
  }
  return id;
}

const at = '2026-03-05T15:00:00.000Z';
const read = (workspaceId: string, days = 30) =>
  readUsageBreakdown(engine.db, { workspaceId, days, at });

describe('the breakdown', () => {
  test('of a workspace without runs is empty, with every day up to today', async () => {
    const { by_day, ...rest } = await read(await addWorkspace(), 7);
    expect(rest).toEqual({
      since: '2026-02-27T00:00:00.000Z',
      until: at,
      by_workflow: [],
      by_model: [],
    });
    expect(by_day).toEqual(
      ['02-27', '02-28', '03-01', '03-02', '03-03', '03-04', '03-05'].map((day) => ({
        date: `2026-${day}`,
        runs: 0,
        cost_usd: 0,
      })),
    );
  });

  test('lists workflows and models by cost, and counts only its workspace', async () => {
    const [workspaceId, other] = [await addWorkspace(), await addWorkspace()];
    const [cheap, dear] = [
      await addWorkflow(workspaceId, 'Cheap'),
      await addWorkflow(workspaceId, 'Dear'),
    ];
    const day = '2026-03-01T08:00:00Z';
    await addRun(workspaceId, cheap, {
      at: day,
      steps: [{ cost: 2, model: 'a/small', usage: [10, 3] }, {}],
    });
    await addRun(workspaceId, cheap, {
      at: day,
      steps: [{ model: 'x/free', usage: [7, 1], unpriced: true }, { cost: 5 }],
    });
    await addRun(workspaceId, dear, {
      at: '2026-03-02T08:00:00Z',
      steps: [
        { cost: 1_500_000, model: 'a/large', usage: [100, 30] },
        { cost: 1, model: 'a/small', usage: [1, 1] },
      ],
    });
    await addRun(other, await addWorkflow(other, 'Theirs'), {
      at: day,
      steps: [{ cost: 9_000_000, model: 'a/large', usage: [1, 1] }],
    });
    const before = await read(workspaceId);
    expect(before.by_workflow).toEqual([
      { workflow_id: dear, name: 'Dear', runs: 1, cost_usd: 1.500001, unpriced_steps: 0 },
      { workflow_id: cheap, name: 'Cheap', runs: 2, cost_usd: 0.000007, unpriced_steps: 1 },
    ]);
    const model = (
      name: string | null,
      [steps, input_tokens, output_tokens, cost_usd, unpriced_steps]: number[],
    ) => ({ model: name, steps, input_tokens, output_tokens, cost_usd, unpriced_steps });
    expect(before.by_model).toEqual([
      model('a/large', [1, 100, 30, 1.5, 0]),
      // The cost of models that returned no answer.
      model(null, [1, 0, 0, 0.000005, 0]),
      model('a/small', [2, 11, 4, 0.000003, 0]),
      model('x/free', [1, 7, 1, 0, 1]),
    ]);
    expect(before.by_day.filter(({ runs }) => runs > 0)).toEqual([
      { date: '2026-03-01', runs: 2, cost_usd: 0.000007 },
      { date: '2026-03-02', runs: 1, cost_usd: 1.500001 },
    ]);
    while ((await foldUsage(engine.db)) > 0);
    expect(await read(workspaceId)).toEqual(before);
  });

  test('has the requested number of whole UTC days, including today', async () => {
    const workspaceId = await addWorkspace();
    const workflowId = await addWorkflow(workspaceId, 'W');
    for (const [time, cost] of [
      ['2026-03-03T23:59:59.999Z', 1],
      ['2026-03-04T00:00:00.000Z', 2],
      ['2026-03-05T23:59:59.999Z', 4],
      ['2026-03-06T00:00:00.000Z', 8],
    ] as const) {
      await addRun(workspaceId, workflowId, { at: time, steps: [{ cost, model: 'a/b' }] });
    }
    const costs = async (days: number) => {
      const { since, by_workflow, by_model, by_day } = await read(workspaceId, days);
      const all = [by_workflow, by_model, by_day].map(sumOf);
      return [since, ...all];
    };
    expect(await costs(1)).toEqual(['2026-03-05T00:00:00.000Z', 4, 4, 4]);
    expect(await costs(2)).toEqual(['2026-03-04T00:00:00.000Z', 6, 6, 6]);
    expect(await costs(90)).toEqual(['2025-12-06T00:00:00.000Z', 7, 7, 7]);
  });

  test('has fifty rows, and one more for the rest', async () => {
    const workspaceId = await addWorkspace();
    for (let n = 1; n <= 50; n += 1) {
      const workflowId = await addWorkflow(workspaceId, `W${n}`);
      const steps = [{ cost: 1_000 * n, model: `m/${n}`, usage: [n, 1] as [number, number] }];
      await addRun(workspaceId, workflowId, { at, steps });
    }
    const fifty = await read(workspaceId);
    expect([fifty.by_workflow.length, fifty.by_model.length]).toEqual([50, 50]);
    expect([fifty.by_workflow[0]?.name, fifty.by_workflow[49]?.name]).toEqual(['W50', 'W1']);
    expect([fifty.by_model[0]?.model, fifty.by_model[49]?.model]).toEqual(['m/50', 'm/1']);
    const more = await addWorkflow(workspaceId, 'W0');
    for (const model of ['m/0', 'm/00']) {
      await addRun(workspaceId, more, { at, steps: [{ cost: 1, model, usage: [5, 5] }] });
    }
    await addRun(workspaceId, await addWorkflow(workspaceId, 'Free'), { at });
    const cut = await read(workspaceId);
    expect(cut.by_workflow.slice(0, 50)).toEqual(fifty.by_workflow);
    expect(cut.by_workflow.slice(50)).toEqual([
      { workflow_id: null, name: 'other', runs: 3, cost_usd: 0.000002, unpriced_steps: 0 },
    ]);
    expect(cut.by_model.slice(0, 50)).toEqual(fifty.by_model);
    expect(cut.by_model.slice(50)).toEqual([
      {
        model: 'other',
        steps: 2,
        input_tokens: 10,
        output_tokens: 10,
        cost_usd: 0.000002,
        unpriced_steps: 0,
      },
    ]);
  });

  test('keeps deleted runs by day, but not by workflow or model', async () => {
    const workspaceId = await addWorkspace();
    const workflowId = await addWorkflow(workspaceId, 'W');
    const gone = await addRun(workspaceId, workflowId, { at, steps: [{ cost: 3, model: 'a/b' }] });
    await addRun(workspaceId, workflowId, { at, steps: [{ cost: 4, model: 'a/b' }] });
    await run(sql.fragment`DELETE FROM runs WHERE id = ${gone}`);
    const { by_workflow, by_model, by_day } = await read(workspaceId, 1);
    expect([by_workflow, by_model, by_day].map(sumOf)).toEqual([4, 4, 7]);
  });
});

const sumOf = (rows: readonly { cost_usd: number }[]): number =>
  rows.reduce((sum, { cost_usd }) => sum + Math.round(cost_usd * 1e6), 0);
const totals = ({ by_workflow, by_model, by_day }: UsageBreakdown): number[] =>
  [by_workflow, by_model, by_day].map(sumOf);

test('all three lists add up to the same total during writes', async () => {
  const { workspaceId } = engine.actor;
  const workflows = await Promise.all(
    ['A', 'B', 'C'].map((name) => engine.define({ nodes: [echo('a')], edges: [] }, name)),
  );
  const begin = (runId: string, stepKey: string) =>
    beginAs(engine, runId, { stepKey, kind: 'agent' });
  let booked = 0;
  const spend = async (runId: string, stepKey: string, n: number): Promise<void> => {
    await begin(runId, stepKey);
    const end = (spending: StepSpending) => ({
      runId,
      stepKey,
      nodeId: 'a',
      claim: 'c',
      spending,
    });
    const failure = { message: 'no', retryable: true, definite: false, maxAttempts: 3 };
    if (n % 3 === 0) {
      await recordStepError(engine.db, end({ costMicros: 7 }), failure);
      booked += 7;
      if (n % 2 === 0) return;
      await begin(runId, stepKey);
    }
    const usage = { input_tokens: 2, output_tokens: 1 };
    await finishStep(engine.db, end({ costMicros: 11, model: `m/${n % 4}`, usage }), 1);
    booked += 11;
  };
  let writing = true;
  const write = async (workflowId: string): Promise<void> => {
    for (let n = 0; n < 25; n += 1) {
      const runId = await engine.trigger(workflowId);
      await Promise.all(['a', 'b', 'c'].map((stepKey, index) => spend(runId, stepKey, n + index)));
    }
  };
  let reads = 0;
  const watch = async (): Promise<void> => {
    while (writing) {
      const least = booked;
      const seen = await readUsageBreakdown(engine.db, { workspaceId, days: 2 });
      const [sum = 0] = totals(seen);
      expect(totals(seen)).toEqual([sum, sum, sum]);
      expect(sum).toBeGreaterThanOrEqual(least);
      reads += 1;
    }
  };
  const fold = async (): Promise<void> => {
    while (writing) await foldUsage(engine.db, 5);
  };
  const background = [watch(), watch(), fold()];
  await Promise.all(workflows.map(write));
  writing = false;
  await Promise.all(background);
  const last = await readUsageBreakdown(engine.db, { workspaceId, days: 2 });
  expect(totals(last)).toEqual([booked, booked, booked]);
  expect(last.by_workflow.map(({ runs }) => runs)).toEqual([25, 25, 25]);
  expect(reads).toBeGreaterThan(20);
}, 60_000);
