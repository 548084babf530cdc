import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { cancelRun } from '#shared/db/runs/ends.ts';
import { takeFurtherCalls } from '#shared/db/steps/call-limits.ts';
import type { LimitedCall } from '#shared/db/steps/beginning.ts';
import { finishStep, recordStepError, releaseStep } from '#shared/db/steps/step-ends.ts';
import { echo, eventually, useEngine } from '#test/support/engine.ts';
import { raceRounds } from '#test/support/soak.ts';
import { beginAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });

const newRun = async () => engine.trigger(await engine.define({ nodes: [echo('a')], edges: [] }));
const newRuns = (count: number) => Promise.all(Array.from({ length: count }, newRun));

const limit = (scope: string, numbers: Partial<LimitedCall>): LimitedCall => ({
  ...{ scope, target: 'http_request', key: null, concurrency: null, per_minute: null },
  ...numbers,
});
const begin = (runId: string, calls: LimitedCall[], fields: object = {}) =>
  beginAs(engine, runId, {
    claim: runId,
    judged: { workspaceId: engine.actor.workspaceId, revision: 0, verdicts: [], calls },
    ...fields,
  });
/** The runs that the end wakes. */
async function end(runId: string, how: 'finish' | 'fail' | 'release' = 'finish', claim = runId) {
  const woken: string[] = [];
  const ending = {
    ...{ runId, stepKey: 'a', nodeId: 'a', claim, spending: { costMicros: 0 }, limited: true },
    notify: (rows: readonly { run_id: string }[]) => woken.push(...rows.map((row) => row.run_id)),
  };
  if (how === 'finish') await finishStep(engine.db, ending, 'done');
  if (how === 'release') await releaseStep(engine.db, ending);
  if (how === 'fail') {
    const error = { message: 'no', retryable: true, definite: false, maxAttempts: 3 };
    await recordStepError(engine.db, ending, error);
  }
  return woken;
}
const count = (table: 'limited_calls' | 'call_waits') =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([table])}`);
/** Makes calls and waits older. */
const age = async (seconds: number) => {
  await engine.db.query(sql.unsafe`
    UPDATE limited_calls SET taken_at = taken_at - ${seconds}::int * interval '1 s'`);
  await engine.db.query(sql.unsafe`
    UPDATE call_waits SET woken_at = woken_at - ${seconds}::int * interval '1 s'`);
};

afterEach(async () => {
  await engine.db.query(sql.unsafe`DELETE FROM limited_calls`);
  await engine.db.query(sql.unsafe`DELETE FROM call_waits`);
  await engine.db.query(sql.unsafe`DELETE FROM outbox WHERE kind = 'waited'`);
});

describe('a limit of calls at the same time', () => {
  test('never has more in flight while steps begin, end, fail, wait and are cancelled', async () => {
    const calls = [limit('scope', { concurrency: 3 })];
    let inFlight = 0;
    let most = 0;
    const work = async (runId: string, nth: number): Promise<void> => {
      let failed = false;
      for (;;) {
        const begun = await begin(runId, calls);
        if (begun.outcome === 'no_slot') {
          // Some give up, and the others try again at any time.
          if (nth % 7 === 3) {
            await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
            return;
          }
          await new Promise((resolve) => setTimeout(resolve, 5));
          continue;
        }
        if (begun.outcome !== 'begun') throw new Error(begun.outcome);
        inFlight += 1;
        most = Math.max(most, inFlight);
        await new Promise((resolve) => setImmediate(resolve));
        inFlight -= 1;
        const how = nth % 3 === 0 && !failed ? 'fail' : 'finish';
        failed = true;
        await end(runId, how);
        if (how === 'finish') return;
      }
    };
    for (let round = 0; round < raceRounds(3); round += 1) {
      await Promise.all((await newRuns(20)).map(work));
    }
    expect(most).toBeLessThanOrEqual(3);
    expect(most).toBeGreaterThan(1);
    expect(await count('limited_calls')).toBe(0);
    expect(await count('call_waits')).toBe(0);
  });

  test('gives a free call to the step that waits longest, and keeps it free for that step', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = '', third = '', late = ''] = await newRuns(4);
    expect(await begin(first, calls)).toMatchObject({ outcome: 'begun', waitedMs: undefined });
    const waits = { outcome: 'no_slot', target: 'http_request', woken: [] };
    expect(await begin(second, calls)).toMatchObject(waits);
    expect(await begin(third, calls)).toMatchObject(waits);
    expect(await begin(second, calls)).toMatchObject(waits);
    expect(await end(first)).toEqual([second]);
    // Neither those behind it nor a new one can overtake.
    expect(await begin(third, calls)).toMatchObject(waits);
    expect(await begin(late, calls)).toMatchObject(waits);
    expect(await begin(second, calls)).toMatchObject({
      outcome: 'begun',
      attempts: 1,
      waitedMs: expect.any(Number),
    });
    expect(await end(second)).toEqual([third]);
    expect(await begin(third, calls)).toMatchObject({ outcome: 'begun' });
    expect(await end(third)).toEqual([late]);
  });

  test('does not wait for a step that was woken and does not come', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', silent = '', third = ''] = await newRuns(3);
    await begin(first, calls);
    await begin(silent, calls);
    await begin(third, calls);
    expect(await end(first)).toEqual([silent]);
    expect(await begin(third, calls)).toMatchObject({ outcome: 'no_slot' });
    await age(11);
    expect(await begin(third, calls)).toMatchObject({ outcome: 'begun' });
    expect(await end(third)).toEqual([]);
    expect(await begin(silent, calls)).toMatchObject({ outcome: 'begun' });
  });

  test('frees the call when the attempt fails, is released, or its claim ends', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = '', third = ''] = await newRuns(3);
    await begin(first, calls);
    await begin(second, calls);
    expect(await end(first, 'fail')).toEqual([second]);
    await begin(second, calls);
    await begin(first, calls);
    expect(await end(second, 'release')).toEqual([first]);
    expect(await begin(first, calls, { claimMs: 1 })).toMatchObject({ outcome: 'begun' });
    // Its worker dies.
    await eventually(async () => (await begin(third, calls)).outcome === 'begun');
  });

  test('says when the claims of workers that may have died end', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = '', third = ''] = await newRuns(3);
    await begin(first, calls, { claimMs: 4_000 });
    const next = await begin(second, calls);
    expect(next).toMatchObject({ outcome: 'no_slot' });
    if (next.outcome === 'no_slot') {
      expect(next.waitMs).toBeGreaterThan(3_000);
      expect(next.waitMs).toBeLessThan(4_100);
    }
    const last = await begin(third, calls);
    if (last.outcome === 'no_slot') expect(last.waitMs).toBeGreaterThan(15_000);
  });

  test('is left by the steps of a run that is cancelled, and wakes the next', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = '', third = ''] = await newRuns(3);
    await begin(first, calls);
    await begin(second, calls);
    await begin(third, calls);
    expect((await engine.run(second)).waiting).toEqual([
      expect.objectContaining({
        for: 'limit',
        step_key: 'a',
        events: [],
        until: null,
        limit: { name: 'http_request', key: null, concurrency: 1, per_minute: null },
      }),
    ]);
    expect(await end(first)).toEqual([second]);
    await cancelRun(engine.db, { actor: engine.actor, runId: second, alerts: false });
    const queued = await engine.db.anyFirst(sql.type(z.object({ run_id: z.string() }))`
      SELECT run_id FROM outbox WHERE kind = 'waited' AND leased_until IS NULL`);
    expect(queued).toEqual([third]);
    expect(await begin(third, calls)).toMatchObject({ outcome: 'begun' });
    expect((await engine.run(second)).waiting).toEqual([]);
  });

  test('keeps counting a call whose run is cancelled until the attempt has ended', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = ''] = await newRuns(2);
    await begin(first, calls);
    await cancelRun(engine.db, { actor: engine.actor, runId: first, alerts: false });
    expect(await begin(second, calls)).toMatchObject({ outcome: 'no_slot' });
    expect(await end(first)).toEqual([second]);
  });

  test('counts another attempt at the same step once', async () => {
    const calls = [limit('scope', { concurrency: 1 })];
    const [first = '', second = ''] = await newRuns(2);
    await begin(first, calls);
    expect(await begin(first, calls, { claim: 'another' })).toMatchObject({ outcome: 'begun' });
    expect(await begin(second, calls)).toMatchObject({ outcome: 'no_slot' });
    expect(await end(first, 'finish', 'another')).toEqual([second]);
  });

  test('takes the calls of all limits or none, and waits in the queue of the one that is full', async () => {
    const all = limit('all', { concurrency: 2 });
    const one = limit('one', { concurrency: 1, target: 'of one key' });
    const [first = '', second = '', third = '', fourth = ''] = await newRuns(4);
    await begin(first, [all, one]);
    expect(await begin(second, [all, one])).toMatchObject({
      outcome: 'no_slot',
      target: 'of one key',
    });
    // What waits for one limit holds no call of the other.
    expect(await begin(third, [all])).toMatchObject({ outcome: 'begun' });
    expect(await begin(fourth, [all])).toMatchObject({ outcome: 'no_slot' });
    expect((await end(first)).toSorted()).toEqual([fourth, second].toSorted());
  });

  test('gives a claim further calls, without waiting', async () => {
    const [first = '', second = ''] = await newRuns(2);
    const other = [limit('fallback', { concurrency: 1 })];
    await begin(first, [limit('scope', { concurrency: 1 })]);
    await begin(second, other);
    const { workspaceId } = engine.actor;
    const step = { runId: first, workspaceId, stepKey: 'a', claim: first };
    expect(await takeFurtherCalls(engine.db, step, other)).toBe(false);
    expect(await count('call_waits')).toBe(0);
    await end(second);
    expect(await takeFurtherCalls(engine.db, step, other)).toBe(true);
    expect(await takeFurtherCalls(engine.db, step, other)).toBe(true);
    expect(await count('limited_calls')).toBe(2);
    await end(first);
    expect(await count('limited_calls')).toBe(0);
  });
});

describe('a limit of calls per minute', () => {
  test('counts the calls of any 60 seconds, also those that have ended', async () => {
    const calls = [limit('scope', { per_minute: 2 })];
    const [first = '', second = '', third = '', fourth = ''] = await newRuns(4);
    await begin(first, calls);
    await end(first);
    await age(40);
    await begin(second, calls);
    const waits = await begin(third, calls);
    expect(waits).toMatchObject({ outcome: 'no_slot' });
    if (waits.outcome === 'no_slot') {
      expect(waits.waitMs).toBeGreaterThan(15_000);
      expect(waits.waitMs).toBeLessThan(20_100);
    }
    const next = await begin(fourth, calls);
    if (next.outcome === 'no_slot') {
      expect(next.waitMs).toBeGreaterThan(55_000);
      expect(next.waitMs).toBeLessThan(60_100);
    }
    await age(21);
    expect(await begin(fourth, calls)).toMatchObject({ outcome: 'no_slot' });
    expect(await begin(third, calls)).toMatchObject({ outcome: 'begun' });
    expect(await begin(fourth, calls)).toMatchObject({ outcome: 'no_slot' });
    await age(40);
    expect(await begin(fourth, calls)).toMatchObject({ outcome: 'begun' });
  });

  test('forgets calls that are over, and keeps those in flight', async () => {
    const calls = [limit('scope', { concurrency: 2, per_minute: 100 })];
    const [first = '', second = '', third = '', fourth = ''] = await newRuns(4);
    await begin(first, calls);
    await begin(second, calls);
    await end(second);
    await age(70);
    await begin(third, calls);
    expect(await count('limited_calls')).toBe(2);
    expect(await begin(fourth, calls)).toMatchObject({ outcome: 'no_slot' });
  });

  test('lets the first in the queue look again when a call becomes free earlier', async () => {
    const calls = [limit('scope', { concurrency: 1, per_minute: 1 })];
    const [first = '', second = ''] = await newRuns(2);
    await begin(first, calls);
    await age(30);
    await engine.db.query(sql.unsafe`
      UPDATE steps SET claim_until = claim_until + interval '1 hour' WHERE run_id = ${first}`);
    // It waits for the call per minute, and by then the other is still in flight.
    await begin(second, calls);
    await engine.db.query(sql.unsafe`
      UPDATE call_waits SET look_at = look_at + interval '50 s' WHERE run_id = ${second}`);
    expect(await end(first)).toEqual([second]);
    expect(await begin(second, calls)).toMatchObject({ outcome: 'no_slot' });
  });
});
