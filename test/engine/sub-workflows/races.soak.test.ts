import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';
import { useStage } from '#test/support/stage.ts';
import { hasContinuedAsNew } from '#test/support/executions.ts';

const ROUNDS = 24;

let worker: TestProcess;
afterAll(() => worker.kill());
const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });
const tools = useStage(startToolServer);
beforeAll(async () => {
  worker = await startWorkerProcess(engine.env);
});

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
  const steps = Array.from({ length: 260 }, (_, at) => `step_${at}`);
  const runId = await engine.start({
    nodes: [
      call('long', 'Long'),
      call('asks', 'Asks'),
      ...steps.map((id) => mock(id, { output: 'x', delay_ms: 1 })),
      { id: 'join', kind: 'merge' },
      mock('last', { output: '{long.long.status}' }),
    ],
    edges: [...steps.map((id) => edge(id, 'join')), edge('long', 'last'), edge('asks', 'last')],
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
