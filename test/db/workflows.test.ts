import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { classify } from '#api/http/error-handler.ts';
import type { Actor } from '#shared/people/actor.ts';
import { admitRun } from '#shared/db/runs/admission.ts';
import { createBudget } from '#shared/db/money/budgets.ts';
import { connectDatabase, type FragmentSqlToken, sql, withClient } from '#shared/db/pool.ts';
import {
  createWorkflow,
  deleteWorkflow,
  readWorkflow,
  updateWorkflow,
} from '#shared/db/workflows/workflows.ts';
import { ensureDefaultWorkspace, readDefaultOwner } from '#shared/db/people/workspaces.ts';
import type { RunRequest } from '#shared/db/runs/run-request.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { raceRounds } from '#test/support/soak.ts';
import { useDatabase } from '#test/db/use-database.ts';

const db = useDatabase();
let actor: Actor;
beforeAll(async () => {
  await ensureDefaultWorkspace(db, { ownerEmail: 'owner@localhost' });
  const owner = await readDefaultOwner(db);
  if (owner === undefined) throw new Error('no owner');
  actor = owner;
});

const graph = { nodes: [{ id: 'a', kind: 'merge' }], edges: [] };
const make = async () => createWorkflow(db, actor, { name: 'x', description: '', graph });
const admit = async (workflowId: string, rest: Partial<RunRequest> = {}) =>
  admitRun(db, { actor, workflowId, trigger: 'manual', input: {}, ...rest }, findRunnable);
const count = async (table: 'runs' | 'outbox' | 'workflow_versions') =>
  db.oneFirst(
    sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n FROM ${sql.identifier([table])}`,
  );

describe('the default workspace', () => {
  test('is created once by processes that start concurrently', async () => {
    const fresh = await createTestDatabase();
    const pools = await Promise.all(
      Array.from({ length: 5 }, async () => connectDatabase(fresh.url)),
    );
    const ids = await Promise.all(
      pools.flatMap((pool) =>
        [1, 2].map(async () => ensureDefaultWorkspace(pool, { ownerEmail: 'me@here.org' })),
      ),
    );
    expect(new Set(ids).size).toBe(1);
    const [pool] = pools;
    const members = await pool?.any(sql.type(
      z.object({ name: z.string(), email: z.string(), role: z.string() }),
    )`
      SELECT name, email, role FROM members
    `);
    expect(members).toEqual([{ name: 'Owner', email: 'me@here.org', role: 'admin' }]);
    await Promise.all(pools.map(async (each) => each.end()));
    await fresh.drop();
  });
});

describe('run statistics', () => {
  test('count every run, and average over the finished ones', async () => {
    const workflowId = await make();
    const finish = async (status: string, micros: number, ms: number) => {
      const admission = await admit(workflowId);
      if (admission.outcome !== 'admitted') throw new Error('not admitted');
      const done = status === 'success' || status === 'failed';
      await db.query(sql.unsafe`
        UPDATE runs SET status = ${status}, cost_micros = ${micros}, active_ms = ${ms},
          finished_at = CASE WHEN ${done} THEN now() END
        WHERE id = ${admission.run.runId}
      `);
    };
    await finish('success', 1_000_000, 100);
    await finish('success', 500_000, 200);
    await finish('failed', 1, 300);
    await finish('paused', 9_000_000, 9_000);
    await finish('running', 0, 0);
    await finish('pending', 0, 0);
    const { stats } = await readWorkflow(db, { workspaceId: actor.workspaceId, workflowId });
    expect(stats).toEqual({
      total: 6,
      success: 2,
      failed: 1,
      paused: 1,
      running: 2,
      success_rate: 66.7,
      avg_cost_usd: 0.5,
      avg_duration_ms: 200,
      last_run_at: expect.any(String),
    });
  });
});

describe('concurrent deletion and triggers', () => {
  test('leave no run without its workflow, and cancel each admitted run', async () => {
    for (let round = 0; round < raceRounds(40); round += 1) {
      const workflowId = await make();
      const outboxBefore = await count('outbox');
      const trigger = () => admit(workflowId).catch((error: unknown) => error);
      // Each round has another number of triggers before the deletion.
      const before = Array.from({ length: round % 4 }, trigger);
      const deletion = deleteWorkflow(db, actor, workflowId);
      const after = Array.from({ length: 3 }, trigger);
      const [cancels, ...admitted] = await Promise.all([deletion, ...before, ...after]);
      const isRun = (each: unknown): each is { run: { runId: string } } =>
        typeof each === 'object' && 'run' in each!;
      const started = admitted.filter(isRun);
      expect(cancels.map((row) => row.run_id).sort()).toEqual(
        started.map(({ run }) => run.runId).sort(),
      );
      expect(await count('outbox')).toBe(outboxBefore + 2 * started.length);
      for (const refusal of admitted.filter((each) => !isRun(each))) {
        expect(classify(refusal)).toEqual({ code: 'not_found', detail: 'Workflow not found' });
      }
    }
    expect(await count('runs')).toBe(6);
  });
});

describe('concurrent edits', () => {
  test('of the same graph make one version', async () => {
    const workflowId = await make();
    const before = await count('workflow_versions');
    const changed = { nodes: [{ id: 'b', kind: 'merge' }], edges: [] };
    await Promise.all(
      Array.from({ length: 6 }, async () =>
        updateWorkflow(db, actor, workflowId, { graph: changed }),
      ),
    );
    expect(await count('workflow_versions')).toBe(before + 1);
  });

  test('of different fields keep both', async () => {
    const workflowId = await make();
    await Promise.all([
      updateWorkflow(db, actor, workflowId, { name: 'new name' }),
      updateWorkflow(db, actor, workflowId, { description: 'new description' }),
    ]);
    expect(await readWorkflow(db, { workspaceId: actor.workspaceId, workflowId })).toMatchObject({
      name: 'new name',
      description: 'new description',
    });
  });
});

test('the audit log refuses changes', async () => {
  await make();
  for (const statement of [
    sql.unsafe`UPDATE audit_log SET action = 'x'`,
    sql.unsafe`DELETE FROM audit_log`,
    sql.unsafe`TRUNCATE audit_log`,
  ]) {
    await expect(db.query(statement)).rejects.toThrow();
  }
});

describe('admission', () => {
  const runVersion = async (runId: string) =>
    db.oneFirst(sql.type(z.object({ workflow_version: z.number() }))`
      SELECT workflow_version FROM runs WHERE id = ${runId}
    `);

  test('pins the current version, even if another one is cached', async () => {
    const workflowId = await make();
    await admit(workflowId);
    await updateWorkflow(db, actor, workflowId, {
      graph: { nodes: [{ id: 'b', kind: 'merge' }], edges: [] } as never,
    });
    const admission = await admit(workflowId);
    if (admission.outcome !== 'admitted') throw new Error('not admitted');
    expect(admission.run.graph.nodes.map((node) => node.id)).toEqual(['b']);
    expect(await runVersion(admission.run.runId)).toBe(2);
  });

  test('starts the graph of its pinned version while the workflow keeps changing', async () => {
    const workflowId = await make();
    let over = false;
    const change = async () => {
      for (let n = 0; !over; n += 1) {
        const nodes = [{ id: `n${n % 7}`, kind: 'merge' }];
        await updateWorkflow(db, actor, workflowId, { graph: { nodes, edges: [] } as never });
      }
    };
    const changing = change();
    const admissions = await Promise.all(Array.from({ length: 60 }, async () => admit(workflowId)));
    over = true;
    await changing;
    for (const admission of admissions) {
      if (admission.outcome !== 'admitted') throw new Error('not admitted');
      const stored = await db.oneFirst(sql.type(z.object({ graph: z.any() }))`
        SELECT v.graph FROM runs r JOIN workflow_versions v
          ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
        WHERE r.id = ${admission.run.runId}
      `);
      expect(admission.run.graph.nodes[0]?.id).toBe(stored.nodes[0].id);
    }
  });

  /** Calls `act` while another transaction holds rows. */
  const whileHeld = <T>(rows: string, act: () => Promise<T>): Promise<T> =>
    withClient(db.url, async (client) => {
      await client.query(`BEGIN; SELECT FROM ${rows} FOR UPDATE`);
      return act();
    });
  const change = (statement: FragmentSqlToken) => db.query(sql.unsafe`${statement}`);

  test('finds the run of a duplicate event without a lock', async () => {
    const workflowId = await make();
    const event = { id: 'e', windowSeconds: 60 };
    const first = await admit(workflowId, { event });
    if (first.outcome !== 'admitted') throw new Error('not admitted');
    const again = await whileHeld(`workflows WHERE id = '${workflowId}'`, () =>
      admit(workflowId, { event }),
    );
    expect(again).toEqual({ outcome: 'replayed', runId: first.run.runId });
  });

  test('is refused beyond the quota without waiting for other admissions', async () => {
    const workflowId = await make();
    await change(sql.fragment`UPDATE workspaces SET plan = 'free'`);
    await admit(workflowId);
    await change(sql.fragment`UPDATE run_counters SET runs = 1000000 WHERE shard = 0`);
    await expect(whileHeld('run_counters', () => admit(workflowId))).rejects.toMatchObject({
      code: 'quota_exceeded',
    });
    await change(sql.fragment`DELETE FROM run_counters`);
  });

  test('is refused by a budget without room without waiting for others that reserve', async () => {
    const workflowId = await make();
    const id = await createBudget(db, actor, {
      name: 'B',
      scope: 'workflow',
      workflow_id: workflowId,
      window: 'month',
      limit_usd: 1,
      reservation_estimate_usd: 0.1,
    });
    await change(sql.fragment`UPDATE budgets SET spent_micros = limit_micros WHERE id = ${id}`);
    await expect(whileHeld('budgets', () => admit(workflowId))).rejects.toMatchObject({
      code: 'budget_exceeded',
    });
  });

  test('leaves no rows when the workflow was deleted', async () => {
    const workflowId = await make();
    await admit(workflowId);
    await deleteWorkflow(db, actor, workflowId);
    const before = [await count('runs'), await count('outbox')];
    await expect(admit(workflowId)).rejects.toMatchObject({ code: 'not_found' });
    expect([await count('runs'), await count('outbox')]).toEqual(before);
  });
});
