import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { sql } from '#shared/db/pool.ts';
import { createWorkflow } from '#shared/db/workflows/workflows.ts';
import { triggerRun } from '#shared/operations/runs/runs.ts';
import { createWoken } from '#shared/operations/waits/woken.ts';
import { chain, echo, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const wait = (fields: object) => ({ id: 'w', kind: 'wait', ...fields }) as never;

const statusOf = (runId: string) =>
  engine.db.maybeOneFirst(sql.unsafe`SELECT status FROM run_waits WHERE run_id = ${runId}`);

const whenOpen = (runId: string) => eventually(async () => (await statusOf(runId)) === 'open');

const wakeIn = (runId: string, seconds: number) =>
  engine.db.query(sql.unsafe`
    UPDATE run_waits SET wake_at = now() + ${seconds}::float8 * interval '1 s' WHERE run_id = ${runId}`);

describe('waits whose time is up', () => {
  test('end after a wake that no execution has received', async () => {
    const runId = await engine.start(chain(wait({ seconds: 3_600 }), echo('b')), {});
    await whenOpen(runId);
    await engine.db.query(sql.unsafe`UPDATE run_waits SET due_at = now() WHERE run_id = ${runId}`);
    // Leased, as by a process that was killed before it sent its signal.
    await wakeIn(runId, 1);
    const { finished_at: finished } = await engine.until(runId, ['success']);
    const late = await engine.db.oneFirst(sql.unsafe`
      SELECT extract(epoch FROM ${finished}::timestamptz - due_at)::float8 FROM run_waits WHERE run_id = ${runId}`);
    expect(late).toBeGreaterThanOrEqual(1);
  });

  test('stay open when they are woken too early, and are woken again', async () => {
    const runId = await engine.start(chain(wait({ seconds: 1 })), {});
    await whenOpen(runId);
    await wakeIn(runId, 0);
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]!.duration_ms).toBeGreaterThanOrEqual(990);
  });

  test('are forgotten once their execution is closed', async () => {
    const runId = await engine.start(chain(wait({ event: { name: 'paid' } })), {});
    await whenOpen(runId);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    // As if the event had come at the same moment.
    await engine.db.query(sql.unsafe`UPDATE run_waits SET status = 'came' WHERE run_id = ${runId}`);
    await wakeIn(runId, 0);
    await eventually(async () =>
      engine.db.exists(
        sql.unsafe`SELECT FROM run_waits WHERE run_id = ${runId} AND wake_at IS NULL`,
      ),
    );
  });

  test('end once, and none before its time', async () => {
    const until = new Date(Date.now() + 3_000).toISOString();
    const workflow = await engine.define(chain(wait({ until: '{at}' })), 'Many');
    const ids = await Promise.all(
      Array.from({ length: 40 }, () => engine.trigger(workflow, { at: until })),
    );
    for (const id of ids) await engine.until(id, ['success']);
    const ended = await engine.db.any(sql.unsafe`
      SELECT count(*)::int AS count, count(wake_at)::int AS armed, min(ended_at - due_at) >= interval '0' AS in_time
      FROM run_waits WHERE run_id = ANY(${sql.array(ids, 'text')})`);
    expect(ended).toEqual([{ count: 40, armed: 0, in_time: true }]);
  });
});

describe('workspaces', () => {
  const MANY = 120;

  test('take turns, however many waits of another one are due', async () => {
    const { db, actor, deps } = engine;
    const owner = { name: 'Other', email: 'other@example.net', passwordHash: '-' };
    const workspaceId = await createWorkspace(db, { name: 'Other', owner });
    const id = await db.oneFirst(
      sql.type(
        z.object({ id: z.string() }),
      )`SELECT id FROM members WHERE workspace_id = ${workspaceId}`,
    );
    const other = { ...actor, workspaceId, id };
    const sleeping = { name: 'sleeping', graph: chain(wait({ seconds: 3_600 })), description: '' };
    const startAs = async (by: typeof actor, workflowId: string): Promise<string> => {
      const run = { actor: by, workflowId, trigger: 'manual', input: {} } as const;
      const { runId, dispatched } = await triggerRun(deps, run);
      await dispatched;
      return runId;
    };
    const flood = await createWorkflow(db, actor, sleeping as never);
    const ids = await Promise.all(Array.from({ length: MANY }, () => startAs(actor, flood)));
    const only = await startAs(other, await createWorkflow(db, other, sleeping as never));
    for (const runId of [...ids, only]) await whenOpen(runId);
    // The other's is the last one that is due.
    await db.query(sql.unsafe`
      UPDATE run_waits SET due_at = now() - CASE WHEN run_id = ${only} THEN 0 ELSE 60 END * interval '1 s',
        wake_at = now() - CASE WHEN run_id = ${only} THEN 0 ELSE 60 END * interval '1 s'
      WHERE run_id = ANY(${sql.array([...ids, only], 'text')})`);
    await eventually(async () => (await statusOf(only)) === 'came');
    const ended = await db.oneFirst(sql.unsafe`
      SELECT count(*)::int FROM run_waits w, run_waits o
      WHERE o.run_id = ${only} AND w.run_id = ANY(${sql.array(ids, 'text')}) AND w.ended_at < o.ended_at`);
    expect(ended).toBeLessThan(MANY / 2);
    for (const runId of ids) await engine.until(runId, ['success']);
  }, 60_000);
});

describe('the steps that a process has woken', () => {
  const a = { run_id: 'run_1', step_key: 'a' };
  const b = { run_id: 'run_1', step_key: 'b' };

  test('are those whose rows were not read', async () => {
    const woken = createWoken();
    woken.add([a, b]);
    const next = woken.nextRead(1_000);
    woken.read(a);
    // Another process has woken it.
    woken.read(a);
    expect(await next).toBe(true);
    expect(woken.places()).toEqual([b]);
    expect(await woken.nextRead(1)).toBe(false);
    woken.keep([]);
    expect(woken.places()).toEqual([]);
  });

  test('do not count for long: an execution may be stuck', async () => {
    const woken = createWoken();
    woken.add([a]);
    await sleep(300);
    expect(woken.places()).toEqual([]);
  });

  test('are not missed between two looks', async () => {
    const woken = createWoken();
    woken.add([a]);
    woken.read(a);
    expect(woken.places()).toEqual([]);
  });
});
