import { expect, test } from '@jest/globals';
import { z } from 'zod';
import type { BudgetInput } from '#shared/contract/money/budget.ts';
import { createBudget, readBudget, updateBudget } from '#shared/db/money/budgets.ts';
import { sql } from '#shared/db/pool.ts';
import { FREE } from '#shared/money/spending.ts';
import { finishStep } from '#shared/db/steps/step-ends.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { expectLedgerToAgree } from '#test/support/money.ts';
import { raceRounds } from '#test/support/soak.ts';
import { beginAs, settleAs } from '#test/db/tool-step.ts';

// What is queued when a budget spends 80 % and 100 % of its limit. test/engine/alerts.test.ts has its delivery.

const engine = useEngine({ worker: false });

const budgetOf = async (input: Partial<BudgetInput> = {}) => {
  const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  const id = await createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: 1,
    ...input,
  });
  return { workflowId, id };
};
/** Prepares a run that costs this much, and ends when the returned function is called. */
const begun = async (workflowId: string, usd: number): Promise<() => Promise<void>> => {
  const runId = await engine.trigger(workflowId);
  await beginAs(engine, runId, { claim: 'c', stepKey: 'a', execution: 'e', cost: FREE });
  const spending = { costMicros: Math.round(usd * 1_000_000) };
  const step = { runId, stepKey: 'a', nodeId: 'a', claim: 'c', spending };
  await finishStep(engine.db, step, 1);
  return async () => void (await settleAs(engine, runId, 'e'));
};
const spend = async (workflowId: string, usd: number) => (await begun(workflowId, usd))();
/** The percent and the spent dollars of each alert of a budget, oldest first. */
const alertsOf = async (budgetId: string) => {
  const rows = await engine.db.any(sql.type(
    z.object({ percent: z.number(), spent: z.number(), window_start: z.string().nullable() }),
  )`
    SELECT (payload ->> 'percent')::int AS percent, (payload ->> 'spent_micros')::int / 1e6::float8 AS spent,
           payload ->> 'window_start' AS window_start
    FROM outbox WHERE run_id = ${budgetId} AND kind = 'alert' ORDER BY id`);
  return rows.map(({ percent, spent }) => [percent, spent]);
};

test('80 % and 100 % of a limit are alerted once each, with and without an estimate', async () => {
  for (const reservation_estimate_usd of [undefined, 0.01]) {
    const { workflowId, id } = await budgetOf({ limit_usd: 1, reservation_estimate_usd });
    await spend(workflowId, 0.799999);
    expect(await alertsOf(id)).toEqual([]);
    await spend(workflowId, 0.000001);
    expect(await alertsOf(id)).toEqual([[80, 0.8]]);
    await spend(workflowId, 0.1);
    expect(await alertsOf(id)).toHaveLength(1);
    const late = await begun(workflowId, 0.05);
    await spend(workflowId, 0.1);
    await late();
    expect(await alertsOf(id)).toEqual([
      [80, 0.8],
      [100, 1],
    ]);
  }
  await expectLedgerToAgree(engine.db);
});

test('a cost that passes both is one alert, and one without alerts has none until they are on', async () => {
  const { workflowId, id } = await budgetOf({ window: 'total', alerts: false });
  const [first, second] = [await begun(workflowId, 2), await begun(workflowId, 0.5)];
  await first();
  expect(await alertsOf(id)).toEqual([]);
  await updateBudget(engine.db, engine.actor, id, { alerts: true });
  await second();
  expect(await alertsOf(id)).toEqual([[100, 2.5]]);
});

test('a cost that comes after the end of its run is alerted when it is booked', async () => {
  const { workflowId, id } = await budgetOf();
  const runId = await engine.trigger(workflowId);
  await beginAs(engine, runId, { claim: 'c', stepKey: 'a', execution: 'e', cost: FREE });
  await settleAs(engine, runId, 'e');
  expect(await alertsOf(id)).toEqual([]);
  const spending = { costMicros: 900_000 };
  await finishStep(engine.db, { runId, stepKey: 'a', nodeId: 'a', claim: 'c', spending }, 1);
  expect(await alertsOf(id)).toEqual([[80, 0.9]]);
});

test('the next window is alerted again, and one that has passed is not', async () => {
  const { workflowId, id } = await budgetOf();
  await spend(workflowId, 0.9);
  const late = await begun(workflowId, 0.5);
  // The window with the first alert and the open run was a month ago.
  await engine.db.query(sql.type(z.object({}))`
    WITH moved AS (
      UPDATE budgets SET window_start = window_start - interval '1 month', alerted_window = alerted_window - interval '1 month'
      WHERE id = ${id})
    UPDATE budget_holds SET window_start = window_start - interval '1 month' WHERE budget_id = ${id}`);
  await late();
  expect(await alertsOf(id)).toEqual([[80, 0.9]]);
  await spend(workflowId, 0.85);
  expect(await alertsOf(id)).toEqual([
    [80, 0.9],
    [80, 0.85],
  ]);
});

test('another limit is alerted again, and another name is not', async () => {
  const { workflowId, id } = await budgetOf({ limit_usd: 1 });
  const last = await begun(workflowId, 0.15);
  await spend(workflowId, 0.85);
  await updateBudget(engine.db, engine.actor, id, { name: 'Renamed' });
  await spend(workflowId, 0.01);
  expect(await alertsOf(id)).toHaveLength(1);
  await updateBudget(engine.db, engine.actor, id, { limit_usd: 1.2 });
  await last();
  expect(await alertsOf(id)).toEqual([
    [80, 0.85],
    [80, 1.01],
  ]);
  const { alerts, etag } = await readBudget(engine.db, {
    workspaceId: engine.actor.workspaceId,
    budgetId: id,
  });
  await updateBudget(engine.db, engine.actor, id, { alerts: false });
  const changed = await readBudget(engine.db, {
    workspaceId: engine.actor.workspaceId,
    budgetId: id,
  });
  expect([alerts, changed.alerts, changed.etag === etag]).toEqual([true, false, false]);
});

test('of many runs that end at once, one alerts 80 % and one 100 %', async () => {
  for (let round = 0; round < raceRounds(8); round += 1) {
    const { workflowId, id } = await budgetOf({ limit_usd: 1 });
    const ends = await Promise.all(Array.from({ length: 20 }, () => begun(workflowId, 0.05)));
    await Promise.all(ends.map((end) => end()));
    expect(await alertsOf(id)).toEqual([
      [80, 0.8],
      [100, 1],
    ]);
  }
  await expectLedgerToAgree(engine.db);
});
