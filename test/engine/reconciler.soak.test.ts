import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { reconcileOnce, startReconciler } from '#shared/operations/runs/reconcile.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { stopBefore } from '#test/support/stop-before.ts';

const tools = useToolServer();

const GRACE_MS = 12_000;

describe('an execution ended outside the service', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({
      env: { RECONCILE_GRACE_SECONDS: String(GRACE_MS / 1_000), RECONCILE_INTERVAL_SECONDS: '1' },
    });
  });
  afterAll(() => engine.close());

  async function pausedRun(): Promise<string> {
    const runId = await engine.start(
      chain(tools.node('a'), { id: 'gate', kind: 'human_gate' }, tools.node('b')),
    );
    await engine.until(runId, ['paused']);
    return runId;
  }
  const terminate = (runId: string) =>
    engine.deps.temporal.client.workflow.getHandle(runId).terminate('by an operator');
  const remove = (runId: string) =>
    engine.deps.temporal.client.workflowService.deleteWorkflowExecution({
      namespace: engine.deps.temporal.namespace,
      workflowExecution: { workflowId: runId },
    });

  test('settles its run once the grace period is over, whether terminated or deleted', async () => {
    const [terminated, deleted, approved] = [
      await pausedRun(),
      await pausedRun(),
      await pausedRun(),
    ];
    await Promise.all([terminate(terminated), remove(deleted), terminate(approved)]);
    const endedAt = Date.now();
    // An approval in between succeeds: it stays queued until the execution is known to be lost.
    await engine.approve(approved);
    expect((await engine.run(approved)).status).toBe('running');
    const settled = await Promise.all(
      [terminated, deleted, approved].map(async (runId) => {
        const run = await engine.until(runId, ['failed'], 3 * GRACE_MS);
        return { run, afterMs: Date.now() - endedAt };
      }),
    );
    for (const { run, afterMs } of settled) {
      expect(run).toMatchObject({ failure: { kind: 'crash' }, resumable: true });
      expect(run.error).toMatch(/^The execution of this run (ended as terminated|is missing)$/);
      expect(afterMs).toBeGreaterThanOrEqual(GRACE_MS - 100);
    }
    await engine.resume(approved);
    await engine.until(approved, ['success'], 40_000);
    expect(tools.calls('a')).toHaveLength(3);
  }, 120_000);

  test('does not count as lost when a second check finds it', async () => {
    const runId = await pausedRun();
    await engine.db.query(sql.unsafe`
      UPDATE runs SET lost_since = now() - interval '1 hour', checked_at = now() - interval '1 hour'
      WHERE id = ${runId}`);
    await eventually(async () => !(await isLost(runId)));
    expect((await engine.run(runId)).status).toBe('paused');
  });

  test('is checked at most every two seconds', async () => {
    const runId = await pausedRun();
    const looked = () =>
      engine.db.oneFirst(sql.type(z.object({ at: z.string().nullable() }))`
        SELECT checked_at AS at FROM runs WHERE id = ${runId}`);
    await eventually(async () => (await looked()) !== null);
    const seen = new Set<string | null>();
    const began = Date.now();
    while (Date.now() - began < 5_000) {
      await Promise.all([1, 2, 3].map(() => reconcileOnce(engine.deps)));
      seen.add(await looked());
    }
    // At most one check every two seconds.
    expect(seen.size).toBeLessThanOrEqual(Math.ceil((Date.now() - began) / 2_000) + 1);
  });

  const isLost = (runId: string) =>
    engine.db.oneFirst(sql.type(z.object({ lost: z.boolean() }))`
      SELECT lost_since IS NOT NULL AS lost FROM runs WHERE id = ${runId}`);
});

test('hundreds of open runs do not delay the check of a run with a terminated execution', async () => {
  const graceMs = 3_000;
  const engine = await startEngine({
    worker: false,
    env: { RECONCILE_GRACE_SECONDS: String(graceMs / 1_000), RECONCILE_INTERVAL_SECONDS: '1' },
  });
  const workflowId = await engine.define(chain(tools.node('a')));
  const runIds: string[] = [];
  while (runIds.length < 500) {
    const started = Array.from({ length: 20 }, () => engine.trigger(workflowId));
    runIds.push(...(await Promise.all(started)));
  }
  const [runId = ''] = runIds;
  // The last run in the order of checks.
  await engine.db.query(sql.unsafe`
      UPDATE runs SET updated_at = now() - interval '1 minute',
        checked_at = now() - CASE WHEN id = ${runId} THEN 0 ELSE 60 END * interval '1 second'`);
  const describe = jest.spyOn(
    engine.deps.temporal.client.workflowService,
    'describeWorkflowExecution',
  );
  const handle = engine.deps.temporal.client.workflow.getHandle(runId);
  await handle.terminate('by an operator');
  const endedAt = Date.now();
  const reconciler = startReconciler(engine.deps);
  try {
    await engine.until(runId, ['failed'], 40_000);
    const afterMs = Date.now() - endedAt;
    // In its turn it would be the last.
    const turn = describe.mock.calls.findIndex(
      ([request]) => request.execution?.workflowId === runId,
    );
    expect(turn).toBeLessThan(runIds.length - 50);
    // Fifty checks per second, and those of the terminated run.
    expect(describe.mock.calls.length).toBeLessThan((afterMs / 1_000 + 1) * 50 + 10);
    expect(describe.mock.calls.length).toBeGreaterThan(50);
  } finally {
    await reconciler.stop();
    await engine.close();
  }
}, 120_000);

test('workers killed one after the other during the workflow task of a run let the run continue on the next one', async () => {
  const engine = await startEngine({
    worker: false,
    // A worker that holds a task for most of its timeout reports progress, which resets the attempts to one.
    env: { WORKFLOW_TASK_TIMEOUT_SECONDS: '6' },
  });
  const reconciler = startReconciler(engine.deps);
  try {
    const runId = await engine.start(chain(tools.node('a'), { id: 'gate', kind: 'human_gate' }));
    const attempts: number[] = [];
    // Enough to have ended the run in earlier versions. On a busy machine, more workers report progress.
    const isEnough = () => attempts.length >= 10 && Math.max(...attempts) > 3;
    while (!isEnough() && attempts.length < 25) {
      // Its transaction is not committed, so the next worker starts it again.
      const stop = await stopBefore(engine.db, {
        change: sql.fragment`UPDATE OF status`,
        table: 'runs',
        when: sql.fragment`NEW.status = 'paused'`,
      });
      const worker = await startWorkerProcess(engine.env);
      await stop.reached();
      attempts.push((await describeCurrent(engine.deps, runId))?.taskAttempts ?? 0);
      await worker.kill();
      await stop.release();
      expect((await engine.run(runId)).status).toBe('running');
    }
    expect(Math.max(...attempts)).toBeGreaterThan(3);
    const worker = await engine.startWorker();
    await engine.until(runId, ['paused'], 60_000);
    expect(tools.calls('a')).toHaveLength(1);
    await worker.stop();
  } finally {
    await reconciler.stop();
    await engine.close();
  }
}, 500_000);
