import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { childrenOf } from '#test/support/sub-workflows.ts';
import { useStage } from '#test/support/stage.ts';
import { deleteHistory, hasContinuedAsNew } from '#test/support/executions.ts';

const ROUNDS = 24;

let worker: TestProcess;
afterAll(() => worker.kill());
const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
const tools = useStage(startToolServer);
beforeAll(async () => {
  worker = await startWorkerProcess(engine.env);
});

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
  const answer = tools.hold('long');
  const long = await offer('Long', chain(tools.node('long')));
  const asks = await offer('Asks', chain({ id: 'ok', kind: 'human_gate' }));
  const both = [...calls(long, 1).calls, ...calls(asks, 2).calls];
  const steps = Array.from({ length: 260 }, (_, at) => `step_${at}`);
  const runId = await engine.start({
    nodes: [
      agent([long, asks], { calls: both }, calls(asks, 3)),
      ...steps.map((id) => mock(id, { output: 'x', delay_ms: 1 })),
      { id: 'join', kind: 'merge' },
    ],
    edges: steps.map((id) => edge(id, 'join')),
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
  expect(tools.calls('long')).toHaveLength(1);
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
