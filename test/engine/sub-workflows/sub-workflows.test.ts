import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { findWorkflowId, replaceChecks, updateWorkflow } from '#shared/db/workflows/workflows.ts';
import type { JsonObject } from '#shared/json.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

const engine = useEngine();
const tools = useToolServer();

const start = async (graph: GraphInput, input: JsonObject = {}) =>
  engine.trigger(await engine.define(graph), input);
const ended = (runId: string) => engine.until(runId, ['success', 'failed']);
const stepOf = async (runId: string, key: string) =>
  (await engine.run(runId)).steps.find(({ step_key }) => step_key === key);
const onlyChild = async (runId: string) => {
  await eventually(async () => (await childrenOf(engine, runId)).length > 0);
  return (await childrenOf(engine, runId))[0]!;
};
const alone = (...nodes: never[]): GraphInput => ({ nodes, edges: [] });
let names = 0;
/** Creates a workflow with a name of its own, and returns the name. */
const define = async (graph: GraphInput): Promise<string> => {
  names += 1;
  const name = `Workflow ${names}`;
  await engine.define(graph, name);
  return name;
};

describe('a step of kind workflow', () => {
  test.each([
    [0.01, false],
    [0.05, true],
  ])('counts in a check of the cost: at most $%d: %j', async (value, passed) => {
    const name = await define(alone(mock('paid', { output: 1, cost_usd: 0.03 }) as never));
    const id = await engine.define(alone(call('sub', name) as never));
    const checks = [{ name: 'cheap', type: 'max_cost_usd' as const, value }];
    await replaceChecks(engine.db, engine.actor, id, checks);
    const run = await ended(await engine.trigger(id));
    expect(run).toMatchObject({ status: 'success', cost_usd: 0, children_cost_usd: 0.03 });
    expect(run.evals).toMatchObject({ passed: passed ? 1 : 0, total: 1 });
  });

  test('is a separate run, and has its output', async () => {
    const name = await define(alone(echo('twice', 'n * 2') as never));
    const runId = await start(
      chain(
        call('sub', name, { input: { n: '{count}', note: 'of {count}' }, output_key: 'result' }),
        echo('after', 'result.twice + 1'),
      ),
      { count: 4 },
    );
    const run = await ended(runId);
    expect(run).toMatchObject({ status: 'success', output: { after: 9 } });
    const [child] = await childrenOf(engine, runId);
    expect(child).toMatchObject({
      ...{ status: 'success', trigger: 'workflow', workflow_name: name },
      ...{ parent_run_id: runId, parent_step_key: 'sub', created_by: engine.actor.id },
    });
    expect(await stepOf(runId, 'sub')).toMatchObject({
      ...{ kind: 'workflow', status: 'success', child_run_id: child!.id, attempt: 1 },
      ...{ input: { n: 4, note: 'of 4' }, output: { twice: 8 } },
    });
    expect((await engine.run(child!.id)).input).toEqual({ n: 4, note: 'of 4' });
    expect((await engine.frames(runId)).map(({ type }) => type)).toEqual([
      ...['step_started', 'step_completed', 'step_started', 'step_completed', 'run_completed'],
    ]);
  });

  test('calls the current version by name or id, and another by its number', async () => {
    const id = await engine.define(alone(echo('v', '1') as never), 'Versioned');
    const graph = alone(echo('v', '2') as never) as never;
    await updateWorkflow(engine.db, engine.actor, id, { graph });
    const runId = await start(
      alone(call('name', 'Versioned'), call('id', id), call('old', id, { version: 1 })),
    );
    expect((await ended(runId)).output).toEqual({ name: { v: 2 }, id: { v: 2 }, old: { v: 1 } });
    const versions = (await childrenOf(engine, runId)).map((child) => child.workflow_version);
    expect(versions.sort()).toEqual([1, 2, 2]);
  });

  test('is a step per iteration of a loop and per item of a map', async () => {
    const name = await define(alone(echo('square', 'n * n') as never));
    const runId = await start(
      {
        nodes: [
          { id: 'map', kind: 'map', items: 'list', concurrency: 2 },
          call('sub', name, { input: { n: '{map.item}' } }),
          { id: 'loop', kind: 'loop', expression: 'loop.iterations < 2', max_iterations: 5 },
          call('turn', name, { input: { n: '{loop.iterations}' } }),
        ],
        edges: [
          edge('map', 'sub', 'true'),
          edge('sub', 'map'),
          edge('loop', 'turn', 'true'),
          edge('turn', 'loop'),
        ],
      },
      { list: [1, 2, 3] },
    );
    const run = await ended(runId);
    expect(run).toMatchObject({
      output: { map: [{ square: 1 }, { square: 4 }, { square: 9 }] },
      state: { turn: { square: 4 } },
    });
    const keys = (await childrenOf(engine, runId)).map((child) => child.parent_step_key);
    expect(keys.sort()).toEqual(['sub#1', 'sub#2', 'sub#3', 'turn#1', 'turn#2']);
  });
});

describe('a child that fails', () => {
  test('fails the step with the kind child, and error edges catch it', async () => {
    tools.answer('call', { status: 500 });
    const name = await define(alone(tools.node('call')));
    const uncaught = await ended(await start(alone(call('sub', name))));
    expect(uncaught).toMatchObject({ status: 'failed', failure: { kind: 'node', node_id: 'sub' } });
    expect(uncaught.error).toMatch(
      /^Node 'sub' failed: The run of 'Workflow \d+' failed: Node 'call' failed: .*500/,
    );
    expect(uncaught.steps[0]).toMatchObject({ status: 'failed', error_kind: 'child' });

    const caught = await ended(
      await start({
        nodes: [call('sub', name), echo('handler', '[sub.error.kind, sub.error.attempts]')],
        edges: [edge('sub', 'handler', 'error')],
      }),
    );
    expect(caught).toMatchObject({ status: 'success', output: { handler: ['child', 1] } });
    expect(caught.steps[0]).toMatchObject({ status: 'failed', caught: true, error_kind: 'child' });
  });

  test('is resumed, not started again, by a retry of the node and by a resume of the parent', async () => {
    tools.answer('second', { status: 500 });
    const name = await define(chain(tools.node('first'), tools.node('second')));
    const retry = { max_attempts: 2, initial_interval_seconds: 0.01 };
    const runId = await start(alone(call('sub', name, { retry })));
    await ended(runId);
    expect(await stepOf(runId, 'sub')).toMatchObject({
      attempt: 2,
      attempts: [{ outcome: 'failed' }, { outcome: 'failed' }],
    });
    expect(tools.calls('second')).toHaveLength(2);
    tools.answer('second', { status: 200 });
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toMatchObject({
      sub: { second: { body: { name: 'second', status: 200 } } },
    });
    expect(tools.calls('first')).toHaveLength(1);
    expect(tools.calls('second')).toHaveLength(3);
    const children = await childrenOf(engine, runId);
    expect(children).toMatchObject([{ status: 'success', resumed_count: 2 }]);
    expect(await stepOf(runId, 'sub')).toMatchObject({ attempt: 3, child_run_id: children[0]!.id });
  });

  test('is not resumed by a retry after someone has cancelled or rejected it', async () => {
    const name = await define(alone({ id: 'ok', kind: 'human_gate' } as never));
    const retry = { max_attempts: 3, initial_interval_seconds: 0.01 };
    const runs = [
      await start(alone(call('sub', name, { retry }))),
      await start(alone(call('sub', name, { retry }))),
    ];
    const [cancelled, rejected] = await Promise.all(runs.map((runId) => onlyChild(runId)));
    await engine.until(cancelled!.id, ['paused']);
    await engine.until(rejected!.id, ['paused']);
    await engine.cancel(cancelled!.id);
    await engine.decide(rejected!.id, { approved: false });
    expect((await ended(runs[0]!)).error).toContain('failed: Cancelled by');
    expect((await ended(runs[1]!)).error).toMatch(/failed: .*rejected/i);
    expect(await stepOf(runs[1]!, 'sub')).toMatchObject({ attempt: 1, error_kind: 'child' });
  });
});

describe('a paused child', () => {
  test('keeps its parent running, and the step says so', async () => {
    const name = await define(alone({ id: 'ok', kind: 'human_gate' } as never));
    const runId = await start(chain(call('sub', name), echo('after', 'sub.ok.approved')));
    const child = await onlyChild(runId);
    await engine.until(child.id, ['paused']);
    expect(await engine.run(runId)).toMatchObject({
      status: 'running',
      steps: [{ step_key: 'sub', status: 'running', child_run_id: child.id, paused_child: true }],
    });
    await engine.approve(child.id);
    const run = await ended(runId);
    expect(run.output).toEqual({ after: true });
    expect(run.steps[0]).not.toHaveProperty('paused_child');
  });

  test('is announced on the stream of its parent, and so is that it continues', async () => {
    const answers: (() => void)[] = [];
    for (const name of ['first', 'second']) {
      tools.answer(name, { until: new Promise<void>((resolve) => answers.push(resolve)) });
    }
    const inner = await define(
      chain(
        { id: 'one', kind: 'human_gate' },
        tools.node('first'),
        { id: 'two', kind: 'human_gate', timeout_seconds: 2, on_timeout: 'approve' },
        tools.node('second'),
      ),
    );
    const runId = await start(alone(call('sub', await define(alone(call('inner', inner))))));
    const child = await onlyChild(runId);
    const below = await onlyChild(child.id);
    const movesOf = async (id: string) =>
      (await engine.frames(id)).filter(({ type }) => type.startsWith('child_'));
    const hasMoved = (times: number) =>
      eventually(async () => (await movesOf(child.id)).length === times);
    await hasMoved(1);
    await engine.approve(below.id);
    await hasMoved(2);
    answers[0]!();
    // Its second gate times out.
    await hasMoved(4);
    expect((await engine.run(child.id)).steps[0]).not.toHaveProperty('paused_child');
    const of = { run_id: child.id, node_id: 'inner', child_run_id: below.id };
    expect(await movesOf(child.id)).toEqual([
      { ...of, type: 'child_paused' },
      { ...of, type: 'child_continued' },
      { ...of, type: 'child_paused' },
      { ...of, type: 'child_continued' },
    ]);
    // A child that waits for a paused child is running.
    expect(await movesOf(runId)).toEqual([]);
    answers[1]!();
    expect((await ended(runId)).status).toBe('success');
  });

  test('of a call of an agent is announced with the step of the call', async () => {
    const name = await define(alone({ id: 'ok', kind: 'human_gate' } as never));
    const id = await findWorkflowId(engine.db, { workspaceId: engine.actor.workspaceId, name });
    await updateWorkflow(engine.db, engine.actor, id, { input_schema: {} } as never);
    const agent = {
      ...{ id: 'a', kind: 'agent', tools: [`workflow:${name}`] },
      mock: { turns: [{ calls: [{ tool: `workflow:${name}` }] }, { output: 'done' }] },
    };
    const runId = await start(alone(agent as never));
    const child = await onlyChild(runId);
    const moves = async () =>
      (await engine.frames(runId)).filter(({ type }) => type.startsWith('child_'));
    await eventually(async () => (await moves()).length === 1);
    expect(await moves()).toEqual([
      {
        ...{ run_id: runId, type: 'child_paused', node_id: 'a', step_key: 'a/1.1' },
        child_run_id: child.id,
      },
    ]);
    // Once, also after the run was cancelled and resumed.
    await engine.cancel(runId);
    await engine.resume(runId);
    await engine.until(child.id, ['paused']);
    await eventually(async () => (await moves()).length === 3);
    expect((await moves()).map(({ type }) => type)).toEqual([
      'child_paused',
      'child_continued',
      'child_paused',
    ]);
    await engine.approve(child.id);
    expect((await ended(runId)).status).toBe('success');
  });

  test('lets a gate of its parent open', async () => {
    const name = await define(alone({ id: 'ok', kind: 'human_gate' } as never));
    const runId = await start(alone(call('sub', name), { id: 'own', kind: 'human_gate' } as never));
    const child = await onlyChild(runId);
    await engine.until(runId, ['paused']);
    await engine.approve(child.id);
    await eventually(async () => (await stepOf(runId, 'sub'))?.status === 'success');
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    expect((await ended(runId)).output).toEqual({
      sub: { ok: { approved: true } },
      own: { approved: true },
    });
  });

  test('does not delay a failure beside it, and continues with a resume of the parent', async () => {
    tools.answer('beside', { status: 500 });
    const name = await define(alone({ id: 'ok', kind: 'human_gate' } as never));
    const runId = await start({
      nodes: [call('sub', name), { id: 'own', kind: 'human_gate' }, tools.node('beside')],
      edges: [edge('own', 'beside')],
    });
    const child = await onlyChild(runId);
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    await engine.until(runId, ['failed']);
    expect((await engine.run(child.id)).failure).toEqual({ kind: 'cancelled', with_parent: true });
    tools.answer('beside', { status: 200 });
    await engine.resume(runId);
    await engine.until(child.id, ['paused']);
    await engine.approve(child.id);
    expect(await ended(runId)).toMatchObject({ output: { sub: { ok: { approved: true } } } });
    expect(await childrenOf(engine, runId)).toHaveLength(1);
  });
});

test('a cancel of the parent cancels what runs below it, and a resume resumes those runs', async () => {
  const answer = tools.hold('slow');
  const inner = await define(chain(tools.node('first'), tools.node('slow')));
  const outer = await define(alone(call('inner', inner)));
  const runId = await start(
    alone(call('outer', outer), { id: 'gate', kind: 'human_gate' } as never),
  );
  await eventually(() => tools.calls('slow').length > 0);
  const middle = await onlyChild(runId);
  const lowest = await onlyChild(middle.id);
  await engine.cancel(runId);
  for (const below of [middle, lowest]) {
    expect(await engine.run(below.id)).toMatchObject({
      status: 'failed',
      failure: { kind: 'cancelled', with_parent: true },
    });
  }
  answer();
  await engine.carriedOut(runId);
  await engine.resume(runId);
  await eventually(async () => (await engine.run(lowest.id)).status === 'success');
  await engine.until(runId, ['paused']);
  await engine.approve(runId);
  expect(await ended(runId)).toMatchObject({ status: 'success' });
  expect(tools.calls('first')).toHaveLength(1);
  expect(await childrenOf(engine, runId)).toHaveLength(1);
  expect(await childrenOf(engine, middle.id)).toHaveLength(1);
});
