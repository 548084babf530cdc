import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBudget, deleteBudget, readBudget } from '../../shared/db/budgets.ts';
import { type FragmentSqlToken, sql } from '../../shared/db/pool.ts';
import { echo, type Engine, eventually, startEngine } from '../support/engine.ts';
import { expectLedgerToAgree } from '../support/money.ts';

// Budgets that change while a run is admitted. One of the two is held inside its transaction at the moment in question.

const ROUNDS = 10;
let engine: Engine;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
});
afterAll(() => engine.close());

const define = async () => engine.define({ nodes: [echo('a')], edges: [] });
const budget = (workflowId: string | undefined, estimate: number | undefined) =>
  createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: workflowId === undefined ? 'workspace' : 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: 100,
    reservation_estimate_usd: estimate,
  });
const status = async (budgetId: string) =>
  (await readBudget(engine.db, { workspaceId: engine.actor.workspaceId, budgetId })).status;
const waiting = () =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`);
const holdsOf = (budgetId: string) =>
  engine.db.any(sql.type(
    z.object({ run_id: z.string(), estimate: z.number().nullable(), status: z.string() }),
  )`
    SELECT run_id, estimate_micros AS estimate, status FROM budget_holds
    WHERE budget_id = ${budgetId} AND run_id <> '' ORDER BY opened_at`);

/** Triggers a run while a change of its budget is under way, which commits once the admission waits for it. */
async function triggerDuring(workflowId: string, change: FragmentSqlToken) {
  const changed = Promise.withResolvers<undefined>();
  const commit = Promise.withResolvers<undefined>();
  const changing = engine.db.transaction(async (tx) => {
    await tx.query(sql.type(z.object({}))`${change}`);
    changed.resolve(undefined);
    await commit.promise;
  });
  await changed.promise;
  const triggered = engine.trigger(workflowId);
  await eventually(async () => (await waiting()) > 0);
  commit.resolve(undefined);
  await changing;
  return triggered;
}

test('an estimate cleared while an admission waits for the budget: the run is counted without one', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const workflowId = await define();
    const id = await budget(workflowId, 1);
    const runId = await triggerDuring(
      workflowId,
      sql.fragment`UPDATE budgets SET estimate_micros = NULL WHERE id = ${id}`,
    );
    expect(await holdsOf(id)).toEqual([{ run_id: runId, estimate: null, status: 'open' }]);
    expect(await status(id)).toMatchObject({ reserved_usd: 0, spent_usd: 0 });
  }
  await expectLedgerToAgree(engine.db);
});

test('an estimate cleared while an admission waits for a budget that is used up: the run is refused', async () => {
  const workflowId = await define();
  const id = await budget(workflowId, 1);
  const change = sql.fragment`
    UPDATE budgets SET estimate_micros = NULL, spent_micros = limit_micros WHERE id = ${id}`;
  await expect(triggerDuring(workflowId, change)).rejects.toMatchObject({
    code: 'budget_exceeded',
  });
  await deleteBudget(engine.db, engine.actor, id);
});
