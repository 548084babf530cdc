import { afterEach, describe, expect, test } from '@jest/globals';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import type { ReconcilerMetrics } from '#shared/operations/runs/reconcile.ts';
import type { TaskFailure } from '#shared/operations/runs/stuck-tasks.ts';
import { createWorker, type RunningWorker } from '#worker/create-worker.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { bundleFixture } from '#test/support/workflow-bundle.ts';

const engine = useEngine({ worker: false });
const tools = useToolServer();

const handleOf = (runId: string) => engine.deps.temporal.client.workflow.getHandle(runId);
const define = () => engine.define(chain(tools.node('a')));

/** A run whose history comes from workflow code with other commands. */
async function runOfOtherCode(): Promise<string> {
  const bundle = await bundleFixture('other-workflow.ts');
  const other = await createWorker({ ...engine.deps, bundle });
  const runId = await engine.trigger(await define());
  await eventually(async () => (await handleOf(runId).describe()).historyLength >= 8, 30_000);
  await other.stop();
  return runId;
}

/** Sends a signal, so that the workflow code runs. */
const wake = (runId: string) =>
  handleOf(runId).signal('decision', { step_key: 'x', round: 1, approved: true });

async function cannotBeReplayed(runId: string): Promise<void> {
  const failed = await engine.until(runId, ['failed'], 120_000);
  expect(failed.error).toMatch(/cannot be replayed/);
  expect(failed.failure).toEqual({ kind: 'crash' });
  await engine.resume(runId);
  await engine.until(runId, ['success'], 60_000);
  expect(tools.calls('a')).toHaveLength(1);
}

describe('a history that current code cannot replay', () => {
  let worker: RunningWorker;
  afterEach(() => worker.stop());

  test('fails the run with that reason, and a resume uses the ledger', async () => {
    const runId = await runOfOtherCode();
    worker = await engine.startWorker();
    await wake(runId);
    await cannotBeReplayed(runId);
  }, 240_000);

  test('fails the run also after a worker died with its task', async () => {
    const runId = await runOfOtherCode();
    await wake(runId);
    await takeTaskAndDie();
    worker = await engine.startWorker();
    await cannotBeReplayed(runId);
  }, 240_000);

  /** Acts as a worker that is killed during a workflow task: polls the task and never responds. */
  async function takeTaskAndDie(): Promise<void> {
    const { client, namespace, queues } = engine.deps.temporal;
    const taken = await client.connection.withDeadline(Date.now() + 30_000, () =>
      client.workflowService.pollWorkflowTaskQueue({
        namespace,
        taskQueue: { name: queues.control },
        identity: 'dead',
      }),
    );
    expect(taken.taskToken.length).toBeGreaterThan(0);
  }
});

test('workflow code with a bug that fails its tasks does not end a run; the failure is reported, and the run continues with fixed code', async () => {
  const told: TaskFailure[] = [];
  const metrics: ReconcilerMetrics = {
    settled: () => undefined,
    stuck: (trouble) => told.push(trouble),
  };
  const bundle = await bundleFixture('throwing-workflow.ts');
  const broken = await createWorker({
    ...engine.deps,
    bundle,
    metrics: { reconciler: metrics } as never,
  });
  const runId = await engine.trigger(await define());
  await eventually(() => told.length >= 1, 120_000);
  expect(told).toEqual(['failure']);
  expect((await engine.run(runId)).status).toBe('pending');
  expect(await describeCurrent(engine.deps, runId)).toMatchObject({ open: true });
  await broken.stop();
  const worker = await engine.startWorker();
  await engine.until(runId, ['success'], 60_000);
  await worker.stop();
}, 240_000);
