import { afterEach, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { resumeRun } from '#shared/operations/runs/runs.ts';
import type { JsonObject } from '#shared/json.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { stopBefore } from '#test/support/stop-before.ts';
import { useApiWithoutTemporal } from '#test/support/api-without-temporal.ts';
import { deleteHistory } from '#test/support/executions.ts';

const engine = useEngine({ worker: false });
const victims: TestProcess[] = [];
afterEach(() => Promise.all(victims.splice(0).map((victim) => victim.kill())));
const { api, proxy } = useApiWithoutTemporal(engine);
const tools = useToolServer();

const SECONDS = 1_000;
const counts = () => ['a', 'b'].map((name) => tools.calls(name).length);
const current = async (runId: string) => (await describeCurrent(engine.deps, runId))?.runId;

/** A failed run of a -> b!, with its execution closed and its tool repaired. */
async function failedRun(): Promise<string> {
  tools.answer('b', { status: 500 });
  const runId = await engine.start(chain(tools.node('a'), tools.node('b')));
  await engine.until(runId, ['failed'], 40 * SECONDS);
  await eventually(
    async () => (await describeCurrent(engine.deps, runId))?.open === false,
    40 * SECONDS,
  );
  tools.answer('b', {});
  return runId;
}

/** Simulates a history that cannot be replayed: every resume uses the ledger. */
const distrustHistory = (runId: string) =>
  engine.db.query(sql.unsafe`UPDATE runs SET from_ledger = true WHERE id = ${runId}`);

/** Resumes while Temporal is unreachable: the resume is queued and not dispatched. */
async function queueResume(runId: string): Promise<void> {
  proxy.cut();
  const { dispatched } = await resumeRun(api, { actor: engine.actor, runId });
  expect(await dispatched).toBe(false);
}

/** Sets the queued resume to what an earlier attempt left. */
const leaveBehind = (runId: string, payload: JsonObject) =>
  engine.db.query(sql.unsafe`
    UPDATE outbox SET payload = ${JSON.stringify(payload)}::json WHERE run_id = ${runId} AND kind = 'resume'`);

const ledgerPlanIsKept = {
  change: sql.fragment`UPDATE OF payload`,
  table: 'outbox',
  when: sql.fragment`NEW.kind = 'resume' AND OLD.payload::text <> NEW.payload::text`,
};

describe('a process killed while it starts an execution from the ledger', () => {
  /** A run whose resume `victim` is about to dispatch: it has decided, but not yet written its plan. */
  async function aboutToStart() {
    const worker = await engine.startWorker();
    const runId = await failedRun();
    await worker.stop();
    await distrustHistory(runId);
    const base = await current(runId);
    const stop = await stopBefore(engine.db, ledgerPlanIsKept);
    await queueResume(runId);
    proxy.restore();
    const victim = await startWorkerProcess({ ...engine.env, TEMPORAL_ADDRESS: proxy.address });
    victims.push(victim);
    await stop.reached();
    return { runId, base, stop, victim };
  }

  test('before the start arrives lets the next process start it', async () => {
    const { runId, base, stop, victim } = await aboutToStart();
    proxy.hold();
    await stop.release();
    await eventually(() => hasPlan(runId));
    await victim.kill();
    expect(await current(runId)).toBe(base);

    const worker = await engine.startWorker();
    await engine.until(runId, ['success'], 60 * SECONDS);
    expect(counts()).toEqual([1, 2]);
    await worker.stop();
  }, 150_000);

  test('before the response arrives lets the next process find the started execution', async () => {
    const { runId, base, stop, victim } = await aboutToStart();
    proxy.holdAnswers();
    await stop.release();
    await eventually(async () => (await current(runId)) !== base);
    const came = await current(runId);
    await victim.kill();

    const worker = await engine.startWorker();
    await engine.until(runId, ['success'], 60 * SECONDS);
    expect(counts()).toEqual([1, 2]);
    expect(await current(runId)).toBe(came);
    await worker.stop();
  }, 150_000);

  const hasPlan = (runId: string) =>
    engine.db.exists(sql.unsafe`
      SELECT FROM outbox WHERE run_id = ${runId} AND kind = 'resume' AND payload ->> 'plan' IS NOT NULL`);
});

test('a Temporal connection that breaks during a resume at any moment, from the ledger or by reset, continues the run once', async () => {
  const worker = await engine.startWorker();
  for (let round = 0; round < 10; round += 1) {
    const calls = counts();
    const runId = await failedRun();
    if (round % 4 !== 0) await distrustHistory(runId);
    const { dispatched } = await resumeRun(api, { actor: engine.actor, runId });
    await new Promise((resolve) => setTimeout(resolve, round * 4));
    proxy.cut();
    await dispatched;
    proxy.restore();
    await engine.until(runId, ['success'], 40 * SECONDS);
    await engine.carriedOut(runId);
    expect(counts()).toEqual([(calls[0] ?? 0) + 1, (calls[1] ?? 0) + 2]);
  }
  await worker.stop();
}, 300_000);

describe('a queued resume left by an earlier attempt', () => {
  const request_id = crypto.randomUUID();
  const leftBehind: [string, (base: string) => JsonObject][] = [
    ['a plan of the ledger', (base) => ({ n: 1, plan: 'ledger', base })],
    ['a reset', (base) => ({ n: 1, plan: 'reset', base, cut: 4, request_id })],
    [
      'a reset to an event that the history does not have',
      (base) => ({ n: 1, plan: 'reset', base, cut: 9_999, request_id }),
    ],
    [
      'a reset of an execution that Temporal never had',
      () => ({ n: 1, plan: 'reset', base: crypto.randomUUID(), cut: 4, request_id }),
    ],
  ];

  test('is executed for each plan', async () => {
    const first = await engine.startWorker();
    const runs: string[] = [];
    for (let made = 0; made < leftBehind.length; made += 1) runs.push(await failedRun());
    const calls = counts();
    await first.stop();
    for (const [i, [, payload]] of leftBehind.entries()) {
      const runId = runs[i] ?? '';
      await queueResume(runId);
      await leaveBehind(runId, payload((await current(runId)) ?? ''));
    }
    const worker = await engine.startWorker();
    for (const [i, [name]] of leftBehind.entries()) {
      const runId = runs[i] ?? '';
      const run = await engine.until(runId, ['success'], 40 * SECONDS);
      expect([name, run.status]).toEqual([name, 'success']);
      await engine.carriedOut(runId);
    }
    expect(counts()).toEqual([calls[0], (calls[1] ?? 0) + leftBehind.length]);
    await worker.stop();
  }, 200_000);

  test('uses the ledger if the execution to reset was deleted', async () => {
    const first = await engine.startWorker();
    const runId = await failedRun();
    const base = (await current(runId)) ?? '';
    await first.stop();
    await queueResume(runId);
    await leaveBehind(runId, { n: 1, plan: 'reset', base, cut: 4, request_id });
    await deleteHistory(engine, runId);
    const worker = await engine.startWorker();
    await engine.until(runId, ['success'], 40 * SECONDS);
    expect(counts()).toEqual([1, 2]);
    expect((await engine.deps.temporal.client.workflow.getHandle(runId).describe()).type).toBe(
      'run: test',
    );
    await worker.stop();
  }, 150_000);
});
