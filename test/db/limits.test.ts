import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { replaceLimits } from '#shared/db/limits/limits.ts';
import { waitsToContinue } from '#shared/db/limits/slots.ts';
import { advanceQueue, dueQueues, stuckQueues } from '#shared/db/limits/queues.ts';
import { admitRun } from '#shared/db/runs/admission.ts';
import { abandonRun, cancelRun } from '#shared/db/runs/ends.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { useEngine } from '#test/support/engine.ts';
import { logPlaces, mostInFlight, placeLog } from '#test/support/place-log.ts';

const engine = useEngine({ worker: false });
const LIMIT = 3;
const KEYS = ['a', 'b'];
const PROCESSES = 4;
const ACTS = 60;

let workflowId: string;
beforeAll(async () => {
  await logPlaces(engine.db);
  workflowId = await engine.define({ nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] });
  const limits = limitsInput.parse({
    concurrency: { limit: LIMIT, key: '{k}', hold_while_paused: false },
  });
  await replaceLimits(engine.db, engine.actor, workflowId, limits);
});

const placeRow = z.object({ run_id: z.string(), key: z.string(), state: z.string() });
const places = (db: Pool) =>
  db.any(sql.type(placeRow)`SELECT run_id, key, state FROM run_places ORDER BY random()`);

/** Numbers that are the same in each execution of the test. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

const idRow = z.object({ id: z.string() });
const pause = (db: Pool, runId: string) =>
  db.query(sql.type(idRow)`
    UPDATE runs SET status = 'paused' WHERE id = ${runId} AND status IN ('pending', 'running') RETURNING id`);
const continueRun = (db: Pool, runId: string) =>
  db.transaction(async (tx) => {
    const run = await tx.maybeOne(sql.type(idRow)`
      SELECT id FROM runs WHERE id = ${runId} AND status = 'paused' FOR UPDATE`);
    if (run !== null) await waitsToContinue(tx, runId);
  });

const advanceAll = async (db: Pool) => {
  for (const queue of [...(await dueQueues(db, 100)), ...(await stuckQueues(db, 100))]) {
    await advanceQueue(db, queue);
  }
};

/** What one process does: triggers, ends, pauses, continues, cancels, resumes and starts the next ones, in any order. */
async function process(db: Pool, next: (below: number) => number): Promise<void> {
  const { actor } = engine;
  for (let n = 0; n < ACTS; n += 1) {
    const act = next(9);
    try {
      const [one] = await places(db);
      if (act < 2) {
        const input = { k: KEYS[next(KEYS.length)]! };
        await admitRun(db, { actor, workflowId, trigger: 'manual', input }, findRunnable);
      } else if (act === 2 && one?.state === 'holding') {
        await abandonRun(db, { runId: one.run_id, kind: 'crash', error: 'x', alerts: false });
      } else if (act === 3 && one !== undefined) {
        await cancelRun(db, { actor, runId: one.run_id, alerts: false });
      } else if (act === 4) {
        const ended = await db.maybeOneFirst(sql.type(z.object({ id: z.string() }))`
          SELECT id FROM runs WHERE status = 'failed' ORDER BY random() LIMIT 1`);
        if (ended !== null) await resumeRun(db, { actor, runId: ended });
      } else if (act === 5 && one?.state === 'holding') {
        await pause(db, one.run_id);
      } else if (act === 6 && (one?.state === 'away' || one?.state === 'pausing')) {
        await continueRun(db, one.run_id);
      } else await advanceAll(db);
    } catch {
      // Another one was first, or the connection was killed. What counts is the log.
    }
  }
}

test('no key ever has more runs in flight than its limit, and no run waits while a slot is free', async () => {
  const pools = await Promise.all(
    Array.from({ length: PROCESSES }, () =>
      connectDatabase(engine.databaseUrl, { maxPoolSize: 2 }),
    ),
  );
  let over = false;
  const kill = async (): Promise<void> => {
    while (!over) {
      await engine.db.any(sql.type(z.object({ killed: z.boolean() }))`
        SELECT pg_terminate_backend(pid) AS killed FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' ORDER BY random() LIMIT 1`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const killing = kill();
  try {
    await Promise.all(pools.map((db, at) => process(db, numbers(at + 1))));
  } finally {
    over = true;
    await killing;
  }
  await Promise.all(pools.map((db) => db.end()));

  const log = await placeLog(engine.db, workflowId);
  expect(log.length).toBeGreaterThan(100);
  expect(mostInFlight(log)).toBe(LIMIT);

  // Each run that was ever started, or waits, comes to its end once those before it do.
  for (;;) {
    await advanceAll(engine.db);
    const left = await places(engine.db);
    for (const key of KEYS) {
      const of = left.filter((place) => place.key === key);
      const waiting = of.filter(({ state }) => state === 'waiting').length;
      const holding = of.filter(({ state }) => state === 'holding' || state === 'leaving').length;
      expect(waiting > 0 ? holding : LIMIT).toBe(LIMIT);
    }
    const [holder] = left.filter(({ state }) => state === 'holding');
    if (holder === undefined) {
      if (left.length === 0) break;
      for (const { run_id } of left) await continueRun(engine.db, run_id);
      continue;
    }
    await abandonRun(engine.db, { runId: holder.run_id, kind: 'crash', error: 'x', alerts: false });
  }
  expect(await places(engine.db)).toEqual([]);
  expect(mostInFlight(await placeLog(engine.db, workflowId))).toBe(LIMIT);
  // Each run that got a slot has its message to Temporal.
  const lost = await engine.db.any(sql.type(z.object({ id: z.string() }))`
    SELECT r.id FROM runs r WHERE r.status IN ('pending', 'running', 'paused')
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = r.id)`);
  expect(lost).toEqual([]);
}, 120_000);

test('a run that has ended holds its slot while one of its steps has a claim', async () => {
  const { db, actor } = engine;
  const start = async () => {
    const request = { actor, workflowId, trigger: 'manual' as const, input: { k: 'claims' } };
    const admission = await admitRun(db, request, findRunnable);
    return admission.outcome === 'admitted' ? admission.run.runId : '';
  };
  const runs = [];
  for (let n = 0; n <= LIMIT; n += 1) runs.push(await start());
  const [first = ''] = runs;
  await db.query(sql.type(z.object({}))`
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, claim, claim_until)
    VALUES (${first}, 'a', 'a', 'a', 'tool', '{}', 1, 'running', 'c', now() + interval '1 hour')`);
  await cancelRun(db, { actor, runId: first, alerts: false });
  const queue = { workflow_id: workflowId, key: 'claims', rate_key: null };
  expect(await advanceQueue(db, queue)).toEqual([]);
  await db.query(sql.type(z.object({}))`
    UPDATE steps SET claim = NULL, claim_until = NULL WHERE run_id = ${first}`);
  expect(await advanceQueue(db, queue)).toMatchObject([{ run_id: runs[LIMIT], kind: 'start' }]);
});

test('a resume needs a slot, also before the slot of its run was given on', async () => {
  const { db, actor } = engine;
  const start = async () => {
    const request = { actor, workflowId, trigger: 'manual' as const, input: { k: 'resumed' } };
    const admission = await admitRun(db, request, findRunnable);
    return admission.outcome === 'admitted' ? admission.run.runId : '';
  };
  const runs = [];
  for (let n = 0; n < LIMIT; n += 1) runs.push(await start());
  await cancelRun(db, { actor, runId: runs[0]!, alerts: false });
  const next = await start();
  expect(await resumeRun(db, { actor, runId: runs[0]! })).toBeUndefined();
  await cancelRun(db, { actor, runId: next, alerts: false });
  const queue = { workflow_id: workflowId, key: 'resumed', rate_key: null };
  expect(await advanceQueue(db, queue)).toMatchObject([{ run_id: runs[0], kind: 'resume' }]);
  expect(mostInFlight(await placeLog(db, workflowId))).toBe(LIMIT);
});
