import { describe, expect, test } from '@jest/globals';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { listOpenExecutions, listTerminated } from '#shared/operations/runs/executions.ts';
import { triggerRun } from '#shared/operations/runs/runs.ts';
import { createRunTypes } from '#shared/operations/runs/run-types.ts';
import { chain, echo, eventually, mock } from '#test/support/engine.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';
import { startEngineOfShortHistories } from './generated/short-histories.ts';
import { useStage } from '#test/support/stage.ts';

const engine = useStage(startEngineOfShortHistories);

const gate = { id: 'ok', kind: 'human_gate' };
const asks = chain(gate);

/** The types of the executions of a run in Temporal's list, newest first. */
async function typesOf(runId: string): Promise<string[]> {
  const { client, namespace } = engine.deps.temporal;
  const { executions } = await client.workflowService.listWorkflowExecutions({
    namespace,
    query: `WorkflowId = '${runId}'`,
  });
  return executions.map(({ type }) => type?.name ?? '');
}

async function isListed(runId: string, types: readonly string[]): Promise<void> {
  await eventually(async () => (await typesOf(runId)).length >= types.length);
  expect(await typesOf(runId)).toEqual(types);
}

describe("in Temporal's list, the type of a run names the workflow", () => {
  test('also for a child, by its own name', async () => {
    await engine.define(asks, 'Check the amount');
    const parent = await engine.define(chain(call('child', 'Check the amount')), 'Pay invoices');
    const runId = await engine.trigger(parent);
    await eventually(async () => (await childrenOf(engine, runId))[0]?.status === 'paused');
    const [child] = await childrenOf(engine, runId);
    await isListed(runId, ['run: Pay invoices']);
    await isListed(child?.id ?? '', ['run: Check the amount']);
    await engine.approve(child?.id ?? '');
    await engine.until(runId, ['success']);
  }, 60_000);

  test.each([
    ['sweep', 'run: sweep'],
    ['default', 'run: default'],
    ['Pay \u202eecivni\u202c\u0007\u2028now', 'run: Pay ecivni now'],
    [`it's "quoted" 100% \\ <b>`, `run: it's "quoted" 100% \\ <b>`],
    ['🧾'.repeat(100), `run: ${'🧾'.repeat(100)}`],
    [`${'a'.repeat(99)}🧾🧾`, `run: ${'a'.repeat(99)}🧾`],
  ])('for a workflow called %j', async (name, type) => {
    const runId = await engine.trigger(await engine.define(chain(echo('a')), name));
    await engine.until(runId, ['success']);
    await isListed(runId, [type]);
  });

  test('stays the name at the start, in each execution that continues another as new', async () => {
    const slow = Array.from({ length: 16 }, (_, n) => mock(`s${n}`, { output: 'x', delay_ms: 1 }));
    const workflowId = await engine.define(chain(gate, ...slow), 'Before');
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['paused']);
    await updateWorkflow(engine.db, engine.actor, workflowId, { name: 'After' });
    await engine.approve(runId);
    await engine.until(runId, ['success'], 60_000);
    await eventually(async () => (await typesOf(runId)).length > 1);
    expect(new Set(await typesOf(runId))).toEqual(new Set(['run: Before']));
  }, 90_000);

  test('stays the same after a resume', async () => {
    const flaky = chain(mock('a', { output: 'a', fail_times: 1 }));
    const runId = await engine.trigger(await engine.define(flaky, 'Fails once'));
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await engine.until(runId, ['success'], 40_000);
    await isListed(runId, ['run: Fails once', 'run: Fails once']);
  }, 60_000);
});

describe('a name', () => {
  const named = (workflowName: string, workspaceId = 'ws_1') =>
    ({ workflowName, workspaceId, workflowId: 'wf_1' }) as const;

  test('without visible characters is replaced by the id of the workflow', () => {
    expect(createRunTypes()(named('\u200f\u202e\0'))).toBe('run: wf_1');
  });

  test('is not a type for a workspace or process that has used its maximum', () => {
    const type = createRunTypes({ perProcess: 3, perWorkspace: 2 });
    const given = (...names: [string, string?][]) => names.map((name) => type(named(...name)));
    const first = [['a'], ['b'], ['c']] as [string][];
    expect(given(...first)).toEqual(['run: a', 'run: b', 'runGraph']);
    expect(given(['c', 'ws_2'], ['d', 'ws_2'])).toEqual(['run: c', 'runGraph']);
    expect(given(...first, ['c', 'ws_2'])).toEqual(['run: a', 'run: b', 'runGraph', 'run: c']);
  });
});

test('with TEMPORAL_READABLE_NAMES=off runs are listed as runGraph, and are found with the others', async () => {
  const { deps } = engine;
  const { temporal } = deps.config;
  const config = { ...deps.config, temporal: { ...temporal, readableNames: false } };
  const workflowId = await engine.define(asks, 'Switched');
  const start = async (of: typeof deps) => {
    const { runId, dispatched } = await triggerRun(of, {
      ...{ actor: engine.actor, workflowId, trigger: 'manual', input: {} },
    });
    await dispatched;
    await engine.until(runId, ['paused']);
    return runId;
  };
  const plain = await start({ ...deps, config });
  const readable = await start(deps);
  await isListed(plain, ['runGraph']);
  await isListed(readable, ['run: Switched']);
  const open: string[] = [];
  for await (const page of listOpenExecutions(deps)) open.push(...page.map(({ runId }) => runId));
  expect(open).toEqual(expect.arrayContaining([plain, readable]));
  for (const runId of [plain, readable]) {
    await deps.temporal.client.workflow.getHandle(runId).terminate();
  }
  const ended = () => listTerminated(deps, { withinMs: 60_000, limit: 10 });
  await eventually(async () => (await ended()).length === 2);
  expect(await ended()).toEqual(expect.arrayContaining([plain, readable]));
}, 60_000);

describe('an execution of a type that no worker has', () => {
  test.each(['default', 'run', 'startedByALaterRelease'])(
    '%s waits for a worker that has it',
    async (type) => {
      const { client, queues } = engine.deps.temporal;
      const workflowId = `unknown-${type}`;
      const handle = await client.workflow.start(type, {
        ...{ workflowId, taskQueue: queues.control, args: [{}] },
      });
      const failures = async () =>
        (await handle.fetchHistory()).events?.flatMap(
          ({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? [],
        );
      await eventually(async () => (await failures())?.length === 1);
      expect(await failures()).toEqual([`This worker has no workflow of type '${type}'`]);
      expect((await handle.describe()).status.name).toBe('RUNNING');
      await handle.terminate();
    },
  );
});
