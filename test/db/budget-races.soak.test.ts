import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBudget, deleteBudget, readBudget } from '#shared/db/money/budgets.ts';
import { lockBudgets, shareBudgets } from '#shared/db/money/holds.ts';
import { type FragmentSqlToken, sql, type Tx } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { abandonRun } from '#shared/db/runs/ends.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beside, untilLockWaiters } from '#test/support/lock-waits.ts';
import { expectLedgerToAgree } from '#test/support/money.ts';
import { stopBefore } from '#test/support/stop-before.ts';

// Budgets change while a run is admitted. One of the two is held inside its transaction at the critical moment.

const ROUNDS = 10;
const engine = useEngine({ worker: false });

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
const holdsOf = (budgetId: string) =>
  engine.db.any(sql.type(
    z.object({ run_id: z.string(), estimate: z.number().nullable(), status: z.string() }),
  )`
    SELECT run_id, estimate_micros AS estimate, status FROM budget_holds
    WHERE budget_id = ${budgetId} AND run_id <> '' ORDER BY opened_at`);

const openHolds = async (budgetId: string) =>
  (await holdsOf(budgetId)).filter((hold) => hold.status === 'open').map((hold) => hold.run_id);
const isWaiting = (sessions: number) => untilLockWaiters(engine.db, sessions);
/** Resolves with the first: an operation that does not wait as expected completes instead. */
const until = (either: (() => Promise<unknown>)[]) => Promise.race(either.map((one) => one()));

/** Expects the budget to hold the run, then deletes the budget. */
async function expectHeld(placed: Promise<string>, created: Promise<string>): Promise<void> {
  const [runId, id] = await Promise.all([placed, created]);
  expect(await openHolds(id)).toContain(runId);
  await expectLedgerToAgree(engine.db);
  await deleteBudget(engine.db, engine.actor, id);
}

async function failedRun(workflowId: string): Promise<string> {
  const runId = await engine.trigger(workflowId);
  await abandonRun(engine.db, { runId, kind: 'crash', error: 'x', execution: 'e', alerts: false });
  return runId;
}

/** Triggers a run during an uncommitted change of its budget, which commits once the admission waits for it. */
const triggerDuring = (workflowId: string, change: FragmentSqlToken) =>
  beside(engine.db, change, () => engine.trigger(workflowId));

test('a run has no estimate if it is cleared while the admission waits for the budget', async () => {
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

test('a run is refused if the estimate of a used-up budget is cleared while the admission waits', async () => {
  const workflowId = await define();
  const id = await budget(workflowId, 1);
  const change = sql.fragment`
    UPDATE budgets SET estimate_micros = NULL, spent_micros = limit_micros WHERE id = ${id}`;
  await expect(triggerDuring(workflowId, change)).rejects.toMatchObject({
    code: 'budget_exceeded',
  });
  await deleteBudget(engine.db, engine.actor, id);
});

describe.each(['an admission', 'a resume'])('a budget created during %s', (kind) => {
  const prepare = async () => {
    const workflowId = await define();
    const runId = kind === 'a resume' ? await failedRun(workflowId) : undefined;
    const place = async () => {
      if (runId === undefined) return engine.trigger(workflowId);
      await resumeRun(engine.db, { actor: engine.actor, runId });
      return runId;
    };
    return { workflowId, place };
  };

  test.each(['workflow', 'workspace'])(
    'that is about to commit counts its run (%s budget)',
    async (scope) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { workflowId, place } = await prepare();
        const stop = await stopBefore(engine.db, {
          change: sql.fragment`INSERT`,
          table: 'outbox',
          when: sql.fragment`NEW.kind IN ('start', 'resume')`,
        });
        const placed = place();
        await stop.reached();
        const created = budget(scope === 'workflow' ? workflowId : undefined, 1);
        await until([() => isWaiting(2), () => created]);
        await stop.release();
        await expectHeld(placed, created);
      }
    },
    30_000,
  );

  test.each(['workflow', 'workspace'])(
    'that starts while the budget is written counts its run (%s budget)',
    async (scope) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { workflowId, place } = await prepare();
        const stop = await stopBefore(engine.db, {
          change: sql.fragment`INSERT`,
          table: 'audit_log',
          when: sql.fragment`NEW.target_type = 'budget'`,
        });
        const created = budget(scope === 'workflow' ? workflowId : undefined, 1);
        await stop.reached();
        const placed = place();
        await until([() => isWaiting(2), () => placed]);
        await stop.release();
        await expectHeld(placed, created);
      }
    },
    30_000,
  );
});

test('each of many runs is in each of many budgets created concurrently, without deadlock', async () => {
  const workflowId = await define();
  const [ids, runs] = await Promise.all([
    Promise.all(
      Array.from({ length: 10 }, (_, n) => budget(workflowId, n % 2 === 0 ? 1 : undefined)),
    ),
    Promise.all(Array.from({ length: 40 }, () => engine.trigger(workflowId))),
  ]);
  for (const id of ids) expect((await openHolds(id)).sort()).toEqual([...runs].sort());
  await expectLedgerToAgree(engine.db);
}, 30_000);

/** A transaction that starts with `lock`; `committed` applies `change` and commits. */
function holding(
  lock: (tx: Tx, workspaceId: string) => Promise<void>,
  change: FragmentSqlToken = sql.fragment`SELECT`,
) {
  const locked = Promise.withResolvers<undefined>();
  const commit = Promise.withResolvers<undefined>();
  const done = engine.db.transaction(async (tx) => {
    await lock(tx, engine.actor.workspaceId);
    locked.resolve(undefined);
    await commit.promise;
    await tx.query(sql.unsafe`${change}`);
  });
  const committed = async () => {
    commit.resolve(undefined);
    await done;
  };
  return { locked: locked.promise, committed };
}
/** Locks the workspace's budgets as the creation of a budget does. */
const creation = () =>
  holding(lockBudgets, sql.fragment`UPDATE workspaces SET budget_revision = budget_revision + 1`);

test('a trigger that waits for the creation of a budget is admitted before the next one', async () => {
  const workflowId = await define();
  const first = creation();
  await first.locked;
  const triggered = engine.trigger(workflowId);
  await isWaiting(1);
  const second = creation();
  await isWaiting(2);
  await first.committed();
  await second.locked;
  const runs = await engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM runs WHERE workflow_id = ${workflowId}`);
  await second.committed();
  expect(runs).toEqual([await triggered]);
});

test('admissions share the budgets: twenty are committed while another one is in progress', async () => {
  const workflowId = await define();
  const other = holding(shareBudgets);
  await other.locked;
  const runs = await Promise.all(Array.from({ length: 20 }, () => engine.trigger(workflowId)));
  expect(new Set(runs).size).toBe(20);
  await other.committed();
});
