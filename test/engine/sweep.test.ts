import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import type { PayloadCodec } from '@temporalio/common';
import pg from 'pg';
import { z } from 'zod';
import { type Db, sql } from '#shared/db/pool.ts';
import { deleteUnusedPayloads } from '#shared/db/audit/retention.ts';
import { SWEEP_WORKFLOW } from '#shared/execution.ts';
import type { SweepTotals } from '#shared/values/sweep.ts';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { setLimits } from '#shared/operations/limits/limits.ts';
import { sweepPart } from '#shared/operations/sweep.ts';
import type { PlanName } from '#shared/people/plans.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createPayloadStore } from '#shared/platform/payload-store.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, eventually, startEngine, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { startSweepSchedule, sweepScheduleId } from '#worker/sweep-schedule.ts';
import { raceRounds, soakDescribe, soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

const engine = useEngine();
const tools = useStage(startToolServer);
const processes: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(processes.splice(0).map((process) => process.kill()));
  // Each test starts with nothing to sweep.
  await engine.db.query(sql.unsafe`DELETE FROM runs`);
  await engine.db.query(sql.unsafe`DELETE FROM outbox`);
  await engine.db.query(sql.unsafe`UPDATE workspaces SET plan = 'enterprise'`);
});

const gated = chain({ id: 'review', kind: 'human_gate', prompt: 'Sure?' }, echo('send'));

interface Place {
  workspaceId: string;
  workflowId: string;
}

/** A new workspace, with a workflow whose runs never executed anything. */
async function place(plan: PlanName): Promise<Place> {
  const workspaceId = newId('workspace');
  const workflowId = newId('workflow');
  await engine.db.query(sql.unsafe`
    INSERT INTO workspaces (id, name, plan) VALUES (${workspaceId}, 'Swept', ${plan})`);
  await engine.db.query(sql.unsafe`
    INSERT INTO workflows (id, workspace_id, name) VALUES (${workflowId}, ${workspaceId}, 'Old')`);
  await engine.db.query(sql.unsafe`
    INSERT INTO workflow_versions (workflow_id, version, graph) VALUES (${workflowId}, 1, '{"nodes":[],"edges":[]}')`);
  return { workspaceId, workflowId };
}

/** `count` ended runs of this age, each with a step, a gate, frames and an idempotency key. */
async function oldRuns(
  { workspaceId, workflowId }: Place,
  count: number,
  age: string,
  frames = 2,
): Promise<void> {
  await engine.db.query(sql.unsafe`
    WITH ids AS (
      SELECT ${newId('run')} || '-' || n AS id FROM generate_series(1, ${count}::int) n
    ), run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at,
                        finished_at, frame_seq)
      SELECT id, ${workspaceId}, ${workflowId}, 1, CASE WHEN random() < 0.5 THEN 'success' ELSE 'failed' END,
             'manual', '{}', now() - ${age}::interval, now() - ${age}::interval + interval '5 s', ${frames}
      FROM ids
    ), step AS (
      INSERT INTO steps (run_id, step_key, node_id, label, kind, status) SELECT id, 'a', 'a', 'a', 'tool', 'success' FROM ids
    ), gate AS (
      INSERT INTO gates (run_id, step_key, round, node_id, label, prompt, fails_on_reject, status)
      SELECT id, 'g', 1, 'g', 'g', 'Sure?', true, 'approved' FROM ids
    ), frame AS (
      INSERT INTO run_frames (run_id, seq, frame) SELECT id, 1, '{"type":"run_completed"}' FROM ids
    )
    INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
    SELECT ${workspaceId}, ${workflowId}, id, '', id FROM ids`);
  // A run whose words are being read is locked, and a sweep skips it.
  await eventually(async () => !(await engine.db.exists(sql.unsafe`SELECT FROM run_words_due`)));
}

const agedRun = (runId: string, age: string) =>
  engine.db.query(sql.unsafe`
    UPDATE runs SET created_at = now() - ${age}::interval WHERE id = ${runId}`);

const entry = (workspaceId: string, age: string) =>
  engine.db.query(sql.unsafe`
    INSERT INTO audit_log (id, workspace_id, action, target_type, target_id, created_at)
    VALUES (${newId('audit')}, ${workspaceId}, 'update', 'workspace', ${workspaceId}, now() - ${age}::interval)`);

/** Only sealed entries are swept; the worker seals them soon. */
const sealed = () =>
  eventually(
    async () =>
      (await engine.db.oneFirst(sql.type(countRow)`SELECT count(*) AS n FROM audit_unsealed`)) ===
      0,
  );

const countRow = z.object({ n: z.number() });
const runsOf = (workspaceId: string, db: Db = engine.db) =>
  db.oneFirst(
    sql.type(countRow)`SELECT count(*) AS n FROM runs WHERE workspace_id = ${workspaceId}`,
  );
const updatesOf = (workspaceId: string) =>
  engine.db.oneFirst(sql.type(countRow)`
    SELECT count(*) AS n FROM audit_log WHERE workspace_id = ${workspaceId} AND action = 'update'`);
const told = (workspaceId: string) =>
  engine.db.any(sql.type(
    z.object({
      actor_id: z.null(),
      actor_name: z.null(),
      target_type: z.string(),
      target_id: z.string(),
      details: z.object({ runs: z.number(), audit: z.number() }),
    }),
  )`
    SELECT actor_id, actor_name, target_type, target_id, details FROM audit_log
    WHERE workspace_id = ${workspaceId} AND action = 'retention_sweep' ORDER BY seq`);
const removalsOf = async (workspaceId: string) =>
  (await told(workspaceId)).map((row) => row.details);

test('listeners that no one has read for a day are deleted, in every plan', async () => {
  const { workspaceId } = await place('enterprise');
  await engine.db.query(sql.unsafe`
    INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret, created_at)
    SELECT 'end_' || name, ${workspaceId}, false, url, '{ping}', '', now() - age
    FROM (VALUES ('idle', 'listen:ada', interval '25 hours'), ('fresh', 'listen:ada', interval '23 hours'),
                 ('sent', 'http://a.example/', interval '25 hours')) AS given (name, url, age)`);
  await sweepPart(engine.deps);
  const left = await engine.db.any(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM data_endpoints WHERE workspace_id = ${workspaceId} ORDER BY id`);
  expect(left.map(({ id }) => id)).toEqual(['end_fresh', 'end_sent']);
});

describe('the window of a plan', () => {
  test.each([
    ['free', 7, 30],
    ['starter', 30, 30],
    ['pro', 90, 365],
  ] as const)('%s keeps runs for %i days and audit entries for %i', async (plan, runs, audit) => {
    const swept = await place(plan);
    await oldRuns(swept, 2, `${runs} days 1 minute`);
    await oldRuns(swept, 3, `${runs} days -1 minute`);
    await entry(swept.workspaceId, `${audit} days 1 minute`);
    await entry(swept.workspaceId, `${audit} days -1 minute`);
    await sealed();
    await sweepPart(engine.deps);
    expect(await runsOf(swept.workspaceId)).toBe(3);
    expect(await updatesOf(swept.workspaceId)).toBe(1);
    expect(await told(swept.workspaceId)).toEqual([
      {
        actor_id: null,
        actor_name: null,
        target_type: 'workspace',
        target_id: swept.workspaceId,
        details: { runs: 2, audit: 1 },
      },
    ]);
  });

  test('enterprise keeps everything, and an empty sweep records nothing', async () => {
    const kept = await place('enterprise');
    await oldRuns(kept, 2, '4000 days');
    await entry(kept.workspaceId, '4000 days');
    await sealed();
    const young = await place('free');
    await oldRuns(young, 1, '1 day');
    const entries = await engine.db.oneFirst(
      sql.type(countRow)`SELECT count(*) AS n FROM audit_log`,
    );
    expect(await sweepPart(engine.deps)).toEqual({
      cancelled: 0,
      runs: 0,
      audit: 0,
      payloads: 0,
      waiting: 0,
      failed: 0,
    });
    expect(await runsOf(kept.workspaceId)).toBe(2);
    expect(await updatesOf(kept.workspaceId)).toBe(1);
    expect(await engine.db.oneFirst(sql.type(countRow)`SELECT count(*) AS n FROM audit_log`)).toBe(
      entries,
    );
  });
});

describe('deleting runs', () => {
  test('deletes governance events outside the audit window, and keeps the others', async () => {
    const { workspaceId } = await place('free');
    const event = (age: string, n: number) =>
      engine.db.query(sql.unsafe`
        INSERT INTO governance_events (workspace_id, type, policy, decision, reason, created_at)
        SELECT ${workspaceId}, 'budget_blocked', 'budget', 'blocked', 'x', now() - ${age}::interval
        FROM generate_series(1, ${n}::int)`);
    await event('31 days', 1_100);
    await event('29 days', 7);
    await sweepPart(engine.deps);
    const left = await engine.db.oneFirst(sql.type(countRow)`
      SELECT count(*) AS n FROM governance_events WHERE workspace_id = ${workspaceId}`);
    expect(left).toBe(7);
  });

  test('deletes all their data, but no workflow, version or counter', async () => {
    const swept = await place('free');
    const other = await place('pro');
    await oldRuns(swept, 5, '8 days');
    await oldRuns(other, 5, '8 days');
    await engine.db.query(sql.unsafe`
      INSERT INTO run_counters (workspace_id, month, shard, runs) VALUES (${swept.workspaceId}, '2026-11-01', 0, 5)`);
    await engine.db.query(sql.unsafe`
      INSERT INTO usage_deltas (workspace_id, day, runs) VALUES (${swept.workspaceId}, '2026-11-01', 5)`);
    await sweepPart(engine.deps);
    const left = await engine.db.one(sql.type(z.record(z.string(), z.number()))`
      SELECT (SELECT count(*) FROM runs WHERE workspace_id = ${swept.workspaceId}) AS runs,
             (SELECT count(*) FROM steps) AS steps, (SELECT count(*) FROM gates) AS gates,
             (SELECT count(*) FROM run_frames) AS frames, (SELECT count(*) FROM idempotency_keys) AS keys,
             (SELECT count(*) FROM workflow_versions WHERE workflow_id = ${swept.workflowId}) AS versions,
             (SELECT sum(runs) FROM run_counters WHERE workspace_id = ${swept.workspaceId}) AS counted,
             (SELECT sum(runs) FROM (SELECT workspace_id, runs FROM usage_deltas
                                     UNION ALL SELECT workspace_id, runs FROM usage_days) u
              WHERE workspace_id = ${swept.workspaceId}) AS used`);
    // The five of the other workspace stay, since its window is longer.
    expect(left).toEqual({
      runs: 0,
      steps: 5,
      gates: 5,
      frames: 5,
      keys: 5,
      versions: 1,
      counted: 5,
      used: 5,
    });
    expect(await runsOf(other.workspaceId)).toBe(5);
    expect(await told(other.workspaceId)).toEqual([]);
  });

  test('runs in batches until none is left, and records one total', async () => {
    const swept = await place('free');
    await oldRuns(swept, 5_000, '8 days');
    let batches = 0;
    const part = await sweepPart(engine.deps, { onBatch: () => (batches += 1) });
    expect(part).toMatchObject({ runs: 5_000, waiting: 0 });
    expect(batches).toBeGreaterThanOrEqual(10);
    expect(await runsOf(swept.workspaceId)).toBe(0);
    expect(await removalsOf(swept.workspaceId)).toEqual([{ runs: 5_000, audit: 0 }]);
  }, 60_000);

  soakTest('uses smaller batches for runs with many frames, at least one run', async () => {
    const swept = await place('free');
    await oldRuns(swept, 30, '8 days', 7_000);
    await oldRuns(swept, 1, '9 days', 1_000_000);
    const sizes: number[] = [];
    let before = 31;
    const look = async () => {
      const now = await runsOf(swept.workspaceId);
      sizes.push(before - now);
      before = now;
    };
    for (let after: string | undefined; before > 0;) {
      ({ after } = await sweepPart(engine.deps, { budgetMs: 0, after }));
      await look();
    }
    const taken = sizes.filter((size) => size > 0);
    expect(taken[0]).toBe(1);
    expect(Math.max(...taken)).toBe(3);
    await sweepPart(engine.deps);
    expect(await removalsOf(swept.workspaceId)).toEqual([{ runs: 31, audit: 0 }]);
  });

  soakTest('continues after its time is over, and is recorded once', async () => {
    const places = await Promise.all(
      ['free', 'starter', 'free'].map((plan) => place(plan as PlanName)),
    );
    for (const swept of places) {
      await oldRuns(swept, 1_100, '40 days');
      await entry(swept.workspaceId, '40 days');
    }
    await sealed();
    let after: string | undefined;
    let parts = 0;
    do {
      ({ after } = await sweepPart(engine.deps, {
        budgetMs: 0,
        ...(after === undefined ? {} : { after }),
      }));
      parts += 1;
    } while (after !== undefined);
    expect(parts).toBeGreaterThan(9);
    for (const swept of places) {
      expect(await removalsOf(swept.workspaceId)).toEqual([{ runs: 1_100, audit: 1 }]);
    }
  });

  soakTest('by concurrent sweepers counts every run once', 60_000, async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const swept = await place('free');
      await oldRuns(swept, 700, '8 days');
      await entry(swept.workspaceId, '31 days');
      await sealed();
      const parts = await Promise.all([1, 2, 3].map(() => sweepPart(engine.deps)));
      expect(parts.reduce((sum, part) => sum + part.runs, 0)).toBe(700);
      expect(await runsOf(swept.workspaceId)).toBe(0);
      const removed = await removalsOf(swept.workspaceId);
      expect(removed.reduce((sum, { runs }) => sum + runs, 0)).toBe(700);
      expect(removed.reduce((sum, { audit }) => sum + audit, 0)).toBe(1);
      expect(await sweepPart(engine.deps)).toMatchObject({ runs: 0, audit: 0, failed: 0 });
    }
  });

  test('skips a locked run, which the next sweep deletes', async () => {
    const swept = await place('free');
    await oldRuns(swept, 300, '10 days');
    await oldRuns(swept, 1, '9 days');
    await oldRuns(swept, 600, '8 days');
    const client = new pg.Client({ connectionString: engine.databaseUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      await client.query(
        `SELECT FROM runs WHERE workspace_id = $1 AND created_at < now() - interval '8 days 12 hours'
         ORDER BY created_at DESC LIMIT 1 FOR UPDATE`,
        [swept.workspaceId],
      );
      expect(await sweepPart(engine.deps)).toMatchObject({ runs: 900, waiting: 1 });
    } finally {
      await client.end();
    }
    expect(await sweepPart(engine.deps)).toMatchObject({ runs: 1, waiting: 0 });
    expect(await runsOf(swept.workspaceId)).toBe(0);
  });

  soakTest('continues with other workspaces after one fails', async () => {
    const [bad, good] = [await place('free'), await place('free')];
    await oldRuns(bad, 3, '8 days');
    await oldRuns(good, 3, '8 days');
    // The trigger refuses to delete the keys of one; the other has none.
    await engine.db.query(sql.unsafe`
      DELETE FROM idempotency_keys WHERE workspace_id = ${good.workspaceId}`);
    await engine.db.query(sql.unsafe`
      CREATE FUNCTION refuse_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`);
    await engine.db.query(sql.unsafe`
      CREATE TRIGGER refuse_delete BEFORE DELETE ON idempotency_keys FOR EACH ROW EXECUTE FUNCTION refuse_delete()`);
    try {
      expect(await sweepPart(engine.deps)).toMatchObject({ runs: 3, failed: 1 });
      expect(await runsOf(bad.workspaceId)).toBe(3);
      expect(await removalsOf(bad.workspaceId)).toEqual([]);
      expect(await removalsOf(good.workspaceId)).toEqual([{ runs: 3, audit: 0 }]);
    } finally {
      await engine.db.query(sql.unsafe`DROP TRIGGER refuse_delete ON idempotency_keys`);
    }
  });
});

describe('a live run past its window', () => {
  const free = () =>
    engine.db.query(sql.unsafe`
      UPDATE workspaces SET plan = 'free' WHERE id = ${engine.actor.workspaceId}`);
  const closed = async (runId: string) =>
    (await engine.deps.temporal.client.workflow.getHandle(runId).describe()).status.name !==
    'RUNNING';
  const auditOf = (runId: string) =>
    engine.db.any(sql.type(
      z.object({
        action: z.string(),
        actor_id: z.string().nullable(),
        actor_name: z.string().nullable(),
      }),
    )`
      SELECT action, actor_id, actor_name FROM audit_log WHERE target_id = ${runId} ORDER BY seq`);

  test('is cancelled first, then deleted once its execution closes: paused, running or pending', async () => {
    const paused = await engine.trigger(await engine.define(gated));
    await engine.until(paused, ['paused']);
    tools.answer('slow', { delayMs: 60_000 });
    const running = await engine.trigger(await engine.define(chain(tools.node('slow'))));
    await eventually(() => tools.calls('slow').length === 1);
    const kept = await engine.trigger(await engine.define(gated));
    await engine.until(kept, ['paused']);
    const pending = newId('run');
    for (const runId of [paused, running]) await agedRun(runId, '8 days');
    await free();
    await engine.db.query(sql.unsafe`
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at)
      SELECT ${pending}, workspace_id, workflow_id, 1, 'pending', 'manual', '{}', created_at
      FROM runs WHERE id = ${paused}`);

    const first = await sweepPart(engine.deps);
    expect(first).toMatchObject({ cancelled: 3, runs: 0, waiting: 3 });
    for (const runId of [paused, running, pending]) {
      const run = await engine.run(runId);
      expect(run).toMatchObject({
        status: 'failed',
        error: 'Cancelled by retention',
        failure: { kind: 'cancelled' },
      });
      expect(await auditOf(runId)).toEqual([
        { action: 'cancel', actor_id: null, actor_name: null },
      ]);
      const frames = await engine.frames(runId);
      expect(frames.at(-1)).toEqual({ run_id: runId, type: 'run_failed', error: run.error });
    }
    expect(await removalsOf(engine.actor.workspaceId)).toEqual([]);

    await eventually(async () => (await closed(paused)) && (await closed(running)), 20_000);
    let removed = 0;
    await eventually(async () => {
      const part = await sweepPart(engine.deps);
      removed += part.runs;
      return part.waiting === 0;
    }, 20_000);
    expect(removed).toBe(3);
    expect((await engine.run(kept)).status).toBe('paused');
    await engine.approve(kept);
    expect((await engine.until(kept, ['success', 'failed'])).status).toBe('success');
  }, 90_000);

  test('is cancelled where it waits for a slot, and in its slot, which the next run takes', async () => {
    const workflowId = await engine.define(gated);
    const limits = limitsInput.parse({ concurrency: { limit: 1 } });
    await setLimits(engine.db, engine.actor, workflowId, limits);
    const [holds, waits, next] = [
      await engine.trigger(workflowId),
      await engine.trigger(workflowId),
      await engine.trigger(workflowId),
    ];
    await engine.until(holds, ['paused']);
    for (const runId of [holds, waits]) await agedRun(runId, '8 days');
    await free();
    expect(await sweepPart(engine.deps)).toMatchObject({ cancelled: 2 });
    for (const runId of [holds, waits]) {
      expect(await engine.run(runId)).toMatchObject({
        ...{ status: 'failed', error: 'Cancelled by retention', queued: null },
      });
    }
    // It was next but one.
    expect((await engine.until(next, ['paused'])).queued).toBeNull();
    let removed = 0;
    await eventually(async () => {
      removed += (await sweepPart(engine.deps)).runs;
      return removed === 2;
    }, 20_000);
  }, 60_000);

  test('sends an alert like any failure', async () => {
    const runId = await engine.trigger(await engine.define(gated, 'G'));
    await engine.until(runId, ['paused']);
    await agedRun(runId, '8 days');
    await free();
    const { config } = engine.deps;
    // Due later, so that nothing takes the row before the check.
    await engine.db.query(
      sql.unsafe`ALTER TABLE outbox ALTER due_at SET DEFAULT now() + interval '1 hour'`,
    );
    try {
      const alerts = { channels: ['chat' as const], email: undefined };
      await sweepPart({ ...engine.deps, config: { ...config, alerts } });
    } finally {
      await engine.db.query(sql.unsafe`ALTER TABLE outbox ALTER due_at SET DEFAULT now()`);
    }
    const payloads = await engine.db.anyFirst(sql.type(z.object({ payload: z.unknown() }))`
      SELECT payload FROM outbox WHERE run_id = ${runId} AND kind = 'alert'`);
    expect(payloads).toEqual([
      {
        run_id: runId,
        workflow_id: expect.stringMatching(/^wf_/),
        workspace_id: engine.actor.workspaceId,
        workflow_name: 'G',
        event: 'failed',
        text: 'Cancelled by retention',
      },
    ]);
  }, 30_000);

  soakTest('stays while its execution is open or a cancel is queued', 60_000, async () => {
    const swept = await place('free');
    await oldRuns(swept, 4, '8 days');
    const ids = await engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE workspace_id = ${swept.workspaceId} ORDER BY id`);
    const [untold, atWork, alerted] = ids;
    await engine.db.query(sql.unsafe`
      INSERT INTO outbox (run_id, kind, due_at)
      VALUES (${untold!}, 'cancel', now() + interval '1 hour'), (${alerted!}, 'alert', now() + interval '1 hour')`);
    await engine.db.query(sql.unsafe`
      UPDATE steps SET status = 'running', claim_until = now() + interval '1 minute' WHERE run_id = ${atWork!}`);
    expect(await sweepPart(engine.deps)).toMatchObject({ runs: 2, waiting: 2 });
    // An execution that is still open although the run has just ended.
    const open = await engine.trigger(await engine.define(gated));
    await engine.until(open, ['paused']);
    await engine.carriedOut(open);
    await engine.db.query(sql.unsafe`
      UPDATE runs SET status = 'failed', finished_at = now(), created_at = now() - interval '8 days'
      WHERE id = ${open}`);
    await free();
    expect(await sweepPart(engine.deps)).toMatchObject({ runs: 0, waiting: 3 });
    await engine.deps.temporal.client.workflow.getHandle(open).terminate();
    expect(await sweepPart(engine.deps)).toMatchObject({ runs: 1, waiting: 2 });
  });

  soakTest('resumed or cancelled concurrently is deleted or kept entirely', 120_000, async () => {
    const workflowId = await engine.define(gated);
    await free();
    for (let round = 0; round < raceRounds(15); round += 1) {
      const swept: Place = { workspaceId: engine.actor.workspaceId, workflowId };
      await oldRuns(swept, 3, '8 days');
      await engine.db.query(sql.unsafe`UPDATE runs SET status = 'failed' WHERE status = 'success'`);
      const ids = await engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`
        SELECT id FROM runs WHERE workspace_id = ${swept.workspaceId}`);
      const [, ...acts] = await Promise.allSettled([
        sweepPart(engine.deps),
        ...ids.map((runId) => engine.resume(runId)),
        ...ids.map((runId) => engine.cancel(runId)),
      ]);
      for (const [index, runId] of ids.entries()) {
        const left = await engine.db.one(sql.type(
          z.object({ runs: z.number(), steps: z.number(), resumes: z.number() }),
        )`
          SELECT (SELECT count(*) FROM runs WHERE id = ${runId}) AS runs,
                 (SELECT count(*) FROM steps WHERE run_id = ${runId} AND step_key = 'a') AS steps,
                 (SELECT count(*) FROM audit_log WHERE target_id = ${runId} AND action = 'resume') AS resumes`);
        expect(left.steps).toBe(left.runs);
        expect(left.resumes).toBe(acts[index]?.status === 'fulfilled' ? 1 : 0);
      }
      await eventually(async () => (await sweepPart(engine.deps)).waiting === 0, 20_000);
      expect(await runsOf(swept.workspaceId)).toBe(0);
    }
  });
});

describe('stored payloads', () => {
  const bytesOf = (text: string) => new TextEncoder().encode(text.padEnd(70_000, '.'));
  const digestOf = (text: string) => createHash('sha256').update(bytesOf(text)).digest('hex');
  const store = async (text: string) => {
    const payload = {
      metadata: { encoding: new TextEncoder().encode('json/plain') },
      data: bytesOf(text),
    };
    const [reference] = await createPayloadStore(engine.db).encode([payload]);
    return reference!;
  };
  const storedAgo = (text: string, age: string) =>
    engine.db.query(sql.unsafe`
      UPDATE payloads SET stored_at = now() - ${age}::interval WHERE digest = ${digestOf(text)}`);
  const kept = async (text: string) =>
    (await engine.db.oneFirst(sql.type(countRow)`
      SELECT count(*) AS n FROM payloads WHERE digest = ${digestOf(text)}`)) === 1;

  test('are deleted when no history can use them, and kept when stored again', async () => {
    for (const text of ['old', 'again', 'young']) await store(text);
    await storedAgo('old', '11 days');
    await storedAgo('again', '11 days');
    await storedAgo('young', '9 days');
    await store('again');
    expect(await deleteUnusedPayloads(engine.db, 3)).toBe(1);
    expect([await kept('old'), await kept('again'), await kept('young')]).toEqual([
      false,
      true,
      true,
    ]);
    await engine.db.query(sql.unsafe`DELETE FROM payloads`);
  });

  soakTest('stay while a run that may have stored them is open or recently ended', async () => {
    const swept = await place('enterprise');
    await oldRuns(swept, 1, '100 days');
    await store('long ago');
    await storedAgo('long ago', '99 days');
    await engine.db.query(sql.unsafe`UPDATE runs SET status = 'paused', finished_at = NULL`);
    expect(await deleteUnusedPayloads(engine.db, 3)).toBe(0);
    await engine.db.query(
      sql.unsafe`UPDATE runs SET status = 'failed', finished_at = now() - interval '4 days'`,
    );
    expect(await deleteUnusedPayloads(engine.db, 3)).toBe(0);
    await engine.db.query(sql.unsafe`UPDATE runs SET finished_at = now() - interval '11 days'`);
    expect(await deleteUnusedPayloads(engine.db, 3)).toBe(1);
  });

  soakTest('stored again during a sweep can still be read', async () => {
    for (let round = 0; round < raceRounds(40); round += 1) {
      await store('raced');
      await storedAgo('raced', '400 days');
      const [references] = await Promise.all([
        Promise.all([store('raced'), store('raced')]),
        deleteUnusedPayloads(engine.db, 3),
        deleteUnusedPayloads(engine.db, 3),
      ]);
      const [loaded] = await createPayloadStore(engine.db).decode([references[0]]);
      expect(loaded?.data?.byteLength).toBe(70_000);
    }
  });

  test('are not sent again by the process that stored them, unless they are gone', async () => {
    const store = createPayloadStore(engine.db);
    const payload = { metadata: {}, data: bytesOf('sent once') };
    const rowOf = () =>
      engine.db.maybeOneFirst(sql.type(z.object({ at: z.string() }))`
        SELECT ctid::text || xmax::text AS at FROM payloads WHERE digest = ${digestOf('sent once')}`);
    await store.encode([payload]);
    const before = await rowOf();
    await store.encode([payload]);
    expect(await rowOf()).toBe(before);
    await storedAgo('sent once', '2 days');
    await store.encode([payload]);
    expect(await deleteUnusedPayloads(engine.db, 3)).toBe(0);
    await engine.db.query(sql.unsafe`DELETE FROM payloads`);
    await store.encode([payload]);
    expect(await kept('sent once')).toBe(true);
  });

  soakTest('are read back by the process that stored them without Postgres', async () => {
    const [mine, other] = [createPayloadStore(engine.db), createPayloadStore(engine.db)];
    const payload = {
      metadata: { encoding: new TextEncoder().encode('json/plain') },
      data: bytesOf('own'),
    };
    const references = await mine.encode([payload]);
    const bytes = async (store: PayloadCodec) =>
      (await store.decode(references)).map(({ data }) => Buffer.from(data!).toString());
    const stored = Buffer.from(payload.data).toString();
    expect(await bytes(other)).toEqual([stored]);
    // What the SDK does with its bytes afterward does not change what is kept.
    payload.data.fill(0);
    await engine.db.query(sql.unsafe`DELETE FROM payloads`);
    expect(await bytes(mine)).toEqual([stored]);
    expect(await bytes(other)).toEqual([stored]);
    await expect(createPayloadStore(engine.db).decode(references)).rejects.toThrow('was deleted');
  });

  test('are swept in batches', async () => {
    await engine.db.query(sql.unsafe`
      INSERT INTO payloads (digest, bytes, stored_at)
      SELECT 'd' || n, '', now() - interval '1000 days' FROM generate_series(1, 250) n`);
    expect((await sweepPart(engine.deps)).payloads).toBeGreaterThanOrEqual(250);
  });
});

test('the sweep workflow deletes due runs, waits for cancelled ones, and ends', async () => {
  const swept = await place('free');
  await oldRuns(swept, 900, '8 days');
  const paused = await engine.trigger(await engine.define(gated));
  await engine.until(paused, ['paused']);
  await agedRun(paused, '31 days');
  await engine.db.query(sql.unsafe`
      UPDATE workspaces SET plan = 'starter' WHERE id = ${engine.actor.workspaceId}`);
  const { client, queues } = engine.deps.temporal;
  const totals = (await client.workflow.execute(SWEEP_WORKFLOW, {
    workflowId: `sweep-${swept.workspaceId}`,
    taskQueue: queues.control,
    args: [{ task_queue: queues.background }],
  })) as SweepTotals;
  expect(totals).toMatchObject({ cancelled: 1, runs: 901 });
  expect(await runsOf(engine.actor.workspaceId)).toBe(0);
  expect(await removalsOf(swept.workspaceId)).toEqual([{ runs: 900, audit: 0 }]);
  expect(await removalsOf(engine.actor.workspaceId)).toContainEqual({ runs: 1, audit: 0 });
}, 90_000);

soakDescribe('the sweep schedule', () => {
  const schedules = async (id: string) => {
    const found: string[] = [];
    for await (const schedule of engine.deps.temporal.client.schedule.list()) {
      if (schedule.scheduleId === id) found.push(schedule.scheduleId);
    }
    return found;
  };

  test('exists once when three workers start together, and each start requests a sweep', async () => {
    const own = await startEngine();
    try {
      const { taskQueuePrefix } = own.deps.config.temporal;
      const id = sweepScheduleId(taskQueuePrefix);
      await own.db.query(sql.unsafe`
        INSERT INTO workflows (id, workspace_id, name) SELECT 'wf_old', id, 'Old' FROM workspaces`);
      await own.db.query(sql.unsafe`
        INSERT INTO workflow_versions (workflow_id, version, graph) VALUES ('wf_old', 1, '{"nodes":[],"edges":[]}')`);
      const ended = () =>
        own.db.query(sql.unsafe`
          INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, status, trigger, input, created_at, finished_at)
          SELECT 'run_old', id, 'wf_old', 1, 'success', 'manual', '{}', now() - interval '8 days', now() - interval '8 days'
          FROM workspaces`);
      await ended();
      // What each worker does when it starts; the later one is a process.
      const starts = [1, 2, 3].map(() =>
        startSweepSchedule(own.deps.temporal, taskQueuePrefix, own.deps.log),
      );
      await eventually(async () => (await runsOf(own.actor.workspaceId, own.db)) === 0, 30_000);
      const handle = own.deps.temporal.client.schedule.getHandle(id);
      await eventually(async () => (await schedules(id)).length === 1, 20_000);
      const { spec, policies, action, info } = await handle.describe();
      expect(spec.intervals).toEqual([expect.objectContaining({ every: 86_400_000 })]);
      expect(policies).toMatchObject({ overlap: 'SKIP', catchupWindow: 60_000 });
      expect(action).toMatchObject({ workflowType: SWEEP_WORKFLOW });
      expect(info.recentActions.length + info.runningActions.length).toBeGreaterThan(0);

      // A later start requests a sweep again and leaves a paused schedule paused. It does not join a sweep in progress.
      await eventually(
        async () => (await handle.describe()).info.runningActions.length === 0,
        40_000,
      );
      await Promise.all(starts.map((start) => start.stop()));
      await handle.pause();
      await ended();
      processes.push(await startWorkerProcess(own.env));
      await eventually(async () => (await runsOf(own.actor.workspaceId, own.db)) === 0, 40_000);
      const after = await handle.describe();
      expect(after.state.paused).toBe(true);
      // No start changed the schedule. An update might undo a concurrent change by an operator.
      expect(after.info.lastUpdatedAt).toBeUndefined();
      await handle.delete();
    } finally {
      await Promise.all(processes.splice(0).map((process) => process.kill()));
      await own.close();
    }
  }, 120_000);

  test('is created once by many callers', async () => {
    const prefix = `race-${newId('request')}`;
    const { temporal, log } = engine.deps;
    const handle = temporal.client.schedule.getHandle(sweepScheduleId(prefix));
    for (let round = 0; round < 3; round += 1) {
      const making = Array.from({ length: 5 }, () => startSweepSchedule(temporal, prefix, log));
      await eventually(async () => {
        const { spec } = await handle.describe().catch(() => ({ spec: undefined }));
        return spec?.intervals?.length === 1;
      }, 20_000);
      await Promise.all(making.map((each) => each.stop()));
    }
    await handle.delete();
  }, 90_000);
});
