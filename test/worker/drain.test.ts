import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, startEngine } from '#test/support/engine.ts';
import { modelSettings, startModelServer } from '#test/support/model-server.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

// Workers as processes of their own, which are stopped while a model answers slowly.

/** The model answers when it opens. */
let gate: { opened: Promise<unknown>; open: () => void };

const models = useStage(() =>
  startModelServer(() => ({ text: 'Hello', pause: async () => void (await gate.opened) })),
);
const tools = useStage(startToolServer);
const engine = useStage(() => startEngine({ worker: false, env: modelSettings(models) }));

/** A run whose model was asked by a worker that is being stopped. */
async function stoppedWhileAsking(
  graceSeconds: number,
): Promise<{ runId: string; worker: TestProcess }> {
  const { promise: opened, resolve } = Promise.withResolvers<unknown>();
  gate = { opened, open: () => resolve(undefined) };
  models.seen.length = 0;
  const worker = await startWorkerProcess({
    ...engine.env,
    LOG_LEVEL: 'info',
    SHUTDOWN_GRACE_SECONDS: String(graceSeconds),
  });
  const runId = await engine.start(
    chain({ id: 'ask', kind: 'agent', prompt: 'Hello?', model: 'openai/gpt-5-mini' }),
  );
  await eventually(() => models.asked().length === 1);
  process.kill(worker.pid, 'SIGTERM');
  await eventually(() => worker.tail().some((line) => line.includes('worker is stopping')));
  return { runId, worker };
}

test('a worker that is being stopped lets its steps end, and takes no others', async () => {
  const { runId, worker } = await stoppedWhileAsking(60);
  const later = await engine.start(chain(tools.node('b')));
  // Long enough for a worker that takes a step, or that cancels one.
  await sleep(3_000);
  expect(tools.calls('b')).toEqual([]);
  gate.open();
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  const next = await startWorkerProcess(engine.env);
  const run = await engine.until(runId, ['success', 'failed']);
  expect(run.steps).toMatchObject([{ status: 'success', attempt: 1 }]);
  expect(models.asked()).toHaveLength(1);
  expect((await engine.until(later, ['success', 'failed'])).status).toBe('success');
  await next.kill();
}, 60_000);

soakTest('what does not end in that time continues on another worker', 60_000, async () => {
  const { runId, worker } = await stoppedWhileAsking(1);
  expect(await worker.exited).toEqual({ code: 0, signal: null });
  gate.open();
  const next = await startWorkerProcess(engine.env);
  expect((await engine.until(runId, ['success', 'failed'])).status).toBe('success');
  expect(models.asked()).toHaveLength(2);
  await next.kill();
});
