import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBudget, readBudget, updateBudget } from '#shared/db/money/budgets.ts';
import { listGovernanceEvents } from '#shared/db/policies/governance.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { resumeRun } from '#shared/operations/runs/runs.ts';
import { chain, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { expectCostsToAgree, expectLedgerToAgree } from '#test/support/money.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { setting } from '#test/support/settings.ts';
import { soakTest } from '#test/support/soak.ts';

const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '2' } });
const workers: TestProcess[] = [];
beforeAll(() => startWorker());
afterEach(async () => {
  await expectLedgerToAgree(engine.db);
  await expectCostsToAgree(engine.db);
});
afterAll(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

async function startWorker(): Promise<TestProcess> {
  const worker = await startWorkerProcess({
    ...engine.env,
    TEMPORAL_ADDRESS: setting('TEST_TEMPORAL_ADDRESS'),
  });
  workers.push(worker);
  return worker;
}

/** A chain of agents with these costs. */
const costly = async (...costs: number[]) => {
  const ids = costs.map((_, index) => `n${index + 1}`);
  return engine.define({
    nodes: costs.map((cost, index) => mock(ids[index]!, { cost_usd: cost })),
    edges: ids.slice(1).map((id, index) => edge(ids[index]!, id)),
  });
};
const budget = (workflowId: string, limit: number, estimate?: number, overrun?: 'one_step') =>
  createBudget(engine.db, engine.actor, {
    name: 'Month',
    scope: 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: limit,
    reservation_estimate_usd: estimate,
    overrun,
  });
const status = async (budgetId: string) =>
  (await readBudget(engine.db, { workspaceId: engine.actor.workspaceId, budgetId })).status;
const events = async (runId: string) =>
  listGovernanceEvents(engine.db, engine.actor.workspaceId, {
    run_id: runId,
    limit: 50,
    offset: 0,
  });
const cap = async (workflowId: string, usd: number, overrun: 'none' | 'one_step' = 'one_step') =>
  updateWorkflow(engine.db, engine.actor, workflowId, { run_cap_usd: usd, overrun });
const override = (runId: string, capUsd?: number) =>
  resumeRun(engine.deps, {
    actor: engine.actor,
    runId,
    override: { capMicros: capUsd === undefined ? null : capUsd * 1_000_000, reason: 'needed' },
  });

describe('the cap of a run', () => {
  test('is never exceeded, and the failed step says what did not fit', async () => {
    const workflowId = await costly(0.3, 0.3, 0.15, 0.05);
    await cap(workflowId, 0.5, 'none');
    const runId = await engine.trigger(workflowId);
    const error =
      'Run cost cap has no room: $0.30 of $0.50 spent; the next request may cost $0.30, and $0.20 is left: ' +
      'raise the cap, or lower max_output_tokens of the agent';
    const run = await engine.until(runId, ['failed']);
    expect(run).toMatchObject({ error, failure: { kind: 'budget', node_id: 'n2' }, cost_usd: 0.3 });
    expect(run.steps.at(-1)).toMatchObject({ node_id: 'n2', status: 'failed', error });
    expect(await events(runId)).toMatchObject([
      { evidence: { committed_usd: 0.3, limit_usd: 0.5, request_usd: 0.3 } },
    ]);
    await override(runId, 0.8);
    expect(await engine.until(runId, ['success'])).toMatchObject({ cost_usd: 0.8 });
  });

  test('with an overrun stops it before the next step after it is reached', async () => {
    const workflowId = await costly(0.3, 0.3, 0.3);
    await cap(workflowId, 0.5);
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['failed']);
    expect(run).toMatchObject({
      error: 'Run cost cap reached: $0.60 of $0.50 spent',
      failure: { kind: 'budget', node_id: 'n3' },
      cost_usd: 0.6,
      resumable: true,
    });
    expect(run.steps.map((step) => [step.node_id, step.status])).toEqual([
      ['n1', 'success'],
      ['n2', 'success'],
      ['n3', 'failed'],
    ]);
    expect(await events(runId)).toMatchObject([
      {
        type: 'budget_blocked',
        policy: 'budget',
        decision: 'blocked',
        workflow_id: workflowId,
        version: 1,
        run_id: runId,
        node_id: 'n3',
        actor_id: null,
        reason: 'Run cost cap reached: $0.60 of $0.50 spent',
        evidence: { committed_usd: 0.6, limit_usd: 0.5 },
      },
    ]);
  });

  test('lets a run continue after an override', async () => {
    const workflowId = await costly(0.3, 0.3, 0.3, 0.3);
    await cap(workflowId, 0.5);
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    await override(runId, 0.8);
    // Two steps cost 0.6, three cost 0.9: the new cap stops the run again.
    const again = await engine.until(runId, ['failed']);
    expect(again).toMatchObject({
      error: 'Run cost cap reached: $0.90 of $0.80 spent',
      cost_cap_usd: 0.8,
      failure: { kind: 'budget', node_id: 'n4' },
    });
    await override(runId);
    const run = await engine.until(runId, ['success']);
    expect(run).toMatchObject({ cost_usd: 1.2, cost_cap_usd: null, resumed_count: 2 });
    expect(run.steps.map((step) => step.attempt)).toEqual([1, 1, 2, 2]);
    const kinds = (await events(runId)).map((event) => event.type).reverse();
    expect(kinds).toEqual([
      'budget_blocked',
      'approval_override_granted',
      'budget_blocked',
      'approval_override_granted',
    ]);
    expect((await events(runId))[0]).toMatchObject({
      actor_id: engine.actor.id,
      decision: 'granted',
      evidence: { cap_usd: null },
    });
    const audit = await engine.db.any(sql.type(
      z.object({ action: z.string(), actor_id: z.string(), details: z.unknown() }),
    )`
      SELECT action, actor_id, details FROM audit_log WHERE target_id = ${runId} ORDER BY seq
    `);
    expect(audit).toEqual([
      {
        action: 'budget_override',
        actor_id: engine.actor.id,
        details: { cap_usd: 0.8, reason: 'needed' },
      },
      {
        action: 'budget_override',
        actor_id: engine.actor.id,
        details: { cap_usd: null, reason: 'needed' },
      },
    ]);
  });

  test('stops a resumed run again without an override, and not with one', async () => {
    const workflowId = await costly(0.3, 0.3);
    await cap(workflowId, 0.2);
    const runId = await engine.trigger(workflowId);
    const stopped = {
      error: 'Run cost cap reached: $0.30 of $0.20 spent',
      failure: { kind: 'budget', node_id: 'n2' },
    };
    expect(await engine.until(runId, ['failed'])).toMatchObject(stopped);
    await engine.resume(runId);
    await eventually(async () => (await engine.run(runId)).status === 'failed');
    expect(await engine.run(runId)).toMatchObject(stopped);
    await override(runId);
    await engine.until(runId, ['success']);
  });

  test('cannot be overridden below the cost, or unless the run failed on a budget', async () => {
    const workflowId = await costly(0.3, 0.3);
    await cap(workflowId, 0.2);
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    await expect(override(runId, 0.3)).rejects.toMatchObject({ code: 'invalid' });
    const other = await engine.trigger(await costly(0));
    await engine.until(other, ['success']);
    await expect(override(other)).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('a budget', () => {
  test('stops a run that exceeds it, and an override lets it continue', async () => {
    const workflowId = await costly(0.6, 0.6, 0.6);
    const id = await budget(workflowId, 1, 0.5, 'one_step');
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['failed']);
    expect(run).toMatchObject({
      error: "Budget 'Month' exhausted: $1.20 of $1.00 committed",
      failure: { kind: 'budget', node_id: 'n3' },
    });
    expect(await status(id)).toMatchObject({ spent_usd: 1.2, reserved_usd: 0, over: true });
    await expect(engine.resume(runId)).rejects.toMatchObject({
      code: 'budget_exceeded',
    });
    await override(runId);
    expect((await engine.until(runId, ['success'])).cost_usd).toBe(1.8);
    expect(await status(id)).toMatchObject({ spent_usd: 1.8, reserved_usd: 0 });
    const [granted, refusedResume, blocked] = await events(runId);
    expect(granted).toMatchObject({ type: 'approval_override_granted' });
    expect(refusedResume).toMatchObject({ type: 'budget_blocked', node_id: null });
    expect(blocked).toMatchObject({
      type: 'budget_blocked',
      node_id: 'n3',
      evidence: { budget_id: id, budget: 'Month', committed_usd: 1.2, limit_usd: 1 },
    });
  });

  test('refuses the next trigger with an event, and admits it after the limit is raised', async () => {
    const workflowId = await costly(0.4);
    const id = await budget(workflowId, 1, 0.5);
    for (let n = 0; n < 2; n += 1) {
      await engine.until(await engine.trigger(workflowId), ['success']);
    }
    await expect(engine.trigger(workflowId)).rejects.toMatchObject({
      message:
        "Budget 'Month' exhausted: $0.80 of $1.00 committed; this run needs an estimate of $0.50",
    });
    const all = await listGovernanceEvents(engine.db, engine.actor.workspaceId, {
      workflow_id: workflowId,
      limit: 10,
      offset: 0,
    });
    expect(all).toMatchObject([{ type: 'budget_blocked', run_id: null, version: 1 }]);
    await updateBudget(engine.db, engine.actor, id, { limit_usd: 2 });
    await engine.until(await engine.trigger(workflowId), ['success']);
  });

  soakTest('keeps the hold of a run until its end, also if a worker dies', 60_000, async () => {
    const workflowId = await engine.define(
      chain(mock('slow', { cost_usd: 0.2, delay_ms: 1_500 }), mock('end', { cost_usd: 0.1 })),
    );
    const id = await budget(workflowId, 1, 0.5);
    const runId = await engine.trigger(workflowId);
    await eventually(async () => (await engine.run(runId)).steps.length === 1);
    await workers.splice(0)[0]?.kill();
    expect(await status(id)).toMatchObject({ reserved_usd: 0.5, spent_usd: 0 });
    await startWorker();
    const run = await engine.until(runId, ['success'], 40_000);
    expect(await status(id)).toMatchObject({ reserved_usd: 0, spent_usd: run.cost_usd });
  });
});

describe('parallel steps', () => {
  /** A free node that takes `startMs`, followed by `n` parallel nodes. */
  const fan = (n: number, costUsd: number, delayMs = 150, startMs = 0) => {
    const ids = Array.from({ length: n }, (_, index) => `n${index + 1}`);
    return engine.define({
      nodes: [
        mock('start', { delay_ms: startMs }),
        ...ids.map((id) => mock(id, { cost_usd: costUsd, delay_ms: delayMs })),
      ],
      edges: ids.map((id) => edge('start', id)),
    });
  };

  test('with an overrun exceed the cap by at most one step', async () => {
    const workflowId = await fan(20, 1);
    await cap(workflowId, 2);
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['failed'], 40_000);
    expect(run).toMatchObject({
      cost_usd: 2,
      error: 'Run cost cap reached: $2.00 of $2.00 spent',
      failure: { kind: 'budget' },
    });
    expect(run.steps.filter((step) => step.status === 'success')).toHaveLength(3);
    await override(runId);
    expect((await engine.until(runId, ['success'], 40_000)).cost_usd).toBe(20);
  }, 90_000);

  test('all finish under a sufficient cap, although they have to wait for each other', async () => {
    const workflowId = await fan(8, 0.4, 50);
    await cap(workflowId, 3.3);
    const run = await engine.until(await engine.trigger(workflowId), ['success'], 40_000);
    expect(run.cost_usd).toBe(3.2);
    expect(run.steps.map((step) => step.attempt)).toEqual(run.steps.map(() => 1));
  }, 60_000);

  soakTest('never exceed a budget, over several runs', 90_000, async () => {
    const workflowId = await fan(15, 0.3, 150, 1_500);
    const id = await budget(workflowId, 3, 0.5);
    const runIds: string[] = [];
    for (let n = 0; n < 4; n += 1) runIds.push(await engine.trigger(workflowId));
    const runs = await Promise.all(runIds.map((runId) => engine.until(runId, ['failed'], 60_000)));
    const total = runs.reduce((sum, run) => sum + run.cost_usd, 0);
    expect(total).toBeLessThanOrEqual(3);
    expect(await status(id)).toMatchObject({ spent_usd: total, reserved_usd: 0 });
  });

  soakTest('keep to the cap if their worker dies, and reserve nothing', 120_000, async () => {
    const workflowId = await fan(10, 0.5, 600);
    await cap(workflowId, 2, 'none');
    const id = await budget(workflowId, 100, 0.1);
    const runId = await engine.trigger(workflowId);
    await eventually(async () => (await engine.run(runId)).steps.length > 1);
    await workers.splice(0)[0]?.kill();
    await startWorker();
    const run = await engine.until(runId, ['failed'], 90_000);
    expect(run.cost_usd).toBeLessThanOrEqual(2);
    expect(await status(id)).toMatchObject({ spent_usd: run.cost_usd, reserved_usd: 0 });
  });
});

soakTest('steps, runs, budgets and usage agree after retries and resumes', 90_000, async () => {
  const workflowId = await engine.define({
    nodes: [
      mock('a', { cost_usd: 0.01 }),
      mock(
        'flaky',
        { cost_usd: 0.02, fail_times: 1 },
        { retry: { initial_interval_seconds: 0.1 } },
      ),
      mock('slow', { cost_usd: 0.03, delay_ms: 150 }),
      mock('end', { cost_usd: 0.04 }),
    ],
    edges: [edge('a', 'flaky'), edge('a', 'slow'), edge('flaky', 'end'), edge('slow', 'end')],
  });
  const budgets = [await budget(workflowId, 1_000, 0.05), await budget(workflowId, 1_000)];
  const outcomes = await Promise.all(
    Array.from({ length: 24 }, async (_, n) => {
      const runId = await engine.trigger(workflowId);
      if (n % 4 === 0) {
        await new Promise((resolve) => setTimeout(resolve, (n * 17) % 200));
        // A cancel that comes too late fails with `conflict`.
        await engine.cancel(runId).catch((error: unknown) => {
          expect(error).toMatchObject({ code: 'conflict' });
        });
      }
      const run = await engine.until(runId, ['success', 'failed'], 30_000);
      if (run.status === 'failed' && n % 8 !== 0) {
        await engine.resume(runId);
        await engine.until(runId, ['success', 'failed'], 30_000);
      }
      return runId;
    }),
  );
  // A cancelled attempt may still book its cost.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const runs = await Promise.all(outcomes.map((runId) => engine.run(runId)));
  const total = runs.reduce((sum, run) => sum + Math.round(run.cost_usd * 1e6), 0);
  expect(total).toBeGreaterThan(0);
  for (const id of budgets) {
    const { spent_usd: spent, reserved_usd: reserved } = await status(id);
    expect([Math.round(spent * 1e6), reserved]).toEqual([total, 0]);
  }
});
