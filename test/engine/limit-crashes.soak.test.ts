import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { sql } from '#shared/db/pool.ts';
import { setLimits } from '#shared/operations/limits/limits.ts';
import { chain, echo, eventually, useEngine } from '#test/support/engine.ts';
import { startApiProcess, startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { stopBefore } from '#test/support/stop-before.ts';

const engine = useEngine({ worker: false });
const processes: TestProcess[] = [];
afterEach(() => Promise.all(processes.splice(0).map((each) => each.kill())));

const gated = chain({ id: 'review', kind: 'human_gate', prompt: 'Sure?' }, echo('send'));

/** A workflow with one slot, one run that holds it at a gate, and one that waits for it. */
async function holderAndNext(): Promise<[string, string]> {
  const workflowId = await engine.define(gated);
  const limits = limitsInput.parse({ concurrency: { limit: 1 } });
  await setLimits(engine.db, engine.actor, workflowId, limits);
  const first = await engine.trigger(workflowId);
  const next = await engine.trigger(workflowId);
  expect((await engine.run(next)).queued).toMatchObject({ position: 1 });
  return [first, next];
}

/** The next run is about to get its slot, which is free by then. */
const stopBeforeTaking = () =>
  stopBefore(engine.db, {
    change: sql.fragment`UPDATE OF state`,
    table: 'run_places',
    when: sql.fragment`NEW.state = 'holding' AND OLD.state = 'waiting'`,
  });

/** Ends the transactions of a process that has died, as Postgres does once it notices. */
const forget = () =>
  engine.db.query(sql.type(z.object({}))`
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event = 'advisory'`);

const statusOf = async (runId: string) => (await engine.run(runId)).status;

test('a worker that dies between the end of a run and the start of the next one leaves the slot free', async () => {
  const worker = await startWorkerProcess(engine.env);
  processes.push(worker);
  const [first, next] = await holderAndNext();
  await engine.until(first, ['paused']);
  const stop = await stopBeforeTaking();
  await engine.approve(first);
  await stop.reached();
  expect([await statusOf(first), await statusOf(next)]).toEqual(['success', 'pending']);
  await worker.kill();
  await forget();
  await stop.release();
  processes.push(await startWorkerProcess(engine.env));
  await engine.until(next, ['paused'], 30_000);
}, 90_000);

test('so does an API process that dies after it has cancelled the run', async () => {
  const api = await startApiProcess(engine.env);
  processes.push(api);
  const [first, next] = await holderAndNext();
  const stop = await stopBeforeTaking();
  const cancelling = fetch(`${api.url}/api/runs/${first}/cancel`, { method: 'POST' }).catch(
    () => undefined,
  );
  await stop.reached();
  expect([await statusOf(first), await statusOf(next)]).toEqual(['failed', 'pending']);
  await api.kill();
  await cancelling;
  await forget();
  await stop.release();
  processes.push(await startWorkerProcess(engine.env));
  await eventually(async () => (await statusOf(next)) === 'paused', 30_000);
}, 90_000);
