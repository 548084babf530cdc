import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { BudgetInput } from '#shared/contract/money/budget.ts';
import { createBudget, deleteBudget, readBudget, updateBudget } from '#shared/db/money/budgets.ts';
import { supersede } from '#shared/db/runs/restart.ts';
import { reapHolds } from '#shared/db/money/holds.ts';
import { sql } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { abandonRun, cancelRun } from '#shared/db/runs/ends.ts';
import { FREE } from '#shared/money/spending.ts';
import { finishStep, recordStepError } from '#shared/db/steps/step-ends.ts';
import { deleteWorkflow } from '#shared/db/workflows/workflows.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { expectCostsToAgree, expectLedgerToAgree } from '#test/support/money.ts';
import { beside } from '#test/support/lock-waits.ts';
import { raceRounds } from '#test/support/soak.ts';
import { beginAs, settleAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const define = async () => engine.define({ nodes: [echo('a')], edges: [] });
const budget = async (workflowId: string | undefined, input: Partial<BudgetInput>) =>
  createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: workflowId === undefined ? 'workspace' : 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: 1,
    ...input,
  });
const status = async (budgetId: string) =>
  (await readBudget(engine.db, { workspaceId: engine.actor.workspaceId, budgetId })).status;
const begin = (runId: string, claim = 'c', stepKey = 'a', execution = 'e') =>
  beginAs(engine, runId, { claim, stepKey, execution, cost: FREE });
const spend = async (runId: string, usd: number, stepKey = 'a', execution = 'e') => {
  await begin(runId, 'c', stepKey, execution);
  await finishStep(
    engine.db,
    { runId, stepKey, nodeId: 'a', claim: 'c', spending: { costMicros: usd * 1_000_000 } },
    1,
  );
};
const settle = (runId: string, execution = 'e') => settleAs(engine, runId, execution);
const fail = (runId: string) =>
  abandonRun(engine.db, { runId, kind: 'crash', error: 'x', execution: 'e', alerts: false });
let deletedMicros = 0;
const agree = async () => {
  await expectLedgerToAgree(engine.db);
  await expectCostsToAgree(engine.db, deletedMicros);
};

describe('a budget with an estimate', () => {
  test('reserves it per run, and spends the cost when the run ends', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.4 });
    const runId = await engine.trigger(workflowId);
    expect(await status(id)).toMatchObject({
      spent_usd: 0,
      reserved_usd: 0.4,
      committed_usd: 0.4,
      remaining_usd: 0.6,
      pct: 40,
      over: false,
    });
    await spend(runId, 0.1);
    expect(await status(id)).toMatchObject({ spent_usd: 0, reserved_usd: 0.4 });
    await settle(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 0.1, reserved_usd: 0 });
    await agree();
  });

  test('admits as many as fit, and reports the committed amount to the next', async () => {
    const workflowId = await define();
    await budget(workflowId, { name: 'Small', limit_usd: 1, reservation_estimate_usd: 0.4 });
    await engine.trigger(workflowId);
    await engine.trigger(workflowId);
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({
      code: 'budget_exceeded',
      message:
        "Budget 'Small' exhausted: $0.80 of $1.00 committed; this run needs an estimate of $0.40",
    });
    await agree();
  });

  test('the hold grows with the actual cost, so that the committed amount is correct', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.4 });
    const runId = await engine.trigger(workflowId);
    await spend(runId, 0.7);
    expect(await status(id)).toMatchObject({ reserved_usd: 0.7 });
    await spend(runId, 2.3, 'b');
    expect(await status(id)).toMatchObject({
      reserved_usd: 3,
      remaining_usd: -2,
      pct: 300,
      over: true,
    });
    await settle(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 3, reserved_usd: 0, over: true });
    await agree();
  });

  test('lets a step within the hold of its run end while others use the budget', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { reservation_estimate_usd: 0.5 });
    const runId = await engine.trigger(workflowId);
    let ended = false;
    await beside(
      engine.db,
      sql.fragment`UPDATE budgets SET updated_at = now() WHERE id = ${id}`,
      async () => {
        await spend(runId, 0.2);
        ended = true;
      },
      async () => expect(ended).toBe(true),
    );
    expect((await status(id)).reserved_usd).toBe(0.5);
    await settle(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 0.2, reserved_usd: 0 });
    await agree();
  });

  test('stops a run beyond its estimate when nothing is free, but not a run within it', async () => {
    const workflowId = await define();
    await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.5 });
    const [within, beyond] = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
    await spend(within, 0.4);
    await spend(beyond, 0.6);
    expect((await begin(within, 'c', 'b')).outcome).toBe('begun');
    expect(await begin(beyond, 'c', 'b')).toMatchObject({
      outcome: 'blocked',
      blocked: { name: 'B', committedMicros: 1_100_000, limitMicros: 1_000_000 },
    });
  });

  test('lets a run finish at exactly its estimate when other holds fill the budget', async () => {
    const workflowId = await define();
    await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.25 });
    const runs = [];
    for (let n = 0; n < 4; n += 1) runs.push(await engine.trigger(workflowId));
    for (const runId of runs) {
      await spend(runId, 0.25);
      expect((await begin(runId, 'c', 'free')).outcome).toBe('begun');
    }
    await spend(runs[0]!, 0.000001, 'free');
    expect(await begin(runs[0]!, 'c', 'next')).toMatchObject({ outcome: 'blocked' });
    expect((await begin(runs[1]!, 'c', 'next')).outcome).toBe('begun');
  });
});

describe('a refusal', () => {
  test('names the estimate if only that does not fit', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, {
      name: 'Nearly',
      limit_usd: 1,
      reservation_estimate_usd: 0.9,
    });
    await engine.trigger(workflowId);
    await updateBudget(engine.db, engine.actor, id, { reservation_estimate_usd: 0.2 });
    const refused = (message: string) =>
      expect(engine.trigger(workflowId)).rejects.toMatchObject({
        code: 'budget_exceeded',
        message,
      });
    await refused(
      "Budget 'Nearly' exhausted: $0.90 of $1.00 committed; this run needs an estimate of $0.20",
    );
    await updateBudget(engine.db, engine.actor, id, { limit_usd: 0.9 });
    await refused("Budget 'Nearly' exhausted: $0.90 of $0.90 committed");
  });
});

describe('a budget without an estimate', () => {
  test('counts settled costs and admits runs below the limit', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1 });
    const runs = [];
    for (let n = 0; n < 3; n += 1) runs.push(await engine.trigger(workflowId));
    expect(await status(id)).toMatchObject({ reserved_usd: 0, spent_usd: 0 });
    for (const runId of runs) await spend(runId, 0.5);
    expect(await status(id)).toMatchObject({ committed_usd: 0 });
    await settle(runs[0]!);
    await engine.trigger(workflowId);
    await settle(runs[1]!);
    expect(await status(id)).toMatchObject({ spent_usd: 1, over: true });
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({ code: 'budget_exceeded' });
    expect(await begin(runs[2]!, 'c', 'b')).toMatchObject({ outcome: 'blocked' });
    await agree();
  });

  test('created within a window counts the earlier costs of the window', async () => {
    const workflowId = await define();
    const [ended, open] = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
    await spend(ended, 0.3);
    await settle(ended);
    await spend(open, 0.2);
    const plain = await budget(workflowId, { limit_usd: 1 });
    const reserving = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.1 });
    expect(await status(plain)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0 });
    expect(await status(reserving)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0.2 });
    await settle(open);
    expect(await status(plain)).toMatchObject({ spent_usd: 0.5 });
    expect(await status(reserving)).toMatchObject({ spent_usd: 0.5, reserved_usd: 0 });
    await agree();
  });
});

describe('a hold ends exactly once', () => {
  test.each([
    ['settled twice', settle, settle],
    ['settled against cancelled', settle, 'cancel'],
    ['failed against settled', fail, settle],
    ['settled against reaped', settle, 'reap'],
  ] as const)('when %s', async (_title, one, other) => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1_000, reservation_estimate_usd: 1 });
    const act = (how: typeof one | typeof other, runId: string): Promise<unknown> => {
      if (how === 'cancel') {
        return cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
      }
      if (how === 'reap') return reapHolds(engine.db, 10, 0);
      return how(runId);
    };
    const count = raceRounds(20);
    for (let round = 0; round < count; round += 1) {
      const runId = await engine.trigger(workflowId);
      await spend(runId, 0.01);
      await Promise.allSettled([act(one, runId), act(other, runId), act(one, runId)]);
    }
    const seen = await status(id);
    expect([seen.spent_usd, seen.reserved_usd]).toEqual([count / 100, 0]);
    await agree();
  });

  test('when reaped after its run is gone or ended without it', async () => {
    const workflowId = await define();
    const id = await budget(undefined, { limit_usd: 100, reservation_estimate_usd: 1 });
    const [gone, ended, live] = [
      await engine.trigger(workflowId),
      await engine.trigger(workflowId),
      await engine.trigger(workflowId),
    ];
    await spend(ended, 0.25);
    // Changed directly in the database, so nothing settles the holds.
    await engine.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${gone}`);
    await engine.db.query(sql.unsafe`
      UPDATE runs SET status = 'failed', finished_at = now() WHERE id = ${ended}
    `);
    const before = await status(id);
    expect(await reapHolds(engine.db, 10, 60_000)).toBe(0);
    expect(await reapHolds(engine.db, 10, 0)).toBe(2);
    const after = await status(id);
    expect(before.reserved_usd - after.reserved_usd).toBeCloseTo(2);
    expect(after.spent_usd - before.spent_usd).toBeCloseTo(0.25);
    await cancelRun(engine.db, { actor: engine.actor, runId: live, alerts: false });
    await expectLedgerToAgree(engine.db);
    await deleteBudget(engine.db, engine.actor, id);
  });

  test('but not when its run is resumed while the reaper waits for it', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { reservation_estimate_usd: 0.5 });
    const runId = await engine.trigger(workflowId);
    await engine.db.query(sql.unsafe`
      UPDATE runs SET status = 'failed', finished_at = now() WHERE id = ${runId}
    `);
    const reaped = await beside(
      engine.db,
      sql.fragment`UPDATE runs SET status = 'running', finished_at = NULL WHERE id = ${runId}`,
      () => reapHolds(engine.db, 10, 0),
    );
    expect([reaped, (await status(id)).reserved_usd]).toEqual([0, 0.5]);
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await agree();
  });

  test('when its workflow is deleted, in any run state', async () => {
    const workflowId = await define();
    const id = await budget(undefined, { limit_usd: 100, reservation_estimate_usd: 1 });
    const runs = [];
    for (let n = 0; n < 5; n += 1) runs.push(await engine.trigger(workflowId));
    await spend(runs[0]!, 0.5);
    await settle(runs[1]!);
    const before = await status(id);
    await deleteWorkflow(engine.db, engine.actor, workflowId);
    deletedMicros += 500_000;
    const after = await status(id);
    expect(before.reserved_usd - after.reserved_usd).toBeCloseTo(4);
    expect(after.spent_usd - before.spent_usd).toBeCloseTo(0.5);
    await expectLedgerToAgree(engine.db);
    await deleteBudget(engine.db, engine.actor, id);
  });

  test('while steps finish concurrently, and each cost counts once', async () => {
    const workflowId = await define();
    const budgets = [
      await budget(workflowId, { limit_usd: 1_000, reservation_estimate_usd: 0.05 }),
      await budget(workflowId, { limit_usd: 1_000 }),
    ];
    const keys = ['a', 'b', 'c', 'd'];
    let total = 0;
    for (let round = 0; round < raceRounds(40); round += 1) {
      const runId = await engine.trigger(workflowId);
      for (const key of keys) await begin(runId, 'c', key);
      const finish = (stepKey: string) =>
        finishStep(
          engine.db,
          { runId, stepKey, nodeId: 'a', claim: 'c', spending: { costMicros: 30_000 } },
          1,
        );
      const [one, two, three, four] = keys as [string, string, string, string];
      await Promise.all([
        finish(one),
        fail(runId).then(() => resumeRun(engine.db, { actor: engine.actor, runId })),
        finish(two),
        finish(three),
      ]);
      await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
      await finish(four);
      total += Math.round((await engine.run(runId)).cost_usd * 1e6);
      for (const id of budgets) {
        const { spent_usd: spent, reserved_usd: reserved } = await status(id);
        expect([Math.round(spent * 1e6), reserved]).toEqual([total, 0]);
      }
    }
    await agree();
  });

  test('but counts the cost of an attempt after the end', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 100, reservation_estimate_usd: 1 });
    const runId = await engine.trigger(workflowId);
    await begin(runId);
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await finishStep(
      engine.db,
      { runId, stepKey: 'a', nodeId: 'a', claim: 'c', spending: { costMicros: 300_000 } },
      1,
    );
    expect(await status(id)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0 });
    await expectLedgerToAgree(engine.db);
  });

  test.each([Number.NaN, -1, 0.5, Number.POSITIVE_INFINITY])(
    'and rejects a cost of %d',
    async (costMicros) => {
      const workflowId = await define();
      const id = await budget(workflowId, { limit_usd: 100, reservation_estimate_usd: 0.1 });
      const runId = await engine.trigger(workflowId);
      await begin(runId);
      const step = { runId, stepKey: 'a', nodeId: 'a', claim: 'c', spending: { costMicros } };
      await expect(finishStep(engine.db, step, 1)).rejects.toThrow();
      expect((await engine.run(runId)).cost_usd).toBe(0);
      expect(await status(id)).toMatchObject({ reserved_usd: 0.1, spent_usd: 0 });
      await agree();
    },
  );

  test('and counts failed tries', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 100, reservation_estimate_usd: 0.1 });
    const runId = await engine.trigger(workflowId);
    await begin(runId);
    await recordStepError(
      engine.db,
      { runId, stepKey: 'a', nodeId: 'a', claim: 'c', spending: { costMicros: 300_000 } },
      { message: 'no', retryable: true, definite: false, maxAttempts: 3 },
    );
    expect(await status(id)).toMatchObject({ reserved_usd: 0.3 });
    await fail(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0 });
  });
});

describe('a resume', () => {
  test('places a new hold for the remaining steps', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.4 });
    const runId = await engine.trigger(workflowId);
    await spend(runId, 0.3);
    await fail(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0 });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e', n: 1 });
    expect(await status(id)).toMatchObject({ spent_usd: 0.3, reserved_usd: 0.4 });
    await spend(runId, 0.2, 'b', 'e2');
    await settle(runId, 'e2');
    expect(await status(id)).toMatchObject({ spent_usd: 0.5, reserved_usd: 0 });
    await agree();
  });

  test('is refused without changes when its hold does not fit', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.6 });
    const runId = await engine.trigger(workflowId);
    await spend(runId, 0.5);
    await fail(runId);
    const resume = resumeRun(engine.db, { actor: engine.actor, runId });
    await expect(resume).rejects.toMatchObject({ code: 'budget_exceeded' });
    expect((await engine.run(runId)).status).toBe('failed');
    await updateBudget(engine.db, engine.actor, id, { limit_usd: 2 });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    expect(await status(id)).toMatchObject({ spent_usd: 0.5, reserved_usd: 0.6 });
    await agree();
  });
});

describe('windows', () => {
  const shift = async (budgetId: string) => {
    // Simulates the end of a window with open holds: moves the budget and its holds back by one window.
    const older = sql.fragment`- interval '1 month'`;
    await engine.db.query(sql.unsafe`
      WITH moved AS (UPDATE budgets SET window_start = window_start ${older} WHERE id = ${budgetId})
      UPDATE budget_holds SET window_start = window_start ${older} WHERE budget_id = ${budgetId}
    `);
  };

  test('start at zero; earlier holds end in the window before', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 1 });
    const old = await engine.trigger(workflowId);
    await shift(id);
    expect(await status(id)).toMatchObject({ committed_usd: 0, over: false });
    const young = await engine.trigger(workflowId);
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await spend(old, 0.75);
    await settle(old);
    expect(await status(id)).toMatchObject({ spent_usd: 0, reserved_usd: 1 });
    await spend(young, 0.5);
    await settle(young);
    expect(await status(id)).toMatchObject({ spent_usd: 0.5, reserved_usd: 0 });
    await agree();
  });

  test('also start with the first settlement', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1 });
    const runId = await engine.trigger(workflowId);
    await engine.db.query(sql.unsafe`
      UPDATE budgets SET window_start = window_start - interval '1 month', spent_micros = 900000 WHERE id = ${id}
    `);
    await spend(runId, 0.5);
    await settle(runId);
    expect(await status(id)).toMatchObject({ spent_usd: 0.5 });
  });

  test('still limit a run that started in an earlier window', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 1, reservation_estimate_usd: 0.5 });
    const runId = await engine.trigger(workflowId);
    await spend(runId, 1.2);
    await shift(id);
    await engine.trigger(workflowId);
    expect(await begin(runId, 'c', 'b')).toMatchObject({ outcome: 'blocked' });
  });

  test.each([
    ['day', '2026-03-01T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
    ['week', '2026-03-01T12:00:00Z', '2026-02-23T00:00:00.000Z'],
    ['week', '2026-03-02T00:00:00Z', '2026-03-02T00:00:00.000Z'],
    ['month', '2026-02-28T23:59:59Z', '2026-02-01T00:00:00.000Z'],
  ])('%s: %s is in the window from %s', async (kind, at, start) => {
    const found = await engine.db.transaction(async (tx) => {
      await tx.query(sql.unsafe`SET LOCAL TIME ZONE 'Asia/Kathmandu'`);
      return tx.oneFirst(sql.type(z.object({ start: z.string() }))`
        SELECT budget_window_start(${kind}, ${at}::timestamptz) AS start
      `);
    });
    expect(found).toBe(start);
  });
});

describe('several budgets', () => {
  test('are reserved all or none, without deadlock in any order of runs', async () => {
    const [one, two] = [await define(), await define()];
    const shared = await budget(undefined, {
      name: 'Shared',
      limit_usd: 10_000,
      reservation_estimate_usd: 0.5,
    });
    const before = await status(shared);
    await budget(one, { limit_usd: 10_000, reservation_estimate_usd: 0.5 });
    await budget(two, { limit_usd: 10_000, reservation_estimate_usd: 0.5 });
    const tight = await budget(two, { name: 'Tight', limit_usd: 5, reservation_estimate_usd: 1 });
    const live = async (workflowId: string) => {
      const runId = await engine.trigger(workflowId);
      await spend(runId, 0.75);
      await settle(runId);
    };
    const results = await Promise.allSettled(
      Array.from({ length: 60 }, async (_, n) => live(n % 2 === 0 ? one : two)),
    );
    for (const result of results) {
      if (result.status === 'rejected') {
        expect(result.reason).toMatchObject({ code: 'budget_exceeded' });
      }
    }
    const done = results.filter((result) => result.status === 'fulfilled').length;
    const after = await status(shared);
    expect(after.reserved_usd).toBeCloseTo(before.reserved_usd);
    expect(after.spent_usd - before.spent_usd).toBeCloseTo(done * 0.75);
    expect((await status(tight)).committed_usd).toBeLessThanOrEqual(6);
    await agree();
    await deleteBudget(engine.db, engine.actor, shared);
  });

  test('the limit can fall below the committed amount, and the budget can be deleted, during runs', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, { limit_usd: 10, reservation_estimate_usd: 1 });
    const runId = await engine.trigger(workflowId);
    await spend(runId, 0.5);
    await updateBudget(engine.db, engine.actor, id, { limit_usd: 0.25 });
    expect(await status(id)).toMatchObject({ over: true, remaining_usd: -0.75 });
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({ code: 'budget_exceeded' });
    await deleteBudget(engine.db, engine.actor, id);
    await spend(runId, 0.5, 'b');
    await settle(runId);
    await engine.trigger(workflowId);
    await expectLedgerToAgree(engine.db);
  });
});
