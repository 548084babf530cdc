import { afterEach, describe, expect, test } from '@jest/globals';
import { createBudget, readBudget } from '#shared/db/money/budgets.ts';
import { blockedText } from '#shared/db/money/blocked.ts';
import { lastCost } from '#shared/db/money/step-room.ts';
import { sql } from '#shared/db/pool.ts';
import { abandonRun, cancelRun, reportFailure } from '#shared/db/runs/ends.ts';
import { finishStep, recordStepError, releaseStep } from '#shared/db/steps/step-ends.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { type StepCost, UNKNOWN_COST } from '#shared/money/spending.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { expectCostsToAgree, expectLedgerToAgree } from '#test/support/money.ts';
import { beginAs, settleAs } from '#test/db/tool-step.ts';

// No worker: the tests start and end the steps as workers would, concurrently and in any order.

const engine = useEngine({ worker: false });
afterEach(async () => {
  await expectLedgerToAgree(engine.db);
  await expectCostsToAgree(engine.db);
});

const MICROS = 1_000_000;
const exact = (usd: number): StepCost => ({ least: usd * MICROS, most: usd * MICROS });
type Overrun = 'none' | 'one_step';
const define = async (capUsd?: number, overrun: Overrun = 'none') => {
  const workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  if (capUsd !== undefined) {
    await updateWorkflow(engine.db, engine.actor, workflowId, { run_cap_usd: capUsd, overrun });
  }
  return workflowId;
};
const budget = (workflowId: string, limit: number, estimate?: number, overrun?: Overrun) =>
  createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: limit,
    reservation_estimate_usd: estimate,
    overrun,
  });
const status = async (budgetId: string) =>
  (await readBudget(engine.db, { workspaceId: engine.actor.workspaceId, budgetId })).status;
const spent = async (runId: string) => (await engine.run(runId)).cost_usd;

const begin = (
  runId: string,
  stepKey: string,
  cost: StepCost | (() => Promise<StepCost>),
  claim = 'c',
) =>
  beginAs(engine, runId, {
    // Long enough, even on a busy machine, that claims expire only where a test expires them.
    claimMs: 3_600_000,
    ...{ claim, cost, kind: 'agent', stepKey, nodeId: stepKey, label: stepKey, outputKey: stepKey },
  });
const ending = (runId: string, stepKey: string, usd: number, claim = 'c') => ({
  runId,
  stepKey,
  nodeId: stepKey,
  claim,
  counted: true,
  spending: { costMicros: Math.round(usd * MICROS) },
});
const finish = (runId: string, stepKey: string, usd: number, claim = 'c') =>
  finishStep(engine.db, ending(runId, stepKey, usd, claim), 1);
const fail = (runId: string) =>
  abandonRun(engine.db, { runId, kind: 'crash', error: 'x', execution: 'e', alerts: false });
const settle = (runId: string) => settleAs(engine, runId);
/** Simulates that the worker of this step died a while ago. */
const lose = (runId: string, stepKey: string) =>
  engine.db.query(sql.unsafe`
    UPDATE steps SET claim_until = clock_timestamp() - interval '1 second'
    WHERE run_id = ${runId} AND step_key = ${stepKey}`);

interface Work {
  runId: string;
  stepKey: string;
}

/**
 * Requests all steps at once, repeatedly, as Temporal does for those that wait. Ends each started step at a cost of
 * `usd`, or loses its worker, until all have ended or the rest is blocked.
 */
async function work(
  steps: readonly Work[],
  cost: StepCost,
  usd: number,
  loses: (n: number) => boolean = () => false,
): Promise<{ ended: number; blocked: number }> {
  let open = [...steps];
  const seen = { ended: 0, blocked: 0 };
  for (let round = 0; open.length > 0; round += 1) {
    expect(round).toBeLessThan(200);
    const claim = `c${round}`;
    const outcomes = await Promise.all(
      open.map(async (step) => ({
        step,
        outcome: (await begin(step.runId, step.stepKey, cost, claim)).outcome,
      })),
    );
    const of = (wanted: string) =>
      outcomes.filter(({ outcome }) => outcome === wanted).map(({ step }) => step);
    const [begun, waits, blocked] = [of('begun'), of('waits'), of('blocked')];
    expect(begun.length + waits.length + blocked.length).toBe(open.length);
    // Every iteration makes progress: no step waits for nothing.
    expect(begun.length + blocked.length).toBeGreaterThan(0);
    const lost = begun.filter((_step, n) => loses(round * 31 + n));
    const finished = begun.filter((step) => !lost.includes(step));
    for (const { runId, stepKey } of lost) await lose(runId, stepKey);
    await Promise.all(finished.map(({ runId, stepKey }) => finish(runId, stepKey, usd, claim)));
    seen.ended += finished.length;
    seen.blocked += blocked.length;
    open = [...waits, ...lost];
    await expectLedgerToAgree(engine.db);
  }
  return seen;
}

const stepsOf = (runId: string, n: number): Work[] =>
  Array.from({ length: n }, (_, index) => ({ runId, stepKey: `s${index}` }));
const sizes = Array.from({ length: 49 }, (_, index) => index + 2);

describe('a cap', () => {
  test('with room for k of N parallel steps runs exactly k, for N from 2 to 50', async () => {
    for (const n of sizes) {
      const k = 1 + ((n * 7) % n);
      const runId = await engine.trigger(await define(k * 0.5));
      const seen = await work(stepsOf(runId, n), exact(0.5), 0.5);
      expect(seen).toEqual({ ended: k, blocked: n - k });
      expect(await spent(runId)).toBe(k * 0.5);
      await fail(runId);
    }
  }, 120_000);

  test.each([2, 3, 7, 20, 50])(
    'runs %i steps of unknown cost one at a time, also when workers die',
    async (n) => {
      const runId = await engine.trigger(await define(n * 0.25));
      const seen = await work(stepsOf(runId, n), UNKNOWN_COST, 0.5, (at) => at % 5 === 0);
      expect(seen.ended).toBe(Math.ceil(n / 2));
      expect(await spent(runId)).toBeLessThan(n * 0.25 + 0.5);
      await fail(runId);
    },
    120_000,
  );

  test('lets steps run that could be expensive but turn out cheap, while their total possible cost fits', async () => {
    const runId = await engine.trigger(await define(1));
    const seen = await work(stepsOf(runId, 12), { least: 1, most: 0.9 * MICROS }, 0.01);
    expect(seen).toEqual({ ended: 11, blocked: 1 });
    const loose = await engine.trigger(await define(1, 'one_step'));
    expect(await work(stepsOf(loose, 12), { least: 1, most: 0.9 * MICROS }, 0.01)).toEqual({
      ...{ ended: 12, blocked: 0 },
    });
    await settle(loose);
  });

  test('is not reached by a request that may cost more, and names it', async () => {
    const runId = await engine.trigger(await define(0.01));
    const begun = await begin(runId, 'dear', { least: 1, most: 40.96 * MICROS });
    expect(begun).toMatchObject({
      ...{ outcome: 'blocked', blocked: { committedMicros: 0, limitMicros: 10_000 } },
    });
    expect(begun.outcome === 'blocked' && blockedText(begun.blocked)).toBe(
      'Run cost cap has no room: $0.00 of $0.01 spent; the next request may cost $40.96, and $0.01 is left: ' +
        'raise the cap, or lower max_output_tokens of the agent',
    );
    expect((await begin(runId, 'free', exact(0))).outcome).toBe('begun');
  });

  test('is exceeded by less than one step with an overrun', async () => {
    const runId = await engine.trigger(await define(0.75, 'one_step'));
    expect(await work(stepsOf(runId, 6), exact(0.2), 0.2)).toEqual({ ended: 4, blocked: 2 });
    expect(await spent(runId)).toBe(0.8);
    const strict = await engine.trigger(await define(0.75));
    expect(await work(stepsOf(strict, 6), exact(0.2), 0.2)).toEqual({ ended: 3, blocked: 3 });
  });

  test("counts a node's earlier cost as unknown, so the step runs alone", async () => {
    const before: StepCost = { least: 1, most: 0.1 * MICROS, estimated: true };
    for (const [overrun, second] of [
      ['none', 'waits'],
      ['one_step', 'begun'],
    ] as const) {
      const runId = await engine.trigger(await define(1, overrun));
      expect((await begin(runId, 'a', before)).outcome).toBe('begun');
      expect((await begin(runId, 'b', before)).outcome).toBe(second);
    }
  });

  test('lets free steps begin alongside one of unknown cost', async () => {
    const runId = await engine.trigger(await define(1));
    expect((await begin(runId, 'dear', UNKNOWN_COST)).outcome).toBe('begun');
    expect((await begin(runId, 'other', UNKNOWN_COST)).outcome).toBe('waits');
    expect((await begin(runId, 'free', exact(0))).outcome).toBe('begun');
  });
});

describe('a budget with an estimate', () => {
  test.each<[Overrun, number]>([
    ['none', 0],
    ['one_step', 0.3],
  ])(
    'with overrun %s is exceeded by at most $%d, for 2 to 50 steps',
    async (overrun, beyond) => {
      for (const n of sizes) {
        const runs = 1 + (n % 4);
        const workflowId = await define();
        const id = await budget(workflowId, runs * 0.5 + 1, 0.5, overrun);
        const runIds: string[] = [];
        for (let at = 0; at < runs; at += 1) runIds.push(await engine.trigger(workflowId));
        const steps = Array.from({ length: n }, (_, at) => ({
          runId: runIds[at % runs]!,
          stepKey: `s${at}`,
        }));
        await work(steps, exact(0.3), 0.3, (at) => at % 9 === 0);
        const limit = runs * 0.5 + 1;
        const seen = await status(id);
        expect(seen.committed_usd).toBeLessThanOrEqual(limit + beyond);
        for (const runId of runIds) await fail(runId);
        const after = await status(id);
        expect(after.spent_usd).toBeLessThanOrEqual(limit + beyond);
        expect(after.reserved_usd).toBe(0);
      }
    },
    180_000,
  );

  test.each([2, 7, 20])(
    'is exceeded by at most one step per run, with %i steps of unknown cost each',
    async (n) => {
      const workflowId = await define();
      const id = await budget(workflowId, 2, 0.5);
      const runIds: string[] = [];
      for (let at = 0; at < 4; at += 1) runIds.push(await engine.trigger(workflowId));
      const steps = runIds.flatMap((runId) => stepsOf(runId, n));
      await work(steps, UNKNOWN_COST, 0.4, (at) => at % 7 === 0);
      expect((await status(id)).committed_usd).toBeLessThan(2 + 4 * 0.4);
      for (const runId of runIds) {
        await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
      }
      expect(await status(id)).toMatchObject({ reserved_usd: 0 });
    },
    120_000,
  );

  test('counts the possible cost of active steps, for triggers and for other runs', async () => {
    const workflowId = await define();
    const id = await budget(workflowId, 1, 0.1);
    const [one, two] = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
    expect((await begin(one, 'a', exact(0.85))).outcome).toBe('begun');
    expect(await status(id)).toMatchObject({ reserved_usd: 0.95, spent_usd: 0 });
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({ code: 'budget_exceeded' });
    // No room until the costs are known.
    expect((await begin(two, 'a', exact(0.5))).outcome).toBe('waits');
    await finish(one, 'a', 0.01);
    expect((await begin(two, 'a', exact(0.5))).outcome).toBe('begun');
    expect((await begin(two, 'b', exact(0.5))).outcome).toBe('waits');
    await finish(two, 'a', 0.01);
    expect(await status(id)).toMatchObject({ reserved_usd: 0.2 });
    expect((await begin(two, 'b', exact(0.5))).outcome).toBe('begun');
    expect((await begin(two, 'c', exact(2))).outcome).toBe('blocked');
  });

  test('with an overrun lets one step begin that exceeds the limit', async () => {
    const workflowId = await define();
    await budget(workflowId, 1, 0.1, 'one_step');
    const [one, two] = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
    expect((await begin(one, 'a', exact(0.85))).outcome).toBe('begun');
    expect((await begin(two, 'a', exact(0.5))).outcome).toBe('begun');
    expect((await begin(two, 'b', exact(0.5))).outcome).toBe('waits');
  });

  test.each([
    [
      'fails',
      (runId: string) =>
        recordStepError(engine.db, ending(runId, 'a', 0), {
          message: 'x',
          retryable: true,
          definite: false,
          maxAttempts: 3,
        }),
    ],
    ['gives up its claim', (runId: string) => releaseStep(engine.db, ending(runId, 'a', 0))],
    ['is taken over', (runId: string) => begin(runId, 'a', exact(0.2), 'other')],
    [
      'is lost, and another one asks',
      async (runId: string) => {
        await lose(runId, 'a');
        await begin(runId, 'b', UNKNOWN_COST);
      },
    ],
    ['was of a run that ends', (runId: string) => fail(runId)],
  ] as const)('releases the reserved cost of an attempt that %s', async (_how, act) => {
    const workflowId = await define();
    const id = await budget(workflowId, 10, 0.5);
    const runId = await engine.trigger(workflowId);
    await begin(runId, 'a', exact(3));
    expect(await status(id)).toMatchObject({ reserved_usd: 3 });
    await act(runId);
    expect((await status(id)).reserved_usd).toBeLessThanOrEqual(0.5);
  });
});

describe('a second attempt, after the first has used up the budget', () => {
  /** A run that holds the whole budget, with one step in flight that may cost all of it. */
  const atWork = async (): Promise<string> => {
    const workflowId = await define();
    await budget(workflowId, 1, 1);
    const runId = await engine.trigger(workflowId);
    expect((await begin(runId, 'a', exact(1), 'first')).outcome).toBe('begun');
    return runId;
  };

  test('finds a step finished that ends while limits are checked', async () => {
    const runId = await atWork();
    const late = async (): Promise<StepCost> => {
      await finish(runId, 'a', 1, 'first');
      return exact(1);
    };
    expect(await begin(runId, 'a', late, 'second')).toEqual({ outcome: 'finished', output: 1 });
  });

  test('does not stop the run if it reports a limit anyway', async () => {
    const runId = await atWork();
    await finish(runId, 'a', 1, 'first');
    const stopped = { step_key: 'a', node_id: 'a', label: 'a', kind: 'agent' } as const;
    const verdict = await reportFailure(engine.db, {
      run_id: runId,
      control: [],
      observed: [],
      n: 1,
      failed: [{ ...stopped, iteration: [], error: 'exhausted', reason: 'budget' }],
      execution: 'e',
      alerts: false,
    });
    expect(verdict).toEqual({ verdict: 'finished', outputs: { a: 1 } });
    expect((await engine.run(runId)).status).toBe('running');
  });
});

test('a budget without an estimate counts only the costs of ended runs', async () => {
  const workflowId = await define();
  const id = await budget(workflowId, 1);
  const [one, two] = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
  expect(await work(stepsOf(one, 5), exact(0.5), 0.5)).toEqual({ ended: 5, blocked: 0 });
  expect(await status(id)).toMatchObject({ spent_usd: 0, reserved_usd: 0 });
  await settle(one);
  expect((await begin(two, 'a', exact(0.5))).outcome).toBe('blocked');
});

test('the last cost of a node comes from the run itself or ended runs of its version', async () => {
  const workflowId = await define(100);
  const first = await engine.trigger(workflowId);
  const last = (runId: string) => lastCost(engine.db, { runId, nodeId: 'a' });
  expect(await last(first)).toBeNull();
  await begin(first, 'a', UNKNOWN_COST);
  await finish(first, 'a', 0.2);
  expect(await last(first)).toBe(200_000);
  const second = await engine.trigger(workflowId);
  expect(await last(second)).toBeNull();
  await settle(first);
  expect(await last(second)).toBe(200_000);
  await updateWorkflow(engine.db, engine.actor, workflowId, {
    graph: { nodes: [echo('a', "'other'")], edges: [] } as never,
  });
  expect(await last(await engine.trigger(workflowId))).toBeNull();
});
