import { expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import {
  backtest,
  begin,
  ended,
  pastRuns,
  pastWorkflow,
  readPage,
} from '#test/support/backtests.ts';
import { killWorkersAt } from '#test/support/crashes.ts';
import { useEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';

const engine = useEngine({ worker: false });

const given = {
  policies: { redaction: { detectors: ['email'], patterns: [{ name: 'word', regex: 'not.*g' }] } },
};
const RUNS = 40;
const STEPS = 1_000;

test('workers killed in the middle do not change the result', async () => {
  await pastRuns(engine, await pastWorkflow(engine), { runs: RUNS, steps: STEPS });
  const id = await begin(engine, given);
  let done = 0;
  const look = setInterval(() => {
    void readPage(engine, id).then(({ progress }) => (done = progress.done));
  }, 10);
  await killWorkersAt(engine.env, [1_000, 15_000], () => done);
  clearInterval(look);
  expect(await readPage(engine, id)).toMatchObject({ status: 'running' });
  const worker = await startWorkerProcess(engine.env);
  try {
    const disturbed = await ended(engine, id, 90_000);
    const alone = await backtest(engine, given);
    const total = RUNS * STEPS;
    expect(disturbed.progress).toEqual({ done: total, total });
    expect(disturbed.summary).toMatchObject({ judged: total, would_redact: total, hidden: 0 });
    expect(disturbed.summary).toEqual(alone.summary);
    expect(await found(id)).toEqual(await found(alone.id));
  } finally {
    await worker.stop();
  }
}, 180_000);

test('if an API dies before it has started the execution, the reconciler starts it', async () => {
  const id = await begin({ ...engine, deps: { ...engine.deps, temporal: unreachable() } }, given);
  const worker = await startWorkerProcess(engine.env);
  try {
    expect((await ended(engine, id)).status).toBe('done');
  } finally {
    await worker.stop();
  }
});

/** Temporal, as an API finds it that cannot reach it. */
const unreachable = () => ({
  ...engine.deps.temporal,
  withTimeout: () => Promise.reject(new Error('unreachable')),
});

const found = (jobId: string) =>
  engine.db.any(sql.unsafe`
    SELECT n, run_id, step_key, reason FROM backtest_findings WHERE job_id = ${jobId} ORDER BY n`);
