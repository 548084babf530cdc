import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';

const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
const workers: TestProcess[] = [];
afterEach(() => Promise.all(workers.splice(0).map((worker) => worker.kill())));

const startWorker = async (): Promise<TestProcess> => {
  const worker = await startWorkerProcess(engine.env);
  workers.push(worker);
  return worker;
};

test('code that is killed with its worker is repeated with the same clock and seed', async () => {
  const source = `export default () => {
    for (let n = 0; n < 2e7; n++);
    return { now: Date.now(), random: Math.random() };
  };`;
  const runId = await engine.start(chain({ id: 'c', kind: 'code', source, timeout_seconds: 10 }));
  const begun = () =>
    engine.db.any(sql.type(z.object({ clock: z.number(), seed: z.string() }))`
      SELECT round(extract(epoch FROM clock) * 1000)::float8 AS clock, seed FROM step_code WHERE run_id = ${runId}`);
  const worker = await startWorker();
  await eventually(async () => (await begun()).length === 1, 30_000);
  await worker.kill();
  const [first] = await begun();
  await startWorker();
  const run = await engine.until(runId, ['success'], 60_000);
  expect(run.steps[0]).toMatchObject({ attempt: 2 });
  expect(run.output).toMatchObject({ c: { now: first?.clock } });
  expect(await begun()).toEqual([first]);
}, 120_000);
