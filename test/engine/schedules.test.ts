import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import type { ScheduleHandle } from '@temporalio/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { ScheduleInput } from '#shared/contract/schedules/schedule.ts';
import { sql } from '#shared/db/pool.ts';
import { readSchedule } from '#shared/db/schedules/schedules.ts';
import { deleteWorkflow } from '#shared/db/workflows/workflows.ts';
import { SCHEDULE_WORKFLOW, type TickResult } from '#shared/execution.ts';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { setLimits } from '#shared/operations/limits/limits.ts';
import { runTick } from '#shared/operations/schedules/ticks.ts';
import { compareOnce, syncOnce } from '#shared/operations/schedules/sync.ts';
import { spreadSeconds, zoneRules } from '#shared/operations/schedules/temporal-schedule.ts';
import {
  createSchedule,
  deleteSchedule,
  triggerSchedule,
  updateSchedule,
} from '#shared/operations/schedules/schedules.ts';
import { chain, echo, eventually, startEngine, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { hostAndPort, startProxy } from '#test/support/proxy.ts';
import { setting } from '#test/support/settings.ts';
import { soakTest } from '#test/support/soak.ts';
import { useStageEach } from '#test/support/stage.ts';

const MINUTE = 60_000;
const plain = chain(echo('a'));
const gated = chain({ id: 'gate', kind: 'human_gate', prompt: 'Go on?' });

const workers: TestProcess[] = [];
afterAll(async () => {
  await engine.db.query(sql.unsafe`DELETE FROM schedules`);
  await compareOnce(engine.deps);
});
const engine = useEngine({ worker: false });
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await engine.db.query(sql.unsafe`UPDATE workspaces SET plan = 'enterprise'`);
});
const proxy = useStageEach(() => startProxy(hostAndPort(setting('TEST_TEMPORAL_ADDRESS'))));

async function startWorker(wire: 'direct' | 'proxied' = 'direct'): Promise<TestProcess> {
  const address = wire === 'proxied' ? proxy.address : setting('TEST_TEMPORAL_ADDRESS');
  const worker = await startWorkerProcess({ ...engine.env, TEMPORAL_ADDRESS: address });
  workers.push(worker);
  return worker;
}

const temporalId = (id: string) => `${engine.deps.config.temporal.taskQueuePrefix}-schedule-${id}`;
const handleOf = (id: string): ScheduleHandle =>
  engine.deps.temporal.client.schedule.getHandle(temporalId(id));
const scope = (scheduleId: string) => ({ workspaceId: engine.actor.workspaceId, scheduleId });
const read = (id: string) => readSchedule(engine.db, scope(id));

/** A schedule of a new workflow, created long ago and synced to Temporal. */
async function schedule(given: Partial<ScheduleInput> = {}, graph: typeof plain = plain) {
  const workflowId = given.workflow_id ?? (await engine.define(graph));
  const { scheduleId, dispatched } = await createSchedule(engine.deps, engine.actor, {
    workflow_id: workflowId,
    cron: '0 0 1 1 *',
    timezone: 'UTC',
    input: { from: 'schedule' },
    enabled: true,
    overlap: 'skip',
    ...given,
  });
  // Wait first: a sync skips a row that is being written, and not every test has a worker that retries it.
  await dispatched;
  await engine.db.query(sql.unsafe`
    UPDATE schedules SET effective_from = now() - interval '1 hour' WHERE id = ${scheduleId}`);
  // A worker of this test may have synced it first.
  await eventually(() => isSynced(scheduleId), 25_000);
  return { id: scheduleId, workflowId };
}

const isSynced = (id: string) =>
  engine.db.oneFirst(sql.type(z.object({ known: z.boolean() }))`
    SELECT told_revision = revision AS known FROM schedules WHERE id = ${id}`);

const runsOf = (scheduleId: string) =>
  engine.db.any(sql.type(z.object({ id: z.string(), due_at: z.string().nullable() }))`
    SELECT id, due_at FROM runs WHERE schedule_id = ${scheduleId} ORDER BY id`);

/** Triggers the schedule through the server. Returns the result of the tick. */
async function tick(id: string): Promise<TickResult> {
  const { client } = engine.deps.temporal;
  const before = (await handleOf(id).describe()).info.numActionsTaken;
  await handleOf(id).trigger();
  await eventually(
    async () => (await handleOf(id).describe()).info.numActionsTaken > before,
    20_000,
  );
  const { recentActions } = (await handleOf(id).describe()).info;
  const { action } = recentActions.at(-1)!;
  return (await client.workflow.getHandle(action.workflow.workflowId).result()) as TickResult;
}

const call = (id: string, dueAt: number, cron = '* * * * *') => ({
  workspace_id: engine.actor.workspaceId,
  schedule_id: id,
  cron,
  timezone: 'UTC',
  due_at: new Date(dueAt).toISOString(),
});
const thisMinute = () => Math.floor(Date.now() / MINUTE) * MINUTE;
/**
 * Waits if needed, so that the test does not cross the next full minute. Changes of a schedule count from the second in
 * which they are made, so it also waits for the second after the full minute.
 */
async function awayFromTheMinute(): Promise<number> {
  const left = MINUTE - (Date.now() % MINUTE);
  if (left < 8_000) await sleep(left + 1_500);
  else if (left > MINUTE - 1_500) await sleep(left - (MINUTE - 1_500));
  return thisMinute();
}

describe('a tick', () => {
  soakTest('comes on the minute, and its run is recorded and audited', 150_000, async () => {
    await startWorker();
    const { id, workflowId } = await schedule({ cron: '* * * * *', name: 'Minutely' });
    await eventually(async () => (await runsOf(id)).length > 0, 105_000);
    const [run] = await runsOf(id);
    const record = await engine.until(run!.id, ['success']);
    expect(record).toMatchObject({
      workflow_id: workflowId,
      trigger: 'schedule',
      input: { from: 'schedule' },
      created_by: null,
    });
    expect(Date.parse(run!.due_at!) % MINUTE).toBe(0);
    expect(Date.parse(record.created_at) - Date.parse(run!.due_at!)).toBeLessThan(40_000);
    const audited = await engine.db.one(sql.type(
      z.object({ actor_name: z.string(), actor_id: z.null(), details: z.unknown() }),
    )`SELECT actor_name, actor_id, details FROM audit_log
      WHERE action = 'schedule_run' AND target_id = ${workflowId} ORDER BY seq LIMIT 1`);
    expect(audited).toMatchObject({
      actor_name: 'Minutely',
      details: { run_id: run!.id, schedule_id: id, cron: '* * * * *' },
    });
    await deleteSchedule(engine.deps, engine.actor, id);
  });

  test('refused by the quota is skipped with a reason, and its execution succeeds', async () => {
    await startWorker();
    const { id } = await schedule();
    await engine.db.query(sql.unsafe`UPDATE workspaces SET plan = 'free'`);
    await engine.db.query(sql.unsafe`
      INSERT INTO run_counters (workspace_id, month, shard, runs)
      VALUES (${engine.actor.workspaceId}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 99, 1000000)`);
    try {
      const result = await tick(id);
      expect(result).toEqual({ skipped: expect.stringMatching(/^Monthly run limit reached/) });
      const { last_skip: skip, last_run_id: last } = await read(id);
      expect(skip?.reason).toMatch(/^Monthly run limit reached \(\d+\/\d+ on the free plan\)/);
      expect(last).toBeNull();
      expect(await runsOf(id)).toEqual([]);
    } finally {
      await engine.db.query(sql.unsafe`DELETE FROM run_counters WHERE shard = 99`);
    }
    // A tick is never queued: with room again, only the next one runs.
    expect(await tick(id)).toMatchObject({ run_id: expect.any(String) });
    expect(await runsOf(id)).toHaveLength(1);
  }, 60_000);

  test('during the previous run is skipped, unless runs can overlap', async () => {
    await startWorker();
    const { id } = await schedule({}, gated as never);
    const first = (await tick(id)) as { run_id: string };
    await engine.until(first.run_id, ['paused']);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await tick(id)).toEqual({ skipped: 'The previous run of this schedule has not ended' });
    await updateSchedule(engine.deps, engine.actor, id, { overlap: 'allow' });
    expect(await tick(id)).toMatchObject({ run_id: expect.any(String) });
    expect(await runsOf(id)).toHaveLength(2);
  }, 60_000);

  test.each(['reject', 'skip'])(
    'under a limit whose slots are taken is skipped with `%s`, and shown',
    async (on_limit) => {
      const { id, workflowId } = await schedule({ cron: '* * * * *', overlap: 'allow' });
      await handleOf(id).pause();
      const limits = limitsInput.parse({ concurrency: { limit: 1, on_limit } });
      await setLimits(engine.db, engine.actor, workflowId, limits);
      await engine.trigger(workflowId);
      const due = await awayFromTheMinute();
      const full = 'One run of this workflow is in flight, which is its limit';
      expect(await runTick(engine.deps, call(id, due))).toEqual({ skipped: full });
      const { last_skip: skip, last_run_id: last } = await read(id);
      expect([skip, last]).toEqual([{ at: new Date(due).toISOString(), reason: full }, null]);
      expect(await runsOf(id)).toEqual([]);
      await deleteSchedule(engine.deps, engine.actor, id);
    },
    60_000,
  );

  test('of an invalid graph is skipped with the reason', async () => {
    const { id } = await schedule({ cron: '* * * * *' }, { nodes: [], edges: [] } as never);
    const result = await runTick(engine.deps, call(id, await awayFromTheMinute()));
    expect(result).toEqual({ skipped: expect.stringMatching(/^Workflow graph invalid/) });
    await deleteSchedule(engine.deps, engine.actor, id);
  });

  test('has one run for concurrent or repeated attempts', async () => {
    const { id } = await schedule({ cron: '* * * * *', overlap: 'allow', enabled: true });
    await handleOf(id).pause();
    const due = await awayFromTheMinute();
    const results = await Promise.all([1, 2, 3, 4].map(() => runTick(engine.deps, call(id, due))));
    results.push(await runTick(engine.deps, call(id, due)));
    const runs = await runsOf(id);
    expect(runs).toHaveLength(1);
    expect(results).toEqual(results.map(() => ({ run_id: runs[0]!.id })));
    expect((await read(id)).last_skip).toBeNull();
    await deleteSchedule(engine.deps, engine.actor, id);
  }, 60_000);

  test('is missed if a later one is due; only the latest runs', async () => {
    const { id } = await schedule({ cron: '* * * * *', overlap: 'allow' });
    await handleOf(id).pause();
    const latest = await awayFromTheMinute();
    const results = await Promise.all(
      [3, 2, 1, 0].map((ago) => runTick(engine.deps, call(id, latest - ago * MINUTE))),
    );
    expect(
      results.slice(0, 3).every((each) => 'skipped' in each && /^Missed/.test(each.skipped)),
    ).toBe(true);
    expect(results[3]).toMatchObject({ run_id: expect.any(String) });
    expect((await read(id)).last_skip?.at).toBe(new Date(latest - MINUTE).toISOString());
    await deleteSchedule(engine.deps, engine.actor, id);
  }, 60_000);

  soakTest('triggered in Temporal runs in any second, also the first', 60_000, async () => {
    const { id } = await schedule({ overlap: 'allow' });
    const minute = await awayFromTheMinute();
    for (const at of [minute, minute + 1_000]) {
      const result = await runTick(engine.deps, call(id, at, '0 0 1 1 *'));
      expect(result).toMatchObject({ run_id: expect.any(String) });
    }
    expect(await runsOf(id)).toHaveLength(2);
  });

  soakTest('by other rules of its zone is ignored, and corrects the schedule', 60_000, async () => {
    const timezone = 'America/Vancouver';
    const { id } = await schedule({ cron: '0 9 1 1 *', timezone });
    const due = await awayFromTheMinute();
    const late = { ...call(id, due, '0 9 1 1 *'), timezone, zone_rules: 'of another process' };
    expect(await runTick(engine.deps, late)).toEqual({ skipped: 'the schedule is not due' });
    expect(await isSynced(id)).toBe(false);
    const own = { ...late, zone_rules: zoneRules(timezone)! };
    expect(await runTick(engine.deps, own)).toMatchObject({ run_id: expect.any(String) });
    await deleteSchedule(engine.deps, engine.actor, id);
  });

  test('of outdated times, or from before the last change, is ignored', async () => {
    const { id } = await schedule({ cron: '* * * * *' });
    await handleOf(id).pause();
    const due = await awayFromTheMinute();
    expect(await runTick(engine.deps, call(id, due, '*/2 * * * *'))).toHaveProperty('skipped');
    // Temporal seems to have other times, so the schedule is synced again, which also ends the pause made there.
    expect(await syncOnce(engine.deps)).toBe(false);
    expect((await handleOf(id).describe()).state.paused).toBe(false);
    await updateSchedule(engine.deps, engine.actor, id, { enabled: false });
    expect(await runTick(engine.deps, call(id, due))).toHaveProperty('skipped');
    await updateSchedule(engine.deps, engine.actor, id, { enabled: true });
    expect(await runTick(engine.deps, call(id, due))).toHaveProperty('skipped');
    expect(await runsOf(id)).toEqual([]);
    expect((await read(id)).last_skip).toBeNull();
    await deleteSchedule(engine.deps, engine.actor, id);
  }, 60_000);
});

test('concurrent triggers of one schedule are admitted one at a time', async () => {
  const { id } = await schedule({}, gated as never);
  for (let round = 0; round < 40; round += 1) {
    const answers = await Promise.allSettled(
      [1, 2, 3, 4, 5].map(() => triggerSchedule(engine.deps, engine.actor, id)),
    );
    const admitted = answers.filter((answer) => answer.status === 'fulfilled');
    const codes = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [(answer.reason as { code: string }).code] : [],
    );
    expect([round, admitted.length, codes]).toEqual([round, 1, Array(4).fill('conflict')]);
    const runId = admitted[0]!.value.admitted.id;
    expect((await read(id)).last_run_id).toBe(runId);
    await engine.cancel(runId);
  }
  expect(await runsOf(id)).toHaveLength(40);
}, 60_000);

soakTest(
  'a killed worker between admitting a run and reporting it: the tick has one run',
  90_000,
  async () => {
    const worker = await startWorker('proxied');
    await startWorkerlessTrigger();
    const { id } = await schedule({ overlap: 'allow' });
    const gate = await holdAdmissions();
    await handleOf(id).trigger();
    await gate.reached();
    proxy.hold();
    await gate.release();
    await eventually(async () => (await runsOf(id)).length === 1, 20_000);
    await worker.kill();
    await startWorker();
    const { client } = engine.deps.temporal;
    const { recentActions } = (await handleOf(id).describe()).info;
    const result = (await client.workflow
      .getHandle(recentActions.at(-1)!.action.workflow.workflowId)
      .result()) as TickResult;
    const runs = await runsOf(id);
    expect(result).toEqual({ run_id: runs[0]!.id });
    expect(runs).toHaveLength(1);
    await engine.until(runs[0]!.id, ['success'], 30_000);
  },
);

/** The first executions of a worker are slow, so the test does not measure this one. */
async function startWorkerlessTrigger(): Promise<void> {
  const runId = await engine.trigger(await engine.define(plain));
  await engine.until(runId, ['success'], 30_000);
}

async function holdAdmissions() {
  await engine.db.query(sql.unsafe`
      CREATE OR REPLACE FUNCTION hold_admission() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN PERFORM pg_advisory_xact_lock_shared(43); RETURN NEW; END'`);
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let locked = (): void => undefined;
  const ready = new Promise<void>((resolve) => (locked = resolve));
  const holding = engine.db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SELECT pg_advisory_xact_lock(43)`);
    locked();
    await released;
  });
  await ready;
  await engine.db.query(sql.unsafe`
      CREATE TRIGGER hold_admission BEFORE INSERT ON runs FOR EACH ROW EXECUTE FUNCTION hold_admission()`);
  const waiting = sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event = 'advisory'`;
  return {
    reached: () => eventually(async () => (await engine.db.oneFirst(waiting)) > 0, 20_000),
    release: async () => {
      release();
      await holding;
      await engine.db.query(sql.unsafe`DROP TRIGGER hold_admission ON runs`);
    },
  };
}

describe('Temporal', () => {
  const paused = async (id: string) => (await handleOf(id).describe()).state.paused;
  const there = async (id: string): Promise<boolean> =>
    handleOf(id)
      .describe()
      .then(
        () => true,
        () => false,
      );
  /** Recently synced schedules are not compared, so this makes them older. */
  const age = () =>
    engine.db.query(sql.unsafe`UPDATE schedules SET told_at = now() - interval '1 hour'`);

  test('is updated when a schedule is created, changed or deleted', async () => {
    const { id } = await schedule();
    expect(await paused(id)).toBe(false);
    const change = await updateSchedule(engine.deps, engine.actor, id, {
      enabled: false,
      cron: '0 12 * * *',
    });
    await change.dispatched;
    // Temporal accepts an update, and applies it a moment later.
    await eventually(() => paused(id));
    const { info, policies, action } = await handleOf(id).describe();
    expect(info.nextActionTimes[0]?.getUTCHours()).toBe(12);
    expect(policies.overlap).toBe('ALLOW_ALL');
    expect(action).toMatchObject({ workflowType: SCHEDULE_WORKFLOW });
    await (
      await deleteSchedule(engine.deps, engine.actor, id)
    ).dispatched;
    expect(await there(id)).toBe(false);
  }, 60_000);

  soakTest('starts runs within a second of the minute, and spreads only many', async () => {
    expect([0, 1, 15, 16, 60, 300, 5_000].map(spreadSeconds)).toEqual([1, 1, 1, 2, 4, 20, 20]);
    const { id } = await schedule({ cron: '30 8 * * 1-5' });
    await engine.db.query(sql.unsafe`
      UPDATE schedules SET told_revision = CASE WHEN id = ${id} THEN 0 ELSE revision END,
        enabled = id = ${id}, leased_until = NULL`);
    await syncOnce(engine.deps);
    await eventually(async () => (await handleOf(id).describe()).spec.jitter === 1_000);
    const { info } = await handleOf(id).describe();
    const next = Date.parse((await read(id)).next_run_at!);
    const late = info.nextActionTimes[0]!.getTime() - next;
    expect(late).toBeGreaterThanOrEqual(0);
    expect(late).toBeLessThanOrEqual(1_000);
  });

  soakTest('can be down while schedules change, and is updated afterward', 60_000, async () => {
    const other = await startEngine({
      worker: false,
      env: { TEMPORAL_ADDRESS: proxy.address },
    });
    try {
      const workflowId = await other.define(plain);
      proxy.cut();
      const { scheduleId, dispatched } = await createSchedule(other.deps, other.actor, {
        workflow_id: workflowId,
        cron: '@yearly',
        timezone: 'UTC',
        input: {},
        enabled: true,
        overlap: 'skip',
      });
      expect(await dispatched).toBe(false);
      await updateSchedule(other.deps, other.actor, scheduleId, { cron: '@monthly' });
      proxy.restore();
      await eventually(async () => {
        await other.db.query(sql.unsafe`UPDATE schedules SET leased_until = NULL`);
        await syncOnce(other.deps);
        const id = `${other.deps.config.temporal.taskQueuePrefix}-schedule-${scheduleId}`;
        const handle = engine.deps.temporal.client.schedule.getHandle(id);
        const known = await handle.describe().catch(() => undefined);
        return known?.info.nextActionTimes[0]?.getUTCDate() === 1;
      }, 30_000);
      await (
        await deleteSchedule(other.deps, other.actor, scheduleId)
      ).dispatched;
    } finally {
      await other.close();
    }
  });

  soakTest('that refuses a schedule is asked once, and the schedule says so', 60_000, async () => {
    const other = await startEngine({
      worker: false,
      env: { TASK_QUEUE_PREFIX: 'x'.repeat(1_200) },
    });
    try {
      const { scheduleId, dispatched } = await createSchedule(other.deps, other.actor, {
        workflow_id: await other.define(plain),
        cron: '@daily',
        timezone: 'UTC',
        input: {},
        enabled: true,
        overlap: 'skip',
      });
      expect(await dispatched).toBe(true);
      const where = { workspaceId: other.actor.workspaceId, scheduleId };
      expect(await readSchedule(other.db, where)).toMatchObject({
        sync_error: expect.stringMatching(/^Temporal refuses the schedule: .+/),
        next_run_at: null,
      });
      const outdated = () =>
        other.db.oneFirst(sql.type(z.object({ behind: z.boolean() }))`
          SELECT told_revision < revision AS behind FROM schedules WHERE id = ${scheduleId}`);
      const makeOlder = (rules: string | null) =>
        other.db.query(sql.unsafe`UPDATE schedules
          SET told_at = now() - interval '1 hour', told_rules = coalesce(${rules}, told_rules)`);
      await makeOlder(null);
      await compareOnce(other.deps);
      expect(await outdated()).toBe(false);
      // New rules of time zones may be what it needs.
      await makeOlder('2020a');
      await compareOnce(other.deps);
      expect(await outdated()).toBe(true);
    } finally {
      await other.close();
    }
  });

  test('loses a schedule that cannot be read, until it is changed', async () => {
    const { id } = await schedule({ name: 'From before' });
    await engine.db.query(sql.unsafe`
      UPDATE schedules SET timezone = 'Mars/Olympus', revision = revision + 1 WHERE id = ${id}`);
    await eventually(async () => {
      await syncOnce(engine.deps);
      return isSynced(id);
    }, 25_000);
    expect((await read(id)).sync_error).toMatch(/Mars\/Olympus/);
    expect(await there(id)).toBe(false);
    const change = await updateSchedule(engine.deps, engine.actor, id, { timezone: 'Asia/Tokyo' });
    await change.dispatched;
    expect(await read(id)).toMatchObject({ sync_error: null, next_run_at: expect.any(String) });
    expect(await there(id)).toBe(true);
  }, 60_000);

  test('is corrected where a schedule is missing, paused or has no row', async () => {
    const lost = await schedule();
    const stray = await schedule();
    const held = await schedule();
    await handleOf(lost.id).delete();
    await engine.db.query(sql.unsafe`DELETE FROM schedules WHERE id = ${stray.id}`);
    await handleOf(held.id).pause('by hand');
    await eventually(async () => {
      await age();
      await compareOnce(engine.deps);
      await syncOnce(engine.deps);
      return (await there(lost.id)) && !(await there(stray.id)) && !(await paused(held.id));
    }, 20_000);
  }, 60_000);

  test('loses the schedules of a deleted workflow, and their ticks are skipped', async () => {
    const { id, workflowId } = await schedule({ cron: '* * * * *' });
    await deleteWorkflow(engine.db, engine.actor, workflowId);
    expect(await runTick(engine.deps, call(id, thisMinute()))).toEqual({
      skipped: 'the schedule was deleted',
    });
    expect(await there(id)).toBe(false);
  });

  soakTest('gets the newest of concurrent changes', 60_000, async () => {
    const { id } = await schedule({ cron: '0 0 * * *' });
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(
        [1, 2, 3, 4, 5, 6].map(async (hour) => {
          const { dispatched } = await updateSchedule(engine.deps, engine.actor, id, {
            cron: `0 ${hour} * * *`,
          });
          await dispatched;
        }),
      );
      // Where a sync failed, the next one waits for its lease to expire.
      await eventually(async () => {
        await syncOnce(engine.deps);
        return isSynced(id);
      }, 25_000);
      const { cron } = await read(id);
      await eventually(async () => {
        const { info } = await handleOf(id).describe();
        return `0 ${info.nextActionTimes[0]?.getUTCHours()} * * *` === cron;
      });
    }
  });

  soakTest('has one schedule per row with several workers, also restarted', 90_000, async () => {
    await startWorker();
    await startWorker();
    const { id } = await schedule();
    expect(await tick(id)).toHaveProperty('run_id');
    await Promise.all(workers.splice(0).map((worker) => worker.kill()));
    await startWorker();
    await eventually(async () => (await runsOf(id)).length === 1);
    const [run] = await runsOf(id);
    await engine.until(run!.id, ['success'], 30_000);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await tick(id)).toHaveProperty('run_id');
    expect(await runsOf(id)).toHaveLength(2);
  });
});
