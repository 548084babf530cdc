import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { hasLiveClaim } from '#shared/db/steps/steps.ts';
import {
  cancelStep,
  finishStep,
  recordStepError,
  releaseStep,
} from '#shared/db/steps/step-ends.ts';
import { supersede } from '#shared/db/runs/restart.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { settleRun } from '#shared/db/runs/settlements.ts';
import { abandonRun, cancelRun, reportFailure } from '#shared/db/runs/ends.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { queueForRun } from '#test/support/held-run.ts';
import { raceRounds } from '#test/support/soak.ts';
import { beginAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const newRun = async () => engine.trigger(await engine.define({ nodes: [echo('a')], edges: [] }));

const begin = (runId: string, claim: string, execution = 'e1') =>
  beginAs(engine, runId, { claim, execution });
const end = (runId: string, claim: string, costMicros = 0) => ({
  runId,
  stepKey: 'a',
  nodeId: 'a',
  claim,
  spending: { costMicros },
});
const error = (maxAttempts: number, retryable = true) => ({
  message: 'no',
  retryable,
  definite: false,
  maxAttempts,
});

describe('two attempts at one step', () => {
  test('the last claim decides; both costs count; the loser gets the final output', async () => {
    const runId = await newRun();
    expect(await begin(runId, 'one')).toMatchObject({ outcome: 'begun', attempts: 1 });
    expect(await begin(runId, 'two')).toMatchObject({ outcome: 'begun', attempts: 2 });
    expect(await finishStep(engine.db, end(runId, 'one', 10_000), 'first')).toBeUndefined();
    expect(await finishStep(engine.db, end(runId, 'two', 20_000), 'second')).toBe('second');
    expect(await finishStep(engine.db, end(runId, 'one', 5_000), 'first')).toBe('second');
    const run = await engine.run(runId);
    expect(run.steps[0]).toMatchObject({ output: 'second', cost_usd: 0.035 });
    expect(run.cost_usd).toBe(0.035);
    expect((await engine.frames(runId)).map((frame) => frame.type)).toEqual([
      'step_started',
      'step_completed',
    ]);
  });

  test('leave one claim when concurrent, and every cost counts', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const runId = await newRun();
      const claims = ['1', '2', '3', '4'];
      await Promise.all(claims.map((claim) => begin(runId, claim)));
      const results = await Promise.all(
        claims.map((claim) => finishStep(engine.db, end(runId, claim, 1), claim)),
      );
      const stands = (await engine.run(runId)).steps[0]?.output;
      expect(results.filter((result) => result !== undefined && result !== stands)).toEqual([]);
      expect((await engine.run(runId)).cost_usd).toBe(0.000004);
    }
  });

  test('an attempt after the end gets the output and does nothing', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await finishStep(engine.db, end(runId, 'one'), { done: true });
    expect(await begin(runId, 'two')).toEqual({ outcome: 'finished', output: { done: true } });
    await cancelStep(engine.db, end(runId, 'two'));
    expect((await engine.run(runId)).steps[0]?.status).toBe('success');
  });
});

describe('a step with a released attempt', () => {
  test('waits for the next attempt while its run is open, and its cost counts', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await releaseStep(engine.db, end(runId, 'one', 1));
    const [waiting] = (await engine.run(runId)).steps;
    expect(waiting).toMatchObject({ status: 'running', finished_at: null, cost_usd: 0.000001 });
    expect(await begin(runId, 'two')).toMatchObject({ outcome: 'begun', attempts: 2 });
    expect(await finishStep(engine.db, end(runId, 'two', 1), 'done')).toBe('done');
    expect((await engine.run(runId)).steps[0]).toMatchObject({
      ...{ status: 'success', output: 'done', cost_usd: 0.000002 },
    });
  });

  test('does not affect an attempt that takes over concurrently', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const runId = await newRun();
      await begin(runId, 'one');
      const [, next] = await Promise.all([
        releaseStep(engine.db, end(runId, 'one', 1)),
        begin(runId, 'two'),
      ]);
      expect(next).toMatchObject({ outcome: 'begun' });
      expect(await finishStep(engine.db, end(runId, 'two', 1), round)).toBe(round);
      expect((await engine.run(runId)).cost_usd).toBe(0.000002);
    }
  });

  test('is cancelled if its run ended', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await releaseStep(engine.db, end(runId, 'one'));
    expect((await engine.run(runId)).steps[0]).toMatchObject({
      ...{ status: 'cancelled', finished_at: expect.any(String) },
    });
  });
});

describe('a step in progress when its run ends', () => {
  const cancelled = async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    return runId;
  };
  const step = async (runId: string) => (await engine.run(runId)).steps[0];

  test('is cancelled with the run, even without its worker', async () => {
    const runId = await cancelled();
    expect(await step(runId)).toMatchObject({
      ...{ status: 'cancelled', finished_at: expect.any(String), output: null },
    });
    // A resume still waits for its claim, since its worker may only be slow.
    expect(await hasLiveClaim(engine.db, runId)).toBe(true);
  });

  test('is cancelled by the loss of the execution and by a premature end', async () => {
    const lost = await newRun();
    await begin(lost, 'one');
    await abandonRun(engine.db, { runId: lost, kind: 'crash', error: 'Gone', alerts: false });
    expect((await step(lost))?.status).toBe('cancelled');
    const done = await newRun();
    await begin(done, 'one');
    const nothing = { control: [], observed: [], output: '{}', state: '{}' };
    await settleRun(engine.db, { ...nothing, run_id: done, execution: 'e1' });
    expect((await step(done))?.status).toBe('cancelled');
  });

  test('still adds its cost and keeps its output, which a resume finds', async () => {
    const runId = await cancelled();
    expect(await finishStep(engine.db, end(runId, 'one', 7), 'late')).toBe('late');
    expect(await step(runId)).toMatchObject({ status: 'success', output: 'late' });
    expect((await engine.run(runId)).cost_usd).toBe(0.000007);
    expect(await hasLiveClaim(engine.db, runId)).toBe(false);
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    expect(await begin(runId, 'two', 'e2')).toEqual({ outcome: 'finished', output: 'late' });
  });

  test('stays cancelled after a late error; its cost counts', async () => {
    const runId = await cancelled();
    await recordStepError(engine.db, end(runId, 'one', 7), error(3));
    expect(await step(runId)).toMatchObject({ status: 'cancelled', error: 'no' });
    expect((await step(runId))?.finished_at).not.toBeNull();
    expect((await engine.run(runId)).cost_usd).toBe(0.000007);
  });
});

describe('policies that change while a step waits to begin', () => {
  test('apply to that step', async () => {
    const runId = await newRun();
    const change = () => replacePolicies(engine.db, engine.actor, unrestricted);
    const [begun] = await queueForRun(engine.db, runId, [() => begin(runId, 'one')], change);
    expect(begun).toEqual({ status: 'fulfilled', value: { outcome: 'stale' } });
    expect((await engine.run(runId)).steps).toEqual([]);
    await engine.db.query(sql.unsafe`UPDATE workspaces SET policy_revision = 0`);
    expect(await begin(runId, 'two')).toMatchObject({ outcome: 'begun' });
  });
});

describe('a failing step', () => {
  test('fails when its tries are used up, and only a resume reopens it', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    expect(await recordStepError(engine.db, end(runId, 'one'), error(2))).toEqual({
      final: false,
      tries: 1,
    });
    await begin(runId, 'two');
    expect(await recordStepError(engine.db, end(runId, 'two'), error(2))).toEqual({
      final: true,
      tries: 2,
    });
    expect(await begin(runId, 'three')).toEqual({
      ...{ outcome: 'failed', error: 'no', details: { kind: 'node', attempts: 2 } },
    });
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    expect(await begin(runId, 'four')).toEqual({ outcome: 'refused' });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    // The old execution is superseded; the new one starts a new series of tries.
    expect(await begin(runId, 'five', 'e1')).toEqual({ outcome: 'refused' });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    expect(await begin(runId, 'six', 'e2')).toMatchObject({ outcome: 'begun', errors: 2 });
    expect(await recordStepError(engine.db, end(runId, 'six'), error(2))).toMatchObject({
      final: false,
    });
  });

  test('fails on the first error that is not retryable', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    expect(await recordStepError(engine.db, end(runId, 'one'), error(5, false))).toMatchObject({
      final: true,
    });
  });
});

describe('the attempts of a step', () => {
  const attemptsOf = async (runId: string) => (await engine.run(runId)).steps[0]!.attempts;
  const whole = { started_at: expect.any(String), finished_at: expect.any(String) };

  test('are all stored with outcome and cost, including those before a resume', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    expect(await attemptsOf(runId)).toEqual([
      {
        ...{ attempt: 1, outcome: null, error: null, cost_usd: 0, duration_ms: null },
        ...{ started_at: expect.any(String), finished_at: null },
      },
    ]);
    await recordStepError(engine.db, end(runId, 'one', 1_000), error(2));
    expect(await attemptsOf(runId)).toMatchObject([
      { attempt: 1, outcome: 'failed', error: 'no', cost_usd: 0.001, ...whole },
    ]);
    await begin(runId, 'two');
    await releaseStep(engine.db, end(runId, 'two', 2_000));
    expect((await attemptsOf(runId))[1]).toMatchObject({ outcome: 'interrupted', ...whole });
    await begin(runId, 'three');
    await begin(runId, 'four');
    await recordStepError(engine.db, end(runId, 'four', 4_000), error(2));
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    await begin(runId, 'five', 'e2');
    // The third attempt was presumed lost; its cost is still booked to it, however late it arrives.
    await finishStep(engine.db, end(runId, 'three', 8_000), 'late');
    await finishStep(engine.db, end(runId, 'five', 16_000), 'done');
    const attempts = await attemptsOf(runId);
    expect(attempts).toMatchObject([
      { attempt: 1, outcome: 'failed', error: 'no', cost_usd: 0.001, ...whole },
      { attempt: 2, outcome: 'interrupted', error: null, cost_usd: 0.002, ...whole },
      { attempt: 3, outcome: 'interrupted', error: null, cost_usd: 0.008, ...whole },
      { attempt: 4, outcome: 'failed', error: 'no', cost_usd: 0.004, ...whole },
      { attempt: 5, outcome: 'success', error: null, cost_usd: 0.016, ...whole },
    ]);
    const times = attempts.flatMap(({ started_at, finished_at }) => [started_at, finished_at!]);
    expect(times).toEqual(times.toSorted());
    expect((await engine.run(runId)).steps[0]).toMatchObject({ attempt: 5, cost_usd: 0.031 });
  });

  test('cancelled at the end of a run are kept by its resume', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    expect(await attemptsOf(runId)).toMatchObject([{ outcome: 'cancelled', ...whole }]);
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    await begin(runId, 'two', 'e2');
    expect((await attemptsOf(runId)).map(({ outcome }) => outcome)).toEqual(['cancelled', null]);
  });

  test('are deleted with their run', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await begin(runId, 'two');
    const kept = () =>
      engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*) AS n FROM step_attempts WHERE run_id = ${runId}`);
    expect(await kept()).toBe(1);
    await engine.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${runId}`);
    expect(await kept()).toBe(0);
  });
});

describe('the time before the last attempt', () => {
  const stepOf = async (runId: string) => (await engine.run(runId)).steps[0]!;
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  test('excludes the wait before the first attempt and the work of the last', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    expect(await stepOf(runId)).toMatchObject({ attempt: 1, retried_ms: 0 });
    await pause(60);
    await recordStepError(engine.db, end(runId, 'one'), error(3));
    expect((await stepOf(runId)).retried_ms).toBe(0);
    await pause(60);
    const earliest = Date.now();
    await begin(runId, 'two');
    const latest = Date.now();
    await pause(60);
    await finishStep(engine.db, end(runId, 'two'), 'x');
    const step = await stepOf(runId);
    const started = Date.parse(step.started_at);
    // Postgres has microseconds, Date truncates to milliseconds.
    expect(step.retried_ms).toBeGreaterThanOrEqual(earliest - started);
    expect(step.retried_ms).toBeLessThanOrEqual(latest - started + 1);
    const worked = step.duration_ms! - step.retried_ms!;
    expect(worked).toBeGreaterThanOrEqual(59);
    expect(worked).toBeLessThanOrEqual(Date.now() - earliest + 1);
  });

  test('restarts with a resume', async () => {
    const runId = await newRun();
    await begin(runId, 'one');
    await begin(runId, 'two');
    await pause(30);
    await recordStepError(engine.db, end(runId, 'two'), error(1));
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    const resumed = Date.now();
    await begin(runId, 'three', 'e2');
    expect(await stepOf(runId)).toMatchObject({ attempt: 3, retried_ms: 0 });
    await pause(30);
    await begin(runId, 'four', 'e2');
    const { attempt, retried_ms } = await stepOf(runId);
    expect(attempt).toBe(4);
    expect(retried_ms).toBeGreaterThanOrEqual(29);
    expect(retried_ms).toBeLessThanOrEqual(Date.now() - resumed + 1);
  });

  test('is unknown for retried rows that never recorded it', async () => {
    for (const [attempts, retried] of [
      [1, 0],
      [2, null],
    ]) {
      const runId = await newRun();
      await begin(runId, 'one');
      await engine.db.query(sql.unsafe`
        UPDATE steps SET attempts = ${attempts!}, attempt_started_at = NULL WHERE run_id = ${runId}
      `);
      expect(await stepOf(runId)).toMatchObject({ attempt: attempts, retried_ms: retried });
    }
  });
});

describe('a claim', () => {
  test('is live until its attempt ends', async () => {
    const runId = await newRun();
    expect(await hasLiveClaim(engine.db, runId)).toBe(false);
    await begin(runId, 'one');
    expect(await hasLiveClaim(engine.db, runId)).toBe(true);
    await finishStep(engine.db, end(runId, 'one'), null);
    expect(await hasLiveClaim(engine.db, runId)).toBe(false);
  });
});

describe('an execution unknown to the resume of its run', () => {
  const resumed = async () => {
    const runId = await newRun();
    await begin(runId, 'one', 'e1');
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    return runId;
  };

  test('cannot begin steps or end the run', async () => {
    const runId = await resumed();
    expect(await begin(runId, 'two', 'e2')).toEqual({ outcome: 'refused' });
    const late = {
      runId,
      kind: 'cancelled',
      error: 'late',
      execution: 'e2',
      alerts: false,
    } as const;
    expect(await abandonRun(engine.db, late)).toBeUndefined();
    expect((await engine.run(runId)).status).toBe('running');
    await supersede(engine.db, { runId, execution: 'e2', n: 1 });
    expect(await abandonRun(engine.db, late)).toBeUndefined();
    expect(await begin(runId, 'three', 'e3')).toMatchObject({ outcome: 'begun' });
  });

  test('stays refused after an earlier resume arrives late', async () => {
    const runId = await resumed();
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    const late = { runId, execution: 'e1', n: 1 };
    expect(await supersede(engine.db, late)).toBe(false);
    await resumeRun(engine.db, { actor: engine.actor, runId });
    expect(await supersede(engine.db, late)).toBe(false);
    expect(await begin(runId, 'two', 'e2')).toEqual({ outcome: 'refused' });
    expect(await supersede(engine.db, { runId, execution: 'e2', n: 2 })).toBe(true);
    expect(await begin(runId, 'three', 'e2')).toEqual({ outcome: 'refused' });
    expect(await begin(runId, 'four', 'e3')).toMatchObject({ outcome: 'begun' });
  });

  test('cannot fail the run, and the resume answers its failure', async () => {
    const runId = await resumed();
    const step = { step_key: 'a', node_id: 'a', label: 'a', kind: 'tool', iteration: [] } as const;
    const failure = {
      run_id: runId,
      control: [],
      observed: [],
      n: 1,
      failed: [{ ...step, iteration: [], error: 'no', reason: 'node' as const }],
      alerts: false,
    };
    expect(await reportFailure(engine.db, { ...failure, execution: 'e2' })).toMatchObject({
      verdict: 'fail',
    });
    expect((await engine.run(runId)).status).toBe('running');
    await supersede(engine.db, { runId, execution: 'e2', n: 1 });
    // After the reset, the new execution reports the same failure again.
    expect(await reportFailure(engine.db, { ...failure, execution: 'e3' })).toEqual({
      verdict: 'resume',
    });
  });
});
