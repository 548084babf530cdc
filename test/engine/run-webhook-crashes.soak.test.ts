import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { edge, mock } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { type RunWebhooks, startRunWebhooks } from '#test/support/run-webhooks.ts';
import { stopBefore } from '#test/support/stop-before.ts';

// Workers are killed around the changes of runs. Each change has exactly one event, with one id in all deliveries.

let hooks: RunWebhooks;
const workers: TestProcess[] = [];
beforeAll(async () => {
  hooks = await startRunWebhooks({ worker: false });
  await hooks.register();
});
afterAll(() => hooks.close());
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

async function startWorker(): Promise<TestProcess> {
  const worker = await startWorkerProcess(hooks.engine.env);
  workers.push(worker);
  return worker;
}

const gate = { id: 'gate', kind: 'human_gate', prompt: 'Go on?' } as const;
const graphs = {
  success: { nodes: [gate, mock('a', { output: 'x' })], edges: [edge('gate', 'a')] },
  failed: { nodes: [gate, mock('a', { output: 'x', fail_times: 9 })], edges: [edge('gate', 'a')] },
};
const lastType = { success: 'run.completed', failed: 'run.failed' } as const;

/** The ids of the received events, by type. */
async function idsByType(runId: string, count: number): Promise<Record<string, Set<string>>> {
  const ids: Record<string, Set<string>> = {};
  for (const { type, id } of await hooks.events(runId, count)) (ids[type] ??= new Set()).add(id);
  return ids;
}

const sizes = (ids: Record<string, Set<string>>): Record<string, number> =>
  Object.fromEntries(Object.entries(ids).map(([type, { size }]) => [type, size]));

/** Stops a worker inside the transaction of the change, or just after its commit. */
async function killAround(
  change: 'paused' | 'success' | 'failed',
  when: 'before' | 'after',
  begin: () => Promise<string>,
): Promise<string> {
  const worker = await startWorker();
  const stop = await stopBefore(hooks.engine.db, {
    change: sql.fragment`UPDATE OF status`,
    table: 'runs',
    when: sql.fragment`NEW.status = ${sql.literalValue(change)} AND OLD.status <> ${sql.literalValue(change)}`,
  });
  const runId = await begin();
  await stop.reached();
  if (when === 'before') {
    await worker.kill();
    await stop.release();
  } else {
    await stop.release();
    await worker.kill();
  }
  await startWorker();
  return runId;
}

test.each([
  ['before', 'success'],
  ['after', 'success'],
  ['before', 'failed'],
  ['after', 'failed'],
] as const)(
  'a worker killed %s a run is %s leaves one event',
  async (when, status) => {
    const { engine } = hooks;
    const runId = await killAround('paused', when, async () =>
      engine.trigger(await engine.define(graphs[status])),
    );
    await engine.until(runId, ['paused'], 30_000);
    expect(sizes(await idsByType(runId, 2))).toEqual({ 'run.paused': 1, 'approval.requested': 1 });
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    await killAround(status, when, async () => {
      const decision = { actor: engine.actor, runId, approved: true };
      await (
        await decideGate(engine.deps, decision)
      ).dispatched;
      return runId;
    });
    await engine.until(runId, [status], 30_000);
    const types = await idsByType(runId, 3);
    expect(sizes(types)).toEqual({
      'run.paused': 1,
      'approval.requested': 1,
      [lastType[status]]: 1,
    });
    const stored = await engine.db.any(sql.unsafe`
    SELECT type FROM outbound_events WHERE data -> 'run' ->> 'id' = ${runId}`);
    expect(stored).toHaveLength(3);
  },
  120_000,
);

test('workers killed at any moment leave one event for each change', async () => {
  const { engine } = hooks;
  const workflowId = await engine.define(graphs.success);
  let worker = await startWorker();
  const runIds: string[] = [];
  for (let round = 0; round < 3; round += 1) {
    const batch = await Promise.all([1, 2, 3, 4].map(() => engine.trigger(workflowId)));
    runIds.push(...batch);
    // While the first of them pauses, others are on their way.
    await engine.until(batch[0]!, ['paused'], 30_000);
    await worker.kill();
    worker = await startWorker();
    await engine.until(batch[3]!, ['paused'], 30_000);
    await Promise.all(
      batch.map(async (runId) => {
        await engine.until(runId, ['paused'], 30_000);
        await decideGate(engine.deps, { actor: engine.actor, runId, approved: true });
      }),
    );
    await engine.until(batch[0]!, ['success'], 30_000);
    await worker.kill();
    worker = await startWorker();
  }
  for (const runId of runIds) {
    await engine.until(runId, ['success'], 60_000);
    expect(sizes(await idsByType(runId, 3))).toEqual({
      'run.paused': 1,
      'approval.requested': 1,
      'run.completed': 1,
    });
  }
}, 240_000);
