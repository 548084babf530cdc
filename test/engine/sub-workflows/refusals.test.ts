import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { createBudget } from '#shared/db/money/budgets.ts';
import { sql } from '#shared/db/pool.ts';
import { deleteWorkflow, findWorkflowId, updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { MAX_RUN_DEPTH } from '#shared/limits.ts';
import { plans } from '#shared/people/plans.ts';
import { resumeRun } from '#shared/operations/runs/runs.ts';
import { validateWorkflow } from '#shared/operations/workflows/validate-workflow.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

const engine = useEngine();

const alone = (...nodes: never[]): GraphInput => ({ nodes, edges: [] });
const gate = { id: 'ok', kind: 'human_gate' } as never;
const act = (runId: string) => ({ actor: engine.actor, runId });
const change = (id: string, body: object) =>
  updateWorkflow(engine.db, engine.actor, id, body as never);
const problems = async (workflowId: string) => {
  const scope = { workspaceId: engine.actor.workspaceId, workflowId };
  const { errors } = await validateWorkflow(engine.db, scope, engine.deps.config.models);
  return errors.map(({ code, message, path }) => ({ code, message, path }));
};
const catching = (workflow: string, rest: object = {}): GraphInput => ({
  nodes: [call('sub', workflow, rest), echo('handler', 'sub.error')],
  edges: [edge('sub', 'handler', 'error')],
});

describe('validation', () => {
  test('refuses a workflow that would start itself, by id, by name or through others', async () => {
    const own = await engine.define(alone(echo('a') as never), 'Self');
    for (const workflow of [own, 'Self']) {
      await change(own, { graph: alone(call('sub', workflow)) });
      expect(await problems(own)).toEqual([
        {
          code: 'workflow_cycle',
          message:
            "Node 'sub': the workflow would start itself, 'Self' → 'Self': remove one of these calls",
          path: 'nodes[0].workflow',
        },
      ]);
      await expect(engine.trigger(own)).rejects.toMatchObject({ code: 'graph_invalid' });
    }
    const third = await engine.define(alone(call('sub', 'First')), 'Third');
    await engine.define(alone(call('sub', third)), 'Second');
    const first = await engine.define(alone(echo('b') as never, call('sub', 'Second')), 'First');
    expect(await problems(first)).toEqual([
      {
        code: 'workflow_cycle',
        message:
          "Node 'sub': the workflow would start itself, 'First' → 'Second' → 'Third' → 'First': remove one of these calls",
        path: 'nodes[1].workflow',
      },
    ]);
    // An earlier version that starts nothing ends the chain.
    await change(third, { graph: alone(call('sub', 'First', { version: 2 })) });
    await change(first, { graph: alone(echo('end') as never) });
    await change(first, { graph: alone(call('sub', 'Second')) });
    expect(await problems(first)).toEqual([]);
    expect((await engine.ended(await engine.trigger(first))).output).toEqual({
      sub: { sub: { sub: { end: 'end' } } },
    });
  });

  test('names a workflow or a version that does not exist', async () => {
    await engine.define(alone(echo('a') as never), 'Twin');
    await engine.define(alone(echo('a') as never), 'Twin');
    await engine.define(alone(echo('a') as never), 'Known');
    const id = await engine.define(
      alone(call('a', 'Nobody'), call('b', 'Known', { version: 9 }), call('c', 'Twin')),
    );
    expect((await problems(id)).map(({ message }) => message)).toEqual([
      "Node 'a': there is no workflow 'Nobody' in this workspace: create it, or name another one",
      "Node 'b': workflow 'Known' has no version 9: name one that it has, or leave out the version",
      "Node 'c': several workflows are named 'Twin': name one by its id",
    ]);
  });

  test('does not know workflows of other workspaces', async () => {
    const foreign = await engine.define(alone(echo('a') as never), 'Foreign');
    await engine.db.query(sql.unsafe`
      WITH other AS (INSERT INTO workspaces (id, name) VALUES ('ws_other', 'Other') RETURNING id)
      UPDATE workflows SET workspace_id = (SELECT id FROM other) WHERE id = ${foreign}`);
    for (const workflow of [foreign, 'Foreign']) {
      const id = await engine.define(alone(call('sub', workflow)));
      expect((await problems(id)).map(({ message }) => message)).toEqual([
        `Node 'sub': there is no workflow '${workflow}' in this workspace: create it, or name another one`,
      ]);
    }
  });
});

describe('at run time', () => {
  /** Makes the graph valid when the run starts, and not when its step does. */
  const meanwhile = async (graph: GraphInput, act: () => Promise<unknown>) => {
    const runId = await engine.start({
      nodes: [gate, ...graph.nodes!],
      edges: [edge('ok', 'sub'), ...graph.edges!],
    });
    await engine.until(runId, ['paused']);
    await act();
    await engine.approve(runId);
    return engine.ended(runId);
  };

  test('a workflow that was renamed or deleted fails the step', async () => {
    const id = await engine.define(alone(echo('a') as never), 'Renamed');
    const run = await meanwhile(catching('Renamed'), () => change(id, { name: 'New name' }));
    expect(run.output).toEqual({
      handler: {
        message: expect.stringMatching(/^There is no workflow 'Renamed' in/),
        kind: 'child',
        attempts: 1,
      },
    });
    const other = await engine.define(alone(echo('a') as never), 'Deleted');
    const gone = await meanwhile(catching(other), () =>
      deleteWorkflow(engine.db, engine.actor, other),
    );
    expect(gone.output).toMatchObject({
      handler: { message: expect.stringContaining(`There is no workflow '${other}'`) },
    });
  });

  test('a workflow that became invalid fails the step, and a resume starts it when it is valid', async () => {
    const id = await engine.define(alone(echo('a') as never), 'Breaks');
    const run = await meanwhile(alone(call('sub', id)), () =>
      change(id, { graph: { nodes: [], edges: [] } }),
    );
    expect(run.error).toContain('The graph has no nodes');
    expect(await childrenOf(engine, run.id)).toEqual([]);
    await change(id, { graph: alone(echo('b') as never) });
    await engine.resume(run.id);
    // The gate was decided about another version, so the step asks.
    const { pending_gate: asks } = await engine.until(run.id, ['paused']);
    await engine.approve(run.id, { digest: asks?.tool_call?.digest });
    expect(await engine.until(run.id, ['success'])).toMatchObject({ output: { sub: { b: 'b' } } });
  });

  test('an input that does not match fails the step with its paths, and starts nothing', async () => {
    const id = await engine.define(alone(echo('a') as never), 'Typed');
    const properties = { n: { type: 'number' }, to: { type: 'string' } };
    await change(id, { input_schema: { type: 'object', properties, required: ['n'] } });
    const retry = { max_attempts: 5, initial_interval_seconds: 0.01 };
    const runId = await engine.start(
      alone(call('sub', 'Typed', { input: { n: 'many', to: 'x' }, retry })),
    );
    const run = await engine.ended(runId);
    expect(run.error).toMatch(/Invalid input: .*n/);
    expect(run.steps).toMatchObject([{ status: 'failed', error_kind: 'child', attempt: 1 }]);
    expect(await childrenOf(engine, runId)).toEqual([]);
    // A resume repeats the step from its start, also the attempt that has failed.
    await change(id, { input_schema: null });
    await engine.resume(runId);
    expect(await engine.ended(runId)).toMatchObject({
      ...{ status: 'success', output: { sub: { a: 'a' } } },
      steps: [{ step_key: 'sub', status: 'success', attempt: 2, error: null }],
    });
  });

  soakTest(`runs are at most ${MAX_RUN_DEPTH} deep`, async () => {
    await engine.define(alone(echo('end') as never), 'Level 1');
    for (let level = 2; level <= MAX_RUN_DEPTH + 1; level += 1) {
      await engine.define(alone(call('sub', `Level ${level - 1}`)), `Level ${level}`);
    }
    const idOf = async (level: number) => {
      const scope = { workspaceId: engine.actor.workspaceId, name: `Level ${level}` };
      return findWorkflowId(engine.db, scope);
    };
    const deepest = await engine.ended(await engine.trigger(await idOf(MAX_RUN_DEPTH)));
    expect(deepest.status).toBe('success');
    const deeper = await engine.ended(await engine.trigger(await idOf(MAX_RUN_DEPTH + 1)));
    expect(deeper).toMatchObject({ status: 'failed' });
    expect(deeper.error).toContain(`up to a depth of ${MAX_RUN_DEPTH}`);
  });

  test('a child that is deleted fails the step', async () => {
    const id = await engine.define(alone(gate), 'Deleted while it runs');
    const runId = await engine.start(catching(id));
    await eventually(async () => (await childrenOf(engine, runId))[0]?.status === 'paused');
    await deleteWorkflow(engine.db, engine.actor, id);
    expect((await engine.ended(runId)).output).toMatchObject({
      handler: { message: 'The run that it started was deleted', kind: 'child' },
    });
  });

  test('a deleted workflow ends the runs below its runs', async () => {
    await engine.define(alone(gate), 'Below');
    const id = await engine.define(alone(call('sub', 'Below')));
    const runId = await engine.trigger(id);
    await eventually(async () => (await childrenOf(engine, runId))[0]?.status === 'paused');
    const [child] = await childrenOf(engine, runId);
    await deleteWorkflow(engine.db, engine.actor, id);
    expect(await engine.run(child!.id)).toMatchObject({
      status: 'failed',
      failure: { kind: 'cancelled', with_parent: true },
      parent_run_id: null,
    });
  });
});

describe('money', () => {
  const priced = (id: string, usd: number) => mock(id, { output: id, cost_usd: usd });

  test('the cap of a run counts the runs below it, and an override lets all of them continue', async () => {
    await engine.define(
      { nodes: [priced('one', 0.4), priced('two', 0.4)], edges: [edge('one', 'two')] },
      'Priced',
    );
    await engine.define(
      {
        nodes: [call('first', 'Priced'), call('second', 'Priced'), echo('caught')],
        edges: [edge('first', 'second'), edge('second', 'caught', 'error')],
      },
      'Middle',
    );
    const top = await engine.define(alone(call('sub', 'Middle')), 'Top');
    await change(top, { run_cap_usd: 1, overrun: 'one_step' });
    const runId = await engine.trigger(top);
    const run = await engine.ended(runId);
    // Never caught, although there is an error edge on the way.
    expect(run).toMatchObject({
      ...{ status: 'failed', failure: { kind: 'budget', node_id: 'sub' } },
      ...{ cost_usd: 0, children_cost_usd: 1.2, cost_cap_usd: 1 },
    });
    expect(run.error).toContain('Run cost cap reached: $1.20 of $1.00 spent');
    await expect(
      resumeRun(engine.deps, { ...act(runId), override: { capMicros: 1_100_000 } }),
    ).rejects.toMatchObject({ code: 'invalid' });
    await resumeRun(engine.deps, { ...act(runId), override: { capMicros: 5_000_000 } });
    expect(await engine.until(runId, ['success'])).toMatchObject({
      children_cost_usd: 1.6,
      output: { sub: { second: { two: 'two' } } },
    });
  });

  soakTest('a used-up cap refuses a child that can cost something, before it exists', async () => {
    await engine.define(alone(priced('one', 0.3)), 'Costs');
    await engine.define(alone({ id: 'c', kind: 'condition', expression: 'true' } as never), 'Free');
    const after = (workflow: string) =>
      engine.define({
        nodes: [priced('first', 0.4), call('sub', workflow), echo('caught')],
        edges: [edge('first', 'sub'), edge('sub', 'caught', 'error')],
      });
    const [parent, other] = [await after('Costs'), await after('Free')];
    for (const id of [parent, other]) await change(id, { run_cap_usd: 0.5 });
    const runId = await engine.trigger(parent);
    const run = await engine.ended(runId);
    expect(run).toMatchObject({
      ...{ status: 'failed', failure: { kind: 'budget', node_id: 'sub' }, cost_usd: 0.4 },
    });
    expect(run.error).toContain('the next request may cost $0.30, and $0.10 is left');
    expect(await childrenOf(engine, runId)).toEqual([]);
    await resumeRun(engine.deps, { ...act(runId), override: { capMicros: 700_000 } });
    expect(await engine.until(runId, ['success'])).toMatchObject({ children_cost_usd: 0.3 });
    expect((await engine.ended(await engine.trigger(other))).status).toBe('success');
  });

  test('a child is counted and held like every run, and a refusal stops its parent', async () => {
    const child = await engine.define(alone(priced('one', 0.4)), 'Budgeted');
    await createBudget(engine.db, engine.actor, {
      name: 'Small',
      scope: 'workflow',
      workflow_id: child,
      window: 'month',
      limit_usd: 0.5,
      reservation_estimate_usd: 0.4,
    });
    const parent = await engine.define(chain(call('a', child), call('b', child)), 'Twice');
    const run = await engine.ended(await engine.trigger(parent));
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'budget', node_id: 'b' } });
    expect(run.error).toContain("Budget 'Small' exhausted");
    expect(await childrenOf(engine, run.id)).toHaveLength(1);
  });

  soakTest('a child uses the monthly quota; a step that waits for one does not', async () => {
    const setPlan = (plan: string, used: number) =>
      engine.db.query(sql.unsafe`
        WITH plan AS (UPDATE workspaces SET plan = ${plan} WHERE id = ${engine.actor.workspaceId})
        UPDATE run_counters SET runs = CASE WHEN shard = 0 THEN ${used}::int ELSE 0 END
        WHERE workspace_id = ${engine.actor.workspaceId}`);
    const id = await engine.define(catching('Level 1'));
    const limit = plans.free.runsPerMonth!;
    await engine.db.query(sql.unsafe`
      INSERT INTO run_counters (workspace_id, month, shard, runs)
      SELECT workspace_id, month, 0, 0 FROM run_counters WHERE workspace_id = ${engine.actor.workspaceId}
      GROUP BY 1, 2 ON CONFLICT DO NOTHING`);
    await setPlan('free', limit - 1);
    try {
      const run = await engine.ended(await engine.trigger(id));
      expect(run.output).toMatchObject({
        handler: { message: expect.stringContaining('Monthly run limit reached') as never },
      });
    } finally {
      await setPlan('enterprise', 0);
    }
  });
});

soakTest('a cancelled child of a running map can be caught, and its parent continues', async () => {
  const name = 'Waits';
  await engine.define(alone(gate), name);
  const runId = await engine.start({
    nodes: [
      { id: 'map', kind: 'map', items: '[1, 2]', on_item_error: 'collect' },
      call('sub', name),
    ],
    edges: [edge('map', 'sub', 'true'), edge('sub', 'map')],
  });
  await eventually(
    async () =>
      (await childrenOf(engine, runId)).every(({ status }) => status === 'paused') &&
      (await childrenOf(engine, runId)).length === 2,
  );
  for (const child of await childrenOf(engine, runId)) await engine.cancel(child.id);
  const run = await engine.ended(runId);
  expect(run.output).toMatchObject({
    map: [{ error: { kind: 'child' } }, { error: { kind: 'child' } }],
  });
});
