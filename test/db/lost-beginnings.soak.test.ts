import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { admitRun } from '#shared/db/runs/admission.ts';
import { supersede } from '#shared/db/runs/restart.ts';
import { migrate } from '#shared/db/migrate.ts';
import { connectDatabase, type Pool, sql, type Tx } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { cancelRun } from '#shared/db/runs/ends.ts';
import { beginStep } from '#shared/db/steps/steps.ts';
import type { StepBeginning } from '#shared/db/steps/beginning.ts';
import {
  type Beginning,
  finishStep,
  recordStepError,
  renewClaim,
} from '#shared/db/steps/step-ends.ts';
import { createWorkflow } from '#shared/db/workflows/workflows.ts';
import { ensureDefaultWorkspace, readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { startPostgres } from '#scripts/stack/postgres.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beginningOf as stepOf } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const newRun = async () => engine.trigger(await engine.define({ nodes: [echo('a')], edges: [] }));

const beginningOf = (runId: string, claim: string, execution = 'e1'): StepBeginning =>
  stepOf(engine, runId, { claim, execution, input: { asked: claim } });

/** Also accepts a transaction, which can run single statements like a pool. */
async function begin(db: Pool | Tx, step: StepBeginning): Promise<Beginning> {
  const begun = await beginStep(db as Pool, step);
  if (begun.outcome !== 'begun') throw new Error(begun.outcome);
  return { step, attempt: begun.attempts };
}

/** Begins an attempt that the database then loses, like a commit that had not reached the disk before a crash. */
async function beginAndCrash(step: StepBeginning): Promise<Beginning> {
  let lost: Beginning | undefined;
  await engine.db
    .transaction(async (tx) => {
      lost = await begin(tx, step);
      throw new Error('crash');
    })
    .catch(() => undefined);
  if (lost === undefined) throw new Error('has not begun');
  return lost;
}

const endOf = (beginning: Beginning, costMicros = 1_000) => ({
  runId: beginning.step.pendingWrites.run_id,
  stepKey: 'a',
  nodeId: 'a',
  claim: beginning.step.claim,
  spending: { costMicros },
  beginning,
});
const failure = { message: 'no', retryable: true, definite: false, maxAttempts: 2 };

/** The cost of the run, which must equal the cost of its steps. */
async function costOf(runId: string): Promise<number> {
  const run = await engine.run(runId);
  const ofSteps = run.steps.reduce((sum, step) => sum + Math.round(step.cost_usd * 1e6), 0);
  expect(ofSteps).toBe(Math.round(run.cost_usd * 1e6));
  return ofSteps;
}
const frameTypes = async (runId: string) => (await engine.frames(runId)).map((frame) => frame.type);
const cancel = (runId: string) =>
  cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });

describe('an attempt whose start the database lost', () => {
  test('still succeeds, and is charged once', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    expect((await engine.run(runId)).steps).toEqual([]);
    expect(await finishStep(engine.db, endOf(lost), 'done')).toBe('done');
    const [step] = (await engine.run(runId)).steps;
    expect(step).toMatchObject({
      ...{ status: 'success', output: 'done', attempt: 1, input: { asked: 'one' } },
    });
    expect(await costOf(runId)).toBe(1_000);
    expect(await frameTypes(runId)).toEqual(['step_started', 'step_completed']);
    expect(await beginStep(engine.db, beginningOf(runId, 'two'))).toEqual({
      outcome: 'finished',
      output: 'done',
    });
  });

  test('writes the control steps sent with it', async () => {
    const runId = await newRun();
    const step = beginningOf(runId, 'one');
    step.pendingWrites.control = [
      {
        ...{ step_key: 'c', node_id: 'c', label: 'c', iteration: [], output: { result: true } },
        kind: 'condition',
        status: 'success',
      },
    ];
    const lost = await beginAndCrash(step);
    await finishStep(engine.db, endOf(lost), 'done');
    expect((await engine.run(runId)).steps.map((row) => [row.step_key, row.status])).toEqual([
      ['c', 'success'],
      ['a', 'success'],
    ]);
  });

  test('succeeds after an attempt of a dead worker', async () => {
    const runId = await newRun();
    await begin(engine.db, beginningOf(runId, 'one'));
    const lost = await beginAndCrash(beginningOf(runId, 'two'));
    expect(lost.attempt).toBe(2);
    expect(await finishStep(engine.db, endOf(lost), 'done')).toBe('done');
    expect((await engine.run(runId)).steps[0]).toMatchObject({ attempt: 2, output: 'done' });
    expect(await costOf(runId)).toBe(1_000);
  });

  test('succeeds after another lost attempt', async () => {
    const runId = await newRun();
    let second: Beginning | undefined;
    await engine.db
      .transaction(async (tx) => {
        await begin(tx, beginningOf(runId, 'one'));
        second = await begin(tx, beginningOf(runId, 'two'));
        throw new Error('crash');
      })
      .catch(() => undefined);
    expect(await finishStep(engine.db, endOf(second!), 'done')).toBe('done');
    expect((await engine.run(runId)).steps[0]).toMatchObject({ attempt: 2 });
  });

  test('counts its error as a try', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    expect(await recordStepError(engine.db, endOf(lost), failure)).toEqual({
      final: false,
      tries: 1,
    });
    const second = await beginAndCrash(beginningOf(runId, 'two'));
    expect(await recordStepError(engine.db, endOf(second), failure)).toEqual({
      final: true,
      tries: 2,
    });
    expect(await costOf(runId)).toBe(2_000);
  });

  test('yields to a newer attempt, and its cost counts', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    const next = await begin(engine.db, beginningOf(runId, 'two'));
    expect(next.attempt).toBe(lost.attempt);
    expect(await finishStep(engine.db, endOf(lost), 'first')).toBeUndefined();
    expect(await finishStep(engine.db, endOf(next), 'second')).toBe('second');
    expect(await finishStep(engine.db, endOf(lost), 'first')).toBe('second');
    expect(await costOf(runId)).toBe(3_000);
  });

  test('leaves one output beside a concurrent takeover, and every cost counts', async () => {
    for (let round = 0; round < 30; round += 1) {
      const runId = await newRun();
      const lost = await beginAndCrash(beginningOf(runId, 'one'));
      const [first, next] = await Promise.all([
        finishStep(engine.db, endOf(lost), 'first'),
        beginStep(engine.db, beginningOf(runId, 'two')),
      ]);
      if (next.outcome === 'begun') {
        const step = beginningOf(runId, 'two');
        const second = await finishStep(
          engine.db,
          endOf({ step, attempt: next.attempts }, 500),
          'second',
        );
        expect([first, second]).toEqual([undefined, 'second']);
        expect(await costOf(runId)).toBe(1_500);
      } else {
        expect([first, next]).toEqual(['first', { outcome: 'finished', output: 'first' }]);
        expect(await costOf(runId)).toBe(1_000);
      }
      const completed = (await frameTypes(runId)).filter((type) => type === 'step_completed');
      expect(completed).toHaveLength(1);
    }
  }, 60_000);

  test('only adds its cost to a cancelled run, and a resume repeats the step', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    await cancel(runId);
    expect(await finishStep(engine.db, endOf(lost), 'done')).toBeUndefined();
    expect((await engine.run(runId)).steps[0]).toMatchObject({ status: 'cancelled', output: null });
    expect(await costOf(runId)).toBe(1_000);
    await resumeRun(engine.db, { actor: engine.actor, runId });
    // Again, from another attempt of the superseded execution.
    const late = { ...lost, attempt: 2, step: { ...lost.step, claim: 'late' } };
    expect(await finishStep(engine.db, endOf(late), 'late')).toBeUndefined();
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    const next = await begin(engine.db, beginningOf(runId, 'two', 'e2'));
    expect(await finishStep(engine.db, endOf(next), 'second')).toBe('second');
    expect(await costOf(runId)).toBe(3_000);
  });

  test('does not affect the step that a resume begins', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    await cancel(runId);
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    expect(await finishStep(engine.db, endOf(lost), 'done')).toBeUndefined();
    const next = await begin(engine.db, beginningOf(runId, 'two', 'e2'));
    expect(await finishStep(engine.db, endOf(next), 'second')).toBe('second');
    expect(await costOf(runId)).toBe(2_000);
  });

  test('is written again when it renews its claim', async () => {
    const runId = await newRun();
    const lost = await beginAndCrash(beginningOf(runId, 'one'));
    await renewClaim(engine.db, { ...endOf(lost), claimMs: 5_000, beginning: lost });
    expect((await engine.run(runId)).steps[0]).toMatchObject({ status: 'running', attempt: 1 });
    expect(await finishStep(engine.db, endOf(lost), 'done')).toBe('done');
    expect(await frameTypes(runId)).toEqual(['step_started', 'step_completed']);
  });
});

describe('a database server crash during a step', () => {
  test('loses the start of the step, keeps its end, and costs add up', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lost-beginnings-'));
    chmodSync(folder, 0o755);
    const [port = 0] = await freePorts(1);
    const start = () => startPostgres({ dataDir: folder, port, database: 'product' });
    let server = await start();
    let db: Pool | undefined;
    try {
      await migrate(server.url);
      db = await connectDatabase(server.url, { maxPoolSize: 2 });
      // Asynchronous commits stay off the disk for the duration of the test.
      await db.query(sql.unsafe`ALTER SYSTEM SET wal_writer_delay = '10s'`);
      await db.query(sql.unsafe`SELECT pg_reload_conf()`);
      await ensureDefaultWorkspace(db, { ownerEmail: 'owner@localhost' });
      const actor = (await readDefaultOwner(db))!;
      const graph = { nodes: [echo('a')], edges: [] };
      const workflowId = await createWorkflow(db, actor, {
        name: 'x',
        graph,
        description: '',
      } as never);
      let lostOnes = 0;
      for (let round = 0; round < 4 && lostOnes === 0; round += 1) {
        const admission = await admitRun(
          db,
          { actor, workflowId, trigger: 'manual', input: {} },
          findRunnable,
        );
        if (admission.outcome !== 'admitted') throw new Error(admission.outcome);
        const { runId } = admission.run;
        const step = beginningOf(runId, 'one');
        step.judged = { ...step.judged, workspaceId: actor.workspaceId };
        const beginning = await begin(db, step);
        // An immediate shutdown, without a checkpoint or flush.
        process.kill(server.child.pid, 'SIGQUIT');
        await server.child.exited;
        await db.end();
        server = await start();
        db = await connectDatabase(server.url, { maxPoolSize: 2 });
        if ((await stepsOf(db, runId)).length === 0) lostOnes += 1;
        expect(await finishStep(db, endOf(beginning), 'done')).toBe('done');
        expect(await stepsOf(db, runId)).toEqual([
          { output: 'done', of_step: 1_000, of_run: 1_000 },
        ]);
      }
      expect(lostOnes).toBe(1);
    } finally {
      await db?.end();
      await server.stop(2_000);
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);

  const row = z.object({ output: z.json(), of_step: z.number(), of_run: z.number() });
  const stepsOf = (db: Pool, runId: string) =>
    db.any(sql.type(row)`
      SELECT s.output, s.cost_micros AS of_step, r.cost_micros AS of_run
      FROM runs r JOIN steps s ON s.run_id = r.id WHERE r.id = ${runId}`);
});
