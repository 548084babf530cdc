import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { sql } from '#shared/db/pool.ts';
import { admitRun } from '#shared/db/runs/admission.ts';
import { createWorkflow } from '#shared/db/workflows/workflows.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { cancelRun, resumeRun, triggerRun } from '#shared/operations/runs/runs.ts';
import { chain, echo, eventually, mock, startEngine, useEngine } from '#test/support/engine.ts';
import { call } from '#test/support/sub-workflows.ts';
import { fetchHistory } from './histories.ts';

/** A workspace that is alone gets half of them, and as many again as there are from the overflow queue. */
const SLOTS = 4;
const STEP_MS = 1_500;
const WIDTH = 8;
const FLOOD_RUNS = 3;

const engine = useEngine({ env: { MAX_CONCURRENT_STEPS: String(SLOTS) } });

let others = 0;
/** A run of one step in a workspace of its own. */
async function startInOtherWorkspace(): Promise<string> {
  const { db, actor, deps } = engine;
  others += 1;
  const owner = { name: 'Other', email: `other-${others}@example.net`, passwordHash: '-' };
  const workspaceId = await createWorkspace(db, { name: 'Other', owner });
  const id = await db.oneFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM members WHERE workspace_id = ${workspaceId}`);
  const other = { ...actor, workspaceId, id };
  const graph = chain(mock('only', { output: 1, delay_ms: 1 }));
  const workflowId = await createWorkflow(db, other, {
    name: 'other',
    graph,
    description: '',
  } as never);
  const { runId } = await triggerRun(deps, {
    actor: other,
    workflowId,
    trigger: 'manual',
    input: {},
  });
  return runId;
}

const statusOf = (runId: string): Promise<string> =>
  engine.db.oneFirst(sql.type(z.object({ status: z.string() }))`
    SELECT status FROM runs WHERE id = ${runId}`);

const outboxIsEmpty = async (): Promise<boolean> =>
  !(await engine.db.exists(sql.unsafe`SELECT FROM outbox`));

const executed = (): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*)::int AS count FROM steps JOIN runs ON runs.id = run_id
    WHERE workspace_id = ${engine.actor.workspaceId} AND steps.status = 'success'`);

test("a workspace's flood of steps leaves slots to others and loses none of its own", async () => {
  const ids = Array.from({ length: WIDTH }, (_, n) => `n${n}`);
  const nodes = ids.map((id) => mock(id, { output: id, delay_ms: STEP_MS }));
  const workflowId = await engine.define({ nodes, edges: [] });
  const runIds = await Promise.all(
    Array.from({ length: FLOOD_RUNS }, () => engine.trigger(workflowId)),
  );
  const running = sql.type(z.object({ count: z.number() }))`
    SELECT count(*)::int AS count FROM steps WHERE status = 'running'`;
  await eventually(async () => (await engine.db.oneFirst(running)) === SLOTS / 2 + SLOTS);

  const other = await startInOtherWorkspace();
  await eventually(async () => (await statusOf(other)) === 'success');
  expect(await executed()).toBeLessThan((FLOOD_RUNS * WIDTH) / 2);

  let refused = 0;
  for (const runId of runIds) {
    const run = await engine.until(runId, ['success'], 40_000);
    expect(run.steps.map(({ status, attempt }) => [status, attempt])).toEqual(
      ids.map(() => ['success', 1]),
    );
    const { events } = await fetchHistory(engine, runId);
    refused += events!.filter((event) => JSON.stringify(event).includes('"StepOverflows"')).length;
  }
  expect(refused).toBeGreaterThan(0);
});

/** Admits so many children that are not sent to Temporal. */
async function keepPending(children: number): Promise<void> {
  const { db, actor } = engine;
  const workflowId = await engine.define(chain({ id: 'ok', kind: 'human_gate' }));
  const parent = { runId: await engine.trigger(workflowId), execution: 'none', attempt: 1 };
  for (let n = 0; n < children; n += 1) {
    const request = { actor, workflowId, trigger: 'workflow', input: {} } as const;
    await admitRun(db, { ...request, parent: { ...parent, stepKey: `s#${n}` } }, findRunnable);
  }
  await db.query(sql.unsafe`
    UPDATE outbox SET leased_until = 'infinity' WHERE kind = 'start' AND leased_until IS NOT NULL`);
}

/** Sends them. */
const startPending = () =>
  engine.db.query(sql.unsafe`
    UPDATE outbox SET leased_until = NULL WHERE leased_until = 'infinity'`);

test("a workspace's tree of runs starts in order, and does not delay the runs of others", async () => {
  const { db, deps, actor } = engine;
  const three = (name: string) => ['a', 'b', 'c'].map((id) => call(id, name));
  await engine.define(chain(echo('leaf')), 'Level 1');
  for (const level of [2, 3, 4]) {
    await engine.define({ nodes: three(`Level ${level - 1}`), edges: [] }, `Level ${level}`);
  }
  const root = await engine.define({ nodes: three('Level 4'), edges: [] });
  const below = 3 + 9 + 27 + 81;
  const counted = sql.type(z.object({ all: z.number(), open: z.number(), waiting: z.number() }));
  const count = (runId: string) =>
    db.one(counted`
      SELECT count(*)::int AS all, count(*) FILTER (WHERE status IN ('pending', 'running', 'paused'))::int AS open,
             count(*) FILTER (WHERE EXISTS (
               SELECT FROM outbox o WHERE o.run_id = r.id AND o.kind = 'start' AND o.due_at = 'infinity'))::int AS waiting
      FROM runs r WHERE id IN (SELECT id FROM runs_below(${runId}))`);

  await keepPending(4);
  const runId = await engine.trigger(root);
  await eventually(async () => (await count(runId)).waiting > 0, 30_000);
  const other = await startInOtherWorkspace();
  await eventually(async () => (await statusOf(other)) === 'success');
  expect(await statusOf(runId)).toBe('running');
  await startPending();
  await engine.until(runId, ['success'], 60_000);
  expect(await count(runId)).toEqual({ all: below, open: 0, waiting: 0 });

  // A cancel starts none of those that wait, and a resume starts all.
  await keepPending(4);
  const again = await engine.trigger(root);
  await eventually(async () => (await count(again)).waiting > 0, 30_000);
  await cancelRun(deps, { actor, runId: again });
  const { all } = await count(again);
  await startPending();
  await eventually(outboxIsEmpty, 30_000);
  expect(await count(again)).toEqual({ all, open: 0, waiting: 0 });
  await resumeRun(deps, { actor, runId: again });
  await engine.until(again, ['success'], 60_000);
  expect(await count(again)).toEqual({ all: below, open: 0, waiting: 0 });
}, 240_000);

/** Keeps every processor occupied, at the lowest priority, until the processes are killed. */
const occupyProcessors = (): ChildProcess[] =>
  Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'os.setPriority(19); for (;;);'], { stdio: 'ignore' }),
  );

test("on a busy machine, few steps beyond a workspace's share are in flight", async () => {
  const slots = 40;
  const alwaysGiven = 5;
  const wide = await startEngine({ env: { MAX_CONCURRENT_STEPS: String(slots) } });
  const burners = occupyProcessors();
  try {
    // The worker measures the machine every tenth of a second.
    await sleep(1_000);
    const nodes = Array.from({ length: 24 }, (_, n) =>
      mock(`n${n}`, { output: n, delay_ms: 5_000 }),
    );
    const workflowId = await wide.define({ nodes, edges: [] });
    const runIds = await Promise.all([wide.trigger(workflowId), wide.trigger(workflowId)]);
    const running = sql.type(z.object({ count: z.number() }))`
      SELECT count(*)::int AS count FROM steps WHERE status = 'running'`;
    let most = 0;
    for (const end = Date.now() + 7_000; Date.now() < end; await sleep(100)) {
      most = Math.max(most, await wide.db.oneFirst(running));
    }
    for (const burner of burners) burner.kill('SIGKILL');
    for (const runId of runIds) await wide.until(runId, ['success'], 60_000);
    expect(most).toBeGreaterThan(alwaysGiven);
    expect(most).toBeLessThanOrEqual(slots / 2 + alwaysGiven);
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
    await wide.close();
  }
}, 120_000);
