import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { beginChildStep } from '#shared/db/children/steps.ts';
import { pauseAtGates } from '#shared/db/gates/openings.ts';
import { sql } from '#shared/db/pool.ts';
import { abandonRun, cancelRun, reportFailure } from '#shared/db/runs/ends.ts';
import { countOpenRuns } from '#shared/db/runs/open-runs.ts';
import { deleteWorkflow } from '#shared/db/workflows/workflows.ts';
import { sendStarts } from '#shared/operations/runs/reconcile.ts';
import { triggerRun } from '#shared/operations/runs/runs.ts';
import { eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine({ worker: false });
let workflowId: string;
beforeAll(async () => {
  workflowId = await engine.define({ nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] });
});

const execution = 'e1';
const nothing = { control: [], observed: [], alerts: false };

/** A run without a parent, and one with it. */
async function pair() {
  const parent = await engine.trigger(workflowId);
  const step = { step_key: 'sub', node_id: 'sub', label: 'sub', iteration: [], output_key: 'sub' };
  await beginChildStep(engine.db, {
    ...{ ...step, ...nothing, run_id: parent, workflow_id: workflowId, execution, attempt: 1 },
    ...{ workspace_id: engine.actor.workspaceId, input: {}, judged: { revision: 0, verdicts: [] } },
  });
  const { runId } = await triggerRun(engine.deps, {
    ...{ actor: engine.actor, workflowId, trigger: 'workflow', input: {} },
    parent: { runId: parent, stepKey: 'sub', execution, attempt: 1 },
  });
  return { alone: await engine.trigger(workflowId), child: runId };
}

const pause = (runId: string) =>
  pauseAtGates(engine.db, {
    ...{ ...nothing, run_id: runId, execution, publicUrl: 'https://ops.example.com' },
    gates: [
      {
        ...{ step_key: 'ok', round: 1, node_id: 'ok', label: 'ok', iteration: [] },
        ...{ prompt: '?', fails_on_reject: true },
      },
    ],
  });
const failed = {
  ...{ step_key: 'ok', node_id: 'ok', label: 'ok', kind: 'tool' as const, iteration: [] },
  ...{ error: 'broken', reason: 'node' as const },
};

test('a pause reports once whether the parent must be notified', async () => {
  const { alone, child } = await pair();
  expect(await pause(alone)).toEqual({ decisions: [], noticed: false });
  expect(await pause(child)).toEqual({ decisions: [], noticed: true });
  expect(await pause(child)).toEqual({ decisions: [], noticed: false });
});

test.each([
  [
    'failure',
    async (runId: string) => {
      const call = { ...nothing, run_id: runId, n: 1, failed: [failed], execution };
      return (await reportFailure(engine.db, call)).ended;
    },
  ],
  [
    'crash',
    (runId: string) =>
      abandonRun(engine.db, { runId, kind: 'crash', error: 'gone', alerts: false }),
  ],
  [
    'cancel',
    async (runId: string) => {
      const { hasParent, hasSlot } = await cancelRun(engine.db, {
        ...{ actor: engine.actor, runId, alerts: false },
      });
      return { hasParent, hasSlot };
    },
  ],
])('the end of a run by a %s reports whether a run has started it', async (_, end) => {
  const { alone, child } = await pair();
  expect(await end(alone)).toEqual({ hasParent: false, hasSlot: false });
  expect(await end(child)).toEqual({ hasParent: true, hasSlot: false });
});

describe("the starts of a workspace's children", () => {
  const counted = z.object({ count: z.number() });
  /** Children that have an execution. */
  const sent = (parent: string) =>
    engine.db.oneFirst(sql.type(counted)`
      SELECT count(*)::int AS count FROM runs WHERE parent_run_id = ${parent} AND temporal_run_id IS NOT NULL`);
  const waiting = (parent: string) =>
    engine.db.oneFirst(sql.type(counted)`
      SELECT count(*)::int AS count FROM outbox o JOIN runs r ON r.id = o.run_id
      WHERE r.parent_run_id = ${parent} AND o.kind = 'start'`);
  const inOutbox = () =>
    engine.db.oneFirst(sql.type(counted)`SELECT count(*)::int AS count FROM outbox`);
  const begin = (steps: string) =>
    engine.db.query(sql.unsafe`
      UPDATE runs SET status = 'running' WHERE status = 'pending' AND parent_step_key LIKE ${steps}`);

  /** A run that has started 15 children, one after the other. No worker begins them. */
  async function family() {
    // Those of other tests.
    await begin('%');
    const parent = await engine.trigger(workflowId);
    const childId = await engine.define({ nodes: [{ id: 'ok', kind: 'human_gate' }], edges: [] });
    const children: string[] = [];
    for (let n = 0; n < 15; n += 1) {
      const { runId, dispatched } = await triggerRun(engine.deps, {
        ...{ actor: engine.actor, workflowId: childId, trigger: 'workflow', input: {} },
        parent: { runId: parent, stepKey: `sub#${n}`, execution, attempt: 1 },
      });
      children.push(runId);
      expect(await dispatched).toBe(n < 4);
    }
    await eventually(async () => (await sent(parent)) === 4);
    return { parent, childId, children };
  }

  test('wait in order while four have not begun, and a few are sent in any case', async () => {
    const { parent } = await family();
    expect(await waiting(parent)).toBe(11);
    // They are not late.
    await eventually(
      async () => (await inOutbox()) - (await countOpenRuns(engine.db)).outbox === 11,
    );
    expect(await sendStarts(engine.deps, 0)).toBe(false);

    await begin('sub#0');
    await begin('sub#1');
    expect(await sendStarts(engine.deps, 0)).toBe(true);
    await eventually(async () => (await sent(parent)) === 6);
    expect(await waiting(parent)).toBe(9);

    // None has begun since.
    expect(await sendStarts(engine.deps, 0)).toBe(false);
    await sendStarts(engine.deps, 2);
    await eventually(async () => (await sent(parent)) === 8);
    expect(await waiting(parent)).toBe(7);
    for (const n of [2, 3, 4, 5, 6, 7]) await begin(`sub#${n}`);
    await sendStarts(engine.deps, 0);
    await eventually(async () => (await sent(parent)) === 12);
  });

  test.each([
    [
      'a cancel of the parent',
      ({ parent }: { parent: string }) =>
        cancelRun(engine.db, { actor: engine.actor, runId: parent, alerts: false }),
    ],
    [
      'a deletion of their workflow',
      ({ childId }: { childId: string }) => deleteWorkflow(engine.db, engine.actor, childId),
    ],
  ])('are removed by %s', async (_, act) => {
    const { children, ...ids } = await family();
    await act(ids);
    const starts = await engine.db.anyFirst(sql.type(z.object({ run_id: z.string() }))`
      SELECT run_id FROM outbox WHERE run_id = ANY(${sql.array(children, 'text')}) AND kind = 'start'`);
    expect(starts).toEqual([]);
  });
});
