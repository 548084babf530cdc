import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { createBudget } from '#shared/db/money/budgets.ts';
import { createCustomTool, deleteCustomTool } from '#shared/db/tools/custom-tools.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { beside, untilLockWaiters } from '#test/support/lock-waits.ts';

// A workflow, its cap, its tools or its budgets change while the admission of a run waits for another transaction.

const engine = useEngine({ worker: false });

const run = (statement: FragmentSqlToken) => engine.db.query(sql.unsafe`${statement}`);
const define = () => engine.define({ nodes: [echo('a')], edges: [] });
const newVersion = (workflowId: string) =>
  updateWorkflow(engine.db, engine.actor, workflowId, {
    graph: { nodes: [echo('b')], edges: [] } as never,
  });

/** Triggers a run, and calls the function while the admission waits for the row of the monthly quota. */
async function triggerWhile(workflowId: string, meanwhile: () => Promise<unknown>) {
  await run(sql.fragment`UPDATE workspaces SET plan = 'free'`);
  // Creates the counter.
  await engine.trigger(workflowId);
  return beside(
    engine.db,
    sql.fragment`UPDATE run_counters SET runs = runs WHERE shard = 0`,
    () => engine.trigger(workflowId),
    meanwhile,
  );
}

const admitted = (runId: string) =>
  engine.db.one(sql.type(
    z.object({ version: z.number(), cap: z.number().nullable(), node: z.string() }),
  )`
    SELECT r.workflow_version AS version, r.cost_cap_micros AS cap, v.graph #>> '{nodes,0,id}' AS node
    FROM runs r JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${runId}`);

test('a run uses a graph saved while the admission waits', async () => {
  const workflowId = await define();
  const runId = await triggerWhile(workflowId, () => newVersion(workflowId));
  expect(await admitted(runId)).toEqual({ version: 2, cap: null, node: 'b' });
});

test('a run uses a graph saved while the admission waits for a budget being deleted', async () => {
  const workflowId = await define();
  const budgetId = await createBudget(engine.db, engine.actor, {
    name: 'B',
    scope: 'workflow',
    workflow_id: workflowId,
    window: 'month',
    limit_usd: 1,
  });
  const runId = await beside(
    engine.db,
    sql.fragment`DELETE FROM budgets WHERE id = ${budgetId}`,
    () => engine.trigger(workflowId),
    () => newVersion(workflowId),
  );
  expect(await admitted(runId)).toMatchObject({ version: 2, node: 'b' });
});

test('a run has a cap set while the admission waits', async () => {
  const workflowId = await define();
  const runId = await triggerWhile(workflowId, () =>
    updateWorkflow(engine.db, engine.actor, workflowId, { run_cap_usd: 0.5 }),
  );
  expect(await admitted(runId)).toMatchObject({ version: 1, cap: 500_000 });
});

test('a run is admitted if a broken graph is fixed while the admission waits', async () => {
  const workflowId = await define();
  const broken = { nodes: [], edges: [] } as never;
  await triggerWhile(workflowId, async () => undefined);
  await updateWorkflow(engine.db, engine.actor, workflowId, { graph: broken });
  const runId = await beside(
    engine.db,
    sql.fragment`UPDATE run_counters SET runs = runs WHERE shard = 0`,
    () => engine.trigger(workflowId),
    () => newVersion(workflowId),
  );
  expect(await admitted(runId)).toMatchObject({ version: 3, node: 'b' });
});

test('a run is refused if a tool that it calls is deleted while the admission waits', async () => {
  const tool = await createCustomTool(
    engine.db,
    engine.actor,
    {
      name: 'lookup',
      label: 'Lookup',
      description: '',
      kind: 'http',
      endpoint_url: 'https://tools.example/lookup',
      source: null,
      language: 'javascript',
      method: 'POST',
      headers: {},
      mcp_tool: null,
      input_schema: null,
      timeout_seconds: 5,
      retry_count: 0,
      read_only: false,
    },
    () => ({}),
  );
  const node = { id: 'a', kind: 'tool', tool_name: 'custom:lookup', params: {} } as const;
  const workflowId = await engine.define({ nodes: [node], edges: [] });
  const triggered = triggerWhile(workflowId, () =>
    deleteCustomTool(engine.db, engine.actor, tool.id),
  );
  await expect(triggered).rejects.toMatchObject({ code: 'graph_invalid' });
});

test('a run uses a graph saved while its trigger waits for another trigger with its key', async () => {
  const workflowId = await define();
  await engine.trigger(workflowId);
  const first = Promise.withResolvers<undefined>();
  const giveUp = Promise.withResolvers<undefined>();
  const other = engine.db.transaction(async (tx) => {
    await tx.query(sql.unsafe`
      INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
      VALUES (${engine.actor.workspaceId}, ${workflowId}, 'k', '', 'run_of_another')`);
    first.resolve(undefined);
    await giveUp.promise;
    throw new Error('given up');
  });
  await first.promise;
  const triggered = engine.trigger(workflowId, {}, 'k');
  await untilLockWaiters(engine.db, 1);
  await newVersion(workflowId);
  giveUp.resolve(undefined);
  await expect(other).rejects.toThrow('given up');
  expect(await admitted(await triggered)).toMatchObject({ version: 2, node: 'b' });
});
