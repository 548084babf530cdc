import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { BudgetHistory, BudgetInput } from '#shared/contract/money/budget.ts';
import { readBudgetHistory } from '#shared/db/money/budget-history.ts';
import { createBudget, readBudget } from '#shared/db/money/budgets.ts';
import { sql } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { abandonRun, cancelRun } from '#shared/db/runs/ends.ts';
import { finishStep } from '#shared/db/steps/step-ends.ts';
import { newId } from '#shared/crypto/ids.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beginAs, settleAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const run = (statement: ReturnType<typeof sql.fragment>) =>
  engine.db.query(sql.unsafe`${statement}`);
const define = async () => engine.define({ nodes: [echo('a')], edges: [] });
const addBudget = async (workflowId: string, input: Partial<BudgetInput> = {}) =>
  createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: 1_000,
    ...input,
  });
const history = async (budgetId: string) =>
  readBudgetHistory(engine.db, { workspaceId: engine.actor.workspaceId, budgetId });
const micros = (usd: number): number => Math.round(usd * 1e6);
const sumOf = ({ days }: BudgetHistory): number =>
  days.reduce((sum, { spent_usd }) => sum + micros(spent_usd), 0);
const shown = ({ days }: BudgetHistory) => days.filter(({ spent_usd }) => spent_usd > 0);

/** The UTC date this many days ago. */
const dayAgo = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);

/** A hold that ended at noon this many days ago. */
const addHold = (budgetId: string, ago: number, spent: number, windowStart = '-infinity') =>
  run(sql.fragment`
    INSERT INTO budget_holds (budget_id, run_id, n, window_start, spent_micros, status, opened_at, closed_at)
    VALUES (${budgetId}, ${newId('run')}, 0, ${windowStart}, ${spent}, 'settled', ${dayAgo(ago)}::timestamptz,
            ${dayAgo(ago)}::timestamptz + interval '12 hours')`);

describe('the history of a budget', () => {
  test.each(['day', 'week', 'month'] as const)(
    'with a %s window has each of its days up to today, and only its spending',
    async (window) => {
      const id = await addBudget(await define(), { window, limit_usd: 5 });
      const { window_start, window_end, limit_usd, days } = await history(id);
      const { status } = await readBudget(engine.db, {
        workspaceId: engine.actor.workspaceId,
        budgetId: id,
      });
      expect([window_start, window_end, limit_usd]).toEqual([
        status.window_start,
        status.window_end,
        5,
      ]);
      const first = Date.parse(window_start!);
      const count = Math.floor((Date.now() - first) / 86_400_000) + 1;
      expect(days).toEqual(
        Array.from({ length: count }, (_, n) => ({
          date: new Date(first + n * 86_400_000).toISOString().slice(0, 10),
          spent_usd: 0,
        })),
      );
      await addHold(id, 0, 30, window_start!);
      await addHold(id, 0, 40, '2020-01-01T00:00:00Z');
      expect(shown(await history(id))).toEqual([{ date: dayAgo(0), spent_usd: 0.00003 }]);
      // The clock was set back: nothing of the window is lost.
      await addHold(id, count, 50, window_start!);
      expect(sumOf(await history(id))).toBe(80);
    },
  );

  test('without a window has the last 90 days', async () => {
    const id = await addBudget(await define(), { window: 'total' });
    for (const [ago, spent] of [
      [0, 1],
      [1, 2],
      [1, 4],
      [89, 8],
      [90, 16],
    ] as const) {
      await addHold(id, ago, spent);
    }
    const seen = await history(id);
    expect([seen.window_start, seen.window_end, seen.days.length]).toEqual([null, null, 90]);
    expect(shown(seen).map(({ date, spent_usd }) => [date, micros(spent_usd)])).toEqual([
      [dayAgo(89), 8],
      [dayAgo(1), 6],
      [dayAgo(0), 1],
    ]);
  });

  test('counts earlier costs of the window on the creation day', async () => {
    const workflowId = await define();
    const runId = await engine.trigger(workflowId);
    await spend(runId, 'a', 300_000);
    await settle(runId);
    const id = await addBudget(workflowId);
    expect(shown(await history(id))).toEqual([{ date: dayAgo(0), spent_usd: 0.3 }]);
  });

  test('of another workspace is not found', async () => {
    const id = await addBudget(await define());
    const scope = { workspaceId: newId('workspace'), budgetId: id };
    await expect(readBudgetHistory(engine.db, scope)).rejects.toMatchObject({ code: 'not_found' });
  });
});

const begin = (runId: string, stepKey: string) => beginAs(engine, runId, { stepKey });
const finish = (runId: string, stepKey: string, costMicros: number) =>
  finishStep(engine.db, { runId, stepKey, nodeId: 'a', claim: 'c', spending: { costMicros } }, 1);
const spend = async (runId: string, stepKey: string, costMicros: number) => {
  await begin(runId, stepKey);
  await finish(runId, stepKey, costMicros);
};
const settle = (runId: string) => settleAs(engine, runId);

test('the days of a window add up to the spent amount while runs end', async () => {
  const { actor, db } = engine;
  const { workspaceId } = actor;
  const workflowId = await define();
  const budgets = [
    await addBudget(workflowId, { window: 'day', reservation_estimate_usd: 0.01 }),
    await addBudget(workflowId, { window: 'week' }),
    await addBudget(workflowId, { window: 'month', reservation_estimate_usd: 0.05 }),
    await addBudget(workflowId, { window: 'total' }),
  ];
  /** Ends a run in one of all possible ways; the cost of the last step arrives after the end. */
  const life = async (n: number): Promise<void> => {
    const runId = await engine.trigger(workflowId);
    for (const stepKey of ['a', 'b', 'late']) await begin(runId, stepKey);
    await Promise.all([finish(runId, 'a', 1_000 + n), finish(runId, 'b', 7)]);
    if (n % 3 === 0) await settle(runId);
    else if (n % 3 === 1) await cancelRun(db, { actor, runId, alerts: false });
    else {
      await abandonRun(db, { runId, kind: 'crash', error: 'x', execution: 'e', alerts: false });
      await resumeRun(db, { actor, runId });
      await cancelRun(db, { actor, runId, alerts: false });
    }
    await finish(runId, 'late', 3);
  };
  let writing = true;
  let reads = 0;
  const sums = new Set<number>();
  const watch = async (): Promise<void> => {
    while (writing) {
      for (const budgetId of budgets) {
        const scope = { workspaceId, budgetId };
        const [{ status }, seen] = await db.transaction(async (tx) => {
          await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`);
          return [await readBudget(tx, scope), await readBudgetHistory(tx, scope)];
        });
        expect([budgetId, sumOf(seen)]).toEqual([budgetId, micros(status.spent_usd)]);
        sums.add(sumOf(seen));
        reads += 1;
      }
    }
  };
  const watchers = [watch(), watch()];
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; n < 30; n += 1) await life(writer + n);
  };
  await Promise.all([0, 1, 2, 3].map(write));
  writing = false;
  await Promise.all(watchers);
  expect(reads).toBeGreaterThan(40);
  expect(sums.size).toBeGreaterThan(10);
  const spent = await db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT sum(cost_micros) AS n FROM runs WHERE workflow_id = ${workflowId}`);
  for (const budgetId of budgets) expect(sumOf(await history(budgetId))).toBe(spent);
}, 60_000);
