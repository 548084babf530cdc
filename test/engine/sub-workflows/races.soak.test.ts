import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { deleteHistory, hasContinuedAsNew } from '#test/support/executions.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { useStage } from '#test/support/stage.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

const ROUNDS = 24;

let worker: TestProcess;
afterAll(() => worker.kill());
const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
const tools = useStage(startToolServer);
beforeAll(async () => {
  worker = await startWorkerProcess(engine.env);
});

/** After these, a run continues as new. */
const steps = Array.from({ length: 260 }, (_, at) => `step_${at}`);
const manySteps = {
  nodes: [
    ...steps.map((id) => mock(id, { output: 'x', delay_ms: 1 })),
    { id: 'join', kind: 'merge' as const },
  ],
  edges: steps.map((id) => edge(id, 'join')),
};

const openBelow = (runId: string) =>
  engine.db.oneFirst(sql.type(z.object({ open: z.number() }))`
    SELECT count(*) AS open FROM runs
    WHERE id IN (SELECT id FROM runs_below(${runId})) AND status IN ('pending', 'running', 'paused')`);
const isOpen = async (id: string): Promise<boolean> => {
  const found = await engine.deps.temporal.client.workflow
    .getHandle(id)
    .describe()
    .catch(() => undefined);
  return found?.status.name === 'RUNNING';
};

test('a cancel at the moment a child starts leaves nothing running below', async () => {
  await engine.define(chain({ id: 'ok', kind: 'human_gate' }), 'Lowest');
  await engine.define(chain(call('sub', 'Lowest')), 'Middle');
  const workflowId = await engine.define({
    nodes: [call('a', 'Middle'), call('b', 'Lowest')],
    edges: [],
  });
  let withChildren = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const runId = await engine.trigger(workflowId);
    await sleep(round * 8);
    await engine.cancel(runId);
    const children = await childrenOf(engine, runId);
    withChildren += children.length > 0 ? 1 : 0;
    // Decided with the cancel: no child starts later.
    expect(await openBelow(runId)).toBe(0);
  }
  expect(withChildren).toBeGreaterThan(2);
  await sleep(500);
  const below = await engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE status IN ('pending', 'running', 'paused')`);
  expect(below).toEqual([]);
  const all = await engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`SELECT id FROM runs`);
  await eventually(async () => {
    const open = await Promise.all(all.map((id) => isOpen(id)));
    return open.every((each) => !each);
  }, 30_000);
}, 120_000);

test('a child whose execution and parent are terminated continues with a resume of the parent', async () => {
  const answer = tools.hold('held');
  await engine.define(chain(tools.node('held')), 'Held');
  const runId = await engine.start(chain(call('sub', 'Held')));
  await eventually(() => tools.calls('held').length > 0);
  await engine.deps.temporal.client.workflow.getHandle(runId).terminate('lost');
  const ended = await engine.until(runId, ['failed'], 30_000);
  expect(ended.failure).toEqual({ kind: 'crash' });
  const [child] = await childrenOf(engine, runId);
  expect(child).toMatchObject({ status: 'failed', failure: { with_parent: true } });
  answer();
  await engine.resume(runId);
  await engine.until(runId, ['success'], 60_000);
  expect(await childrenOf(engine, runId)).toMatchObject([{ id: child!.id, status: 'success' }]);
}, 120_000);

test('a run continues as new while its children run, and keeps them', async () => {
  const answer = tools.hold('long');
  await engine.define(chain(tools.node('long')), 'Long');
  await engine.define(chain({ id: 'ok', kind: 'human_gate' }), 'Asks');
  const runId = await engine.start({
    nodes: [
      call('long', 'Long'),
      call('asks', 'Asks'),
      ...manySteps.nodes,
      mock('last', { output: '{long.long.status}' }),
    ],
    edges: [...manySteps.edges, edge('long', 'last'), edge('asks', 'last')],
  });
  await eventually(() => hasContinuedAsNew(engine, runId), 60_000);
  const before = await childrenOf(engine, runId);
  expect(before.map(({ status }) => status).sort()).toEqual(['paused', 'running']);
  answer();
  const asks = before.find(({ parent_step_key: key }) => key === 'asks');
  await engine.approve(asks!.id);
  const run = await engine.until(runId, ['success', 'failed'], 30_000);
  expect(run).toMatchObject({ status: 'success', output: { last: 200 } });
  expect(await childrenOf(engine, runId)).toHaveLength(2);
  expect(tools.calls('long')).toHaveLength(1);
}, 120_000);

const input_schema = { type: 'object', properties: { n: {} } };
const offer = async (name: string, graph: GraphInput) => {
  const id = await engine.define(graph, name);
  await updateWorkflow(engine.db, engine.actor, id, { input_schema });
  return `workflow:${name}`;
};
const calls = (tool: string, ...each: unknown[]) => ({
  calls: each.map((n) => ({ tool, arguments: { n } })),
});
const agent = (offered: unknown[], ...turns: object[]) =>
  mock('a', { turns: [...turns, { output: 'done' }] as never }, { tools: offered as never });
const statusOf = async (runId: string, key: string) =>
  (await engine.run(runId)).steps.find(({ step_key }) => step_key === key)?.status;

test('cancels and resumes at any moment of a call keep its run, and never start another', async () => {
  const tool = await offer(
    'Raced',
    chain(mock('one', { output: '1', delay_ms: 20 }), mock('two', { output: '2' })),
  );
  const workflowId = await engine.define(chain(agent([tool], calls(tool, 1, 2), calls(tool, 3))));
  let interrupted = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const runId = await engine.trigger(workflowId);
    await sleep(round * 12);
    const cancelled = await engine.cancel(runId).then(
      () => true,
      () => false,
    );
    if (cancelled) {
      const before = await childrenOf(engine, runId);
      interrupted += before.some(({ failure }) => failure?.with_parent === true) ? 1 : 0;
      expect(before.every(({ status }) => ['success', 'failed'].includes(status))).toBe(true);
      await engine.resume(runId);
    }
    const run = await engine.until(runId, ['success', 'failed'], 60_000);
    expect([run.status, run.error]).toEqual(['success', null]);
    const keys = (await childrenOf(engine, runId)).map(({ parent_step_key: key }) => key);
    expect(keys.sort()).toEqual(['a/1.1', 'a/1.2', 'a/2.1']);
  }
  expect(interrupted).toBeGreaterThan(2);
}, 240_000);

test('an agent continues as new while the runs of its calls continue, and keeps them', async () => {
  const answer = tools.hold('long-call');
  const long = await offer('Long call', chain(tools.node('long-call')));
  const asks = await offer('Asking call', chain({ id: 'ok', kind: 'human_gate' }));
  const both = [...calls(long, 1).calls, ...calls(asks, 2).calls];
  const runId = await engine.start({
    nodes: [agent([long, asks], { calls: both }, calls(asks, 3)), ...manySteps.nodes],
    edges: manySteps.edges,
  });
  await eventually(() => hasContinuedAsNew(engine, runId), 60_000);
  const before = await childrenOf(engine, runId);
  expect(before.map(({ status }) => status).sort()).toEqual(['paused', 'running']);
  answer();
  const decide = async (key: string) => {
    const found = async () =>
      (await childrenOf(engine, runId)).find(
        (child) => child.parent_step_key === key && child.status === 'paused',
      );
    await eventually(async () => (await found()) !== undefined);
    await engine.approve((await found())!.id);
  };
  await decide('a/1.2');
  await decide('a/2.1');
  const run = await engine.until(runId, ['success', 'failed'], 30_000);
  expect(run).toMatchObject({ status: 'success', state: { a: 'done' } });
  expect(await childrenOf(engine, runId)).toHaveLength(3);
  expect(tools.calls('long-call')).toHaveLength(1);
}, 120_000);

test('a run whose history is gone continues its calls from the ledger', async () => {
  const good = await offer('Good', chain(mock('b', { output: 'b' })));
  const bad = await offer('Bad', chain(mock('c', { output: 'c', fail_times: 1 })));
  const strict = { name: bad, on_error: 'fail' };
  const second = { calls: [...calls(good, 2).calls, ...calls(bad, 3).calls] };
  const runId = await engine.start(chain(agent([good, strict], calls(good, 1), second)));
  await engine.until(runId, ['failed'], 30_000);
  await deleteHistory(engine, runId);
  await engine.resume(runId);
  const run = await engine.until(runId, ['success', 'failed'], 60_000);
  expect([run.error, run.state?.['a']]).toEqual([null, 'done']);
  const children = await childrenOf(engine, runId);
  expect(children.map((child) => [child.parent_step_key, child.resumed_count]).sort()).toEqual([
    ['a/1.1', 0],
    ['a/2.1', 0],
    ['a/2.2', 1],
  ]);
  expect(await statusOf(runId, 'a/2.2')).toBe('success');
}, 180_000);
