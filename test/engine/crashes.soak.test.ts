import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, mock, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { hostAndPort, startProxy } from '#test/support/proxy.ts';
import { setting } from '#test/support/settings.ts';
import { useStageEach } from '#test/support/stage.ts';

const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
const workers: TestProcess[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.kill())));
const proxy = useStageEach(() => startProxy(hostAndPort(setting('TEST_TEMPORAL_ADDRESS'))));
const tools = useToolServer();

/** A worker process, connected to Temporal directly or through the proxy that the test can hold. */
async function startWorker(wire: 'direct' | 'proxied' = 'direct'): Promise<TestProcess> {
  const worker = await startWorkerProcess({
    ...engine.env,
    TEMPORAL_ADDRESS: wire === 'proxied' ? proxy.address : setting('TEST_TEMPORAL_ADDRESS'),
  });
  workers.push(worker);
  return worker;
}

const terminals = async (runId: string) =>
  (await engine.frames(runId)).map((frame) => frame.type).filter((type) => type.startsWith('run_'));

describe('a killed worker', () => {
  test('in a step lets another worker repeat only that step, with the same key', async () => {
    const worker = await startWorker();
    tools.answer('b', { delayMs: 60_000 });
    const runId = await engine.start(chain(tools.node('a'), tools.node('b'), tools.node('c')));
    await eventually(() => tools.calls('b').length === 1);
    await worker.kill();
    tools.answer('b', {});
    await startWorker();
    await engine.until(runId, ['success'], 30_000);
    expect(tools.calls('a')).toHaveLength(1);
    expect(tools.calls('b')).toHaveLength(2);
    // The same idempotency key, so that the receiver can recognize the repeated request.
    const keys = tools.calls('b').map((call) => call.headers['idempotency-key']);
    expect(keys[0]).toBe(keys[1]);
  }, 60_000);

  test('twice in a step with one try still lets the step succeed', async () => {
    tools.answer('a', { delayMs: 60_000 });
    let worker = await startWorker();
    const runId = await engine.start(chain(tools.node('a', { retry: { max_attempts: 1 } })));
    for (let kill = 1; kill <= 2; kill += 1) {
      await eventually(() => tools.calls('a').length === kill, 20_000);
      await worker.kill();
      if (kill === 2) tools.answer('a', {});
      worker = await startWorker();
    }
    const run = await engine.until(runId, ['success'], 30_000);
    expect(run.steps[0]?.attempt).toBe(3);
  }, 90_000);
});

test('two attempts at one step let only the claim holder decide the result', async () => {
  await startWorker('proxied');
  const runId = await engine.start(
    chain(mock('a', { delay_ms: 12_000, cost_usd: 0.01, output: 'done' }), tools.node('b')),
  );
  await eventually(async () => (await engine.run(runId)).steps[0]?.status === 'running');
  // The worker continues, but Temporal receives no heartbeat and dispatches the step to another worker.
  proxy.cut();
  await startWorker();
  const run = await engine.until(runId, ['success'], 60_000);
  expect(run.steps[0]).toMatchObject({ status: 'success', output: 'done', attempt: 2 });
  // The SDK may stop the first attempt when its heartbeats fail; otherwise that attempt is also paid for.
  expect([0.01, 0.02]).toContain(run.steps[0]?.cost_usd);
  expect(run.cost_usd).toBe(run.steps[0]?.cost_usd);
  expect(tools.calls('b')).toHaveLength(1);
  expect(await terminals(runId)).toEqual(['run_completed']);
}, 90_000);

describe('an attempt with a heartbeat timeout', () => {
  const slow = async (delayMs: number): Promise<string> => {
    const runId = await engine.start(
      chain(mock('a', { delay_ms: delayMs, cost_usd: 0.01, output: 'done' })),
    );
    await eventually(async () => (await engine.run(runId)).steps[0]?.status === 'running', 20_000);
    return runId;
  };

  test('stops or ends before the next one starts, and the step still succeeds', async () => {
    await startWorker('proxied');
    const runId = await slow(12_000);
    proxy.cut();
    // The SDK cancels the step some seconds after the heartbeat timeout, unless the step ends first.
    await eventually(async () => (await claimOf(runId)) === null, 20_000);
    expect(['running', 'success']).toContain((await engine.run(runId)).steps[0]?.status);
    await startWorker();
    const run = await engine.until(runId, ['success'], 60_000);
    expect(run.steps[0]).toMatchObject({ status: 'success', output: 'done' });
    expect(await terminals(runId)).toEqual(['run_completed']);
  }, 120_000);

  test('stops after the connection is back, and the next one continues', async () => {
    await startWorker('proxied');
    const runId = await slow(8_000);
    proxy.cut();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    proxy.restore();
    const run = await engine.until(runId, ['success'], 60_000);
    expect(run.steps[0]).toMatchObject({ status: 'success', output: 'done' });
    expect(await terminals(runId)).toEqual(['run_completed']);
  }, 120_000);

  const claimOf = (runId: string) =>
    engine.db.oneFirst(sql.type(z.object({ claim: z.string().nullable() }))`
      SELECT claim FROM steps WHERE run_id = ${runId}`);
});

test('a gate with crashes keeps a decision made without workers, through a cancel and a resume', async () => {
  const worker = await startWorker();
  const runId = await engine.start(
    chain(tools.node('a'), { id: 'gate', kind: 'human_gate' }, tools.node('b')),
  );
  await engine.until(runId, ['paused']);
  await worker.kill();
  await engine.approve(runId);
  await engine.cancel(runId);
  await startWorker();
  await eventually(async () => (await describeCurrent(engine.deps, runId))?.open === false, 30_000);
  await engine.resume(runId);
  const run = await engine.until(runId, ['success', 'paused', 'failed'], 30_000);
  expect(run.status).toBe('success');
  expect(tools.calls('a')).toHaveLength(1);
  expect(tools.calls('b')).toHaveLength(1);
}, 90_000);
