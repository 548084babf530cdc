import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { deleteWorkflow } from '#shared/db/workflows/workflows.ts';
import { cancelRun, decideGate, resumeRun, triggerRun } from '#shared/operations/runs/runs.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { connectTemporal } from '#shared/platform/temporal.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import {
  chain,
  echo,
  edge,
  eventually,
  mock,
  startEngine,
  useEngine,
} from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { useApiWithoutTemporal } from '#test/support/api-without-temporal.ts';
import { deleteHistory, hasContinuedAsNew } from '#test/support/executions.ts';

const engine = useEngine();
const { api, proxy } = useApiWithoutTemporal(engine);
const tools = useToolServer();

const reopened = (runId: string) => sql.unsafe`
  UPDATE runs SET status = 'running', finished_at = NULL, output = NULL, state = NULL, phase_since = now(),
    updated_at = now() - interval '1 hour', created_at = now() - interval '1 hour'
  WHERE id = ${runId}`;
const resumeOnceMore = (runId: string, base: string, n: number) => sql.unsafe`
  INSERT INTO outbox (run_id, kind, payload)
  VALUES (${runId}, 'resume', ${JSON.stringify({ n, plan: 'reset', base, cut: 4, request_id: 'again' })}::json)`;
const actor = () => ({ actor: engine.actor });

describe('without Temporal', () => {
  test('a trigger is accepted and run later by a worker', async () => {
    const workflowId = await engine.define(chain(tools.node('a')));
    proxy.cut();
    const { runId, dispatched } = await triggerRun(api, {
      ...actor(),
      workflowId,
      trigger: 'manual',
      input: {},
    });
    expect(['pending', 'running', 'success']).toContain((await engine.run(runId)).status);
    expect(await dispatched).toBe(false);
    await engine.until(runId, ['success']);
    expect(tools.calls('a')).toHaveLength(1);
  });

  test('approve, cancel and resume work', async () => {
    const runId = await engine.start(chain({ id: 'gate', kind: 'human_gate' }, tools.node('a')));
    await engine.until(runId, ['paused']);
    proxy.cut();
    await cancelRun(api, { ...actor(), runId });
    expect((await engine.run(runId)).status).toBe('failed');
    await resumeRun(api, { ...actor(), runId });
    await engine.until(runId, ['paused']);
    await decideGate(api, { ...actor(), runId, approved: true });
    expect((await engine.run(runId)).status).not.toBe('paused');
    await engine.until(runId, ['success']);
    expect(tools.calls('a')).toHaveLength(1);
  });

  test('a decision is sent later, with its reason if there is one', async () => {
    const workflowId = await engine.define(
      chain({ id: 'gate', kind: 'human_gate', label: 'Legal' }),
    );
    for (const [reason, error] of [
      ['too late', "Rejected at gate 'Legal': too late"],
      [undefined, "Rejected at gate 'Legal'"],
    ]) {
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['paused']);
      proxy.cut();
      const { dispatched } = await decideGate(api, { ...actor(), runId, approved: false, reason });
      expect(await dispatched).toBe(false);
      expect((await engine.until(runId, ['failed'])).error).toBe(error);
    }
  });

  test('a run cancelled before its start only starts by a resume', async () => {
    const lonely = await startEngine({ worker: false });
    try {
      const config = loadConfig({ ...lonely.env, TEMPORAL_ADDRESS: proxy.address });
      const temporal = connectTemporal(config, lonely.db);
      const cutOff = { ...lonely.deps, config, temporal };
      proxy.cut();
      const workflowId = await lonely.define(chain(tools.node('a')));
      const { runId, dispatched } = await triggerRun(cutOff, {
        actor: lonely.actor,
        workflowId,
        trigger: 'manual',
        input: {},
      });
      expect((await lonely.run(runId)).status).toBe('pending');
      expect(await dispatched).toBe(false);
      await cancelRun(cutOff, { actor: lonely.actor, runId });
      await temporal.close();
      await lonely.startWorker();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      expect(await describeCurrent(lonely.deps, runId)).toBeUndefined();
      expect(tools.calls('a')).toHaveLength(0);
      // There is no history to reset: the resume starts from the ledger.
      await lonely.resume(runId);
      await lonely.until(runId, ['success']);
      expect(tools.calls('a')).toHaveLength(1);
    } finally {
      await lonely.close();
    }
  });
});

describe('without a history to reset', () => {
  test('a run cancelled before its first workflow task resumes from the ledger', async () => {
    const lonely = await startEngine({ worker: false });
    try {
      const runId = await lonely.start(chain(tools.node('a')));
      await lonely.cancel(runId);
      await lonely.resume(runId);
      await lonely.startWorker();
      const run = await lonely.until(runId, ['success']);
      expect(run.resumed_count).toBe(1);
      expect(tools.calls('a')).toHaveLength(1);
    } finally {
      await lonely.close();
    }
  });

  test('a run without history takes steps and decisions from the ledger', async () => {
    // a -> gate -> loop(work) -> b!
    const workflowId = await engine.define({
      nodes: [
        tools.node('a'),
        { id: 'gate', kind: 'human_gate' },
        { id: 'loop', kind: 'loop', expression: 'true', max_iterations: 2 },
        tools.node('work'),
        tools.node('b'),
      ],
      edges: [
        edge('a', 'gate'),
        edge('gate', 'loop', 'true'),
        edge('loop', 'work', 'true'),
        edge('work', 'loop'),
        edge('loop', 'b'),
      ],
    });
    tools.answer('b', { status: 500 });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['paused']);
    await engine.approve(runId, { input: { who: 'me' } });
    await engine.until(runId, ['failed']);
    await deleteHistory(engine, runId);
    tools.answer('b', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(['a', 'work', 'b'].map((name) => tools.calls(name).length)).toEqual([1, 2, 2]);
    expect(run.state).toMatchObject({ who: 'me', gate: { approved: true } });
  }, 90_000);
});

describe('an execution ended outside the service', () => {
  test('is detected, settled as failed, and can be resumed', async () => {
    const runId = await engine.start(
      chain(tools.node('a'), { id: 'gate', kind: 'human_gate' }, tools.node('b')),
    );
    await engine.until(runId, ['paused']);
    await engine.deps.temporal.client.workflow.getHandle(runId).terminate('by an operator');
    const run = await engine.until(runId, ['failed'], 15_000);
    expect(run).toMatchObject({
      error: 'The execution of this run ended as terminated',
      failure: { kind: 'crash' },
      resumable: true,
    });
    await engine.resume(runId);
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    await engine.until(runId, ['success']);
    expect(['a', 'b'].map((name) => tools.calls(name).length)).toEqual([1, 1]);
  });

  test('by a cancel fails its run as cancelled', async () => {
    const runId = await engine.start(chain({ id: 'gate', kind: 'human_gate' }));
    await engine.until(runId, ['paused']);
    await engine.deps.temporal.client.workflow.getHandle(runId).cancel();
    const run = await engine.until(runId, ['failed']);
    expect(run).toMatchObject({ error: 'Cancelled in Temporal', failure: { kind: 'cancelled' } });
  });

  test('after its last step settles its run as success', async () => {
    const runId = await engine.start(chain(tools.node('a')));
    await engine.until(runId, ['success']);
    // The state after the final report was lost: the row open, every step finished.
    await engine.db.query(reopened(runId));
    const run = await engine.until(runId, ['success'], 15_000);
    expect(run.output).toMatchObject({ a: { status: 200 } });
  });
});

test('a late reset does not affect the new execution', async () => {
  tools.answer('a', { status: 500 });
  const runId = await engine.start(chain(tools.node('a'), { id: 'gate', kind: 'human_gate' }));
  await engine.until(runId, ['failed']);
  await eventually(async () => (await describeCurrent(engine.deps, runId))?.open === false);
  const base = (await describeCurrent(engine.deps, runId))?.runId ?? '';
  tools.answer('a', {});
  await engine.resume(runId);
  await engine.until(runId, ['paused']);
  const current = (await describeCurrent(engine.deps, runId))?.runId;
  // The same queued resume again, as another process finds it after the first attempt's response was lost.
  await engine.db.query(resumeOnceMore(runId, base, 1));
  await engine.carriedOut(runId);
  expect(await describeCurrent(engine.deps, runId)).toMatchObject({ runId: current, open: true });
  expect((await engine.run(runId)).status).toBe('paused');
  expect(tools.calls('a')).toHaveLength(2);
});

test('a deleted workflow ends the executions of its live runs, which begin no further step', async () => {
  const workflowId = await engine.define(chain(tools.node('slow'), tools.node('after')));
  tools.answer('slow', { delayMs: 60_000 });
  const runId = await engine.trigger(workflowId);
  await eventually(() => tools.calls('slow').length === 1);
  await deleteWorkflow(engine.db, engine.actor, workflowId);
  await eventually(async () => (await describeCurrent(engine.deps, runId))?.open === false, 20_000);
  expect(tools.calls('after')).toHaveLength(0);
});

test('a long run continues in a new execution when its history is long, and can fail and resume there', async () => {
  // loop -true-> work and more short steps than may be in flight -> back; loop -> b!
  const short = Array.from({ length: 12 }, (_, n) => `short${n}`);
  tools.answer('b', { status: 500 });
  const runId = await engine.start({
    nodes: [
      { id: 'loop', kind: 'loop', expression: 'true', max_iterations: 50 },
      mock('work', { output: '{loop.iterations}', delay_ms: 1 }),
      ...short.map((id) => echo(id, 'loop.iterations')),
      tools.node('b'),
    ],
    edges: [
      ...['work', ...short].flatMap((id) => [edge('loop', id, 'true'), edge(id, 'loop')]),
      edge('loop', 'b'),
    ],
  });
  await engine.until(runId, ['failed'], 100_000);
  expect(await hasContinuedAsNew(engine, runId)).toBe(true);
  tools.answer('b', {});
  await engine.resume(runId);
  const run = await engine.until(runId, ['success'], 60_000);
  for (const id of ['work', ...short]) {
    expect(run.steps.filter((step) => step.node_id === id)).toHaveLength(50);
    expect(run.state?.[id]).toBe(50);
  }
  expect(tools.calls('b')).toHaveLength(2);
}, 240_000);

test('a delay is a server timer that needs no worker while it runs', async () => {
  const lonely = await startEngine({ worker: false });
  const workers: TestProcess[] = [];
  const startWorker = async () => {
    const worker = await startWorkerProcess(lonely.env);
    workers.push(worker);
    return worker;
  };
  try {
    const worker = await startWorker();
    const runId = await lonely.start(
      chain(
        { id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: '{seconds}' } },
        echo('b'),
      ),
      { seconds: 2 },
    );
    await eventually(async () => (await lonely.run(runId)).steps[0]?.status === 'running');
    await worker.kill();
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    await startWorker();
    const run = await lonely.until(runId, ['success'], 20_000);
    expect(run.steps[0]).toMatchObject({ status: 'success', output: { delayed_seconds: 2 } });
    const types = (await lonely.frames(runId)).map((frame) => frame.type);
    expect(types).toEqual([
      'step_started',
      'step_completed',
      'step_started',
      'step_completed',
      'run_completed',
    ]);
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
    await lonely.close();
  }
}, 60_000);
