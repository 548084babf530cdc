import { describe, expect, test } from '@jest/globals';
import { readStartable } from '#shared/db/runs/restart.ts';
import type { AppError } from '#shared/errors.ts';
import { describeCurrent, startExecution } from '#shared/operations/runs/executions.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, useEngine } from '#test/support/engine.ts';
import { raceRounds, soakDescribe } from '#test/support/soak.ts';

const engine = useEngine();
const tools = useToolServer();

const decide = (runId: string, approved: boolean) => engine.decide(runId, { approved });
const counts = (...names: string[]) => names.map((name) => tools.calls(name).length);

describe('a resume repeats only incomplete work', () => {
  test('when one of two parallel nodes failed and its sibling completed later', async () => {
    //    /-> b! -\
    // a            -> d
    //    \-> c  -/
    tools.answer('b', { status: 500 });
    tools.answer('c', { delayMs: 300 });
    const runId = await engine.start({
      nodes: [tools.node('a'), tools.node('b'), tools.node('c'), { id: 'd', kind: 'merge' }],
      edges: [edge('a', 'b'), edge('a', 'c'), edge('b', 'd'), edge('c', 'd')],
    });
    const failed = await engine.until(runId, ['failed']);
    expect(failed.steps.find((step) => step.step_key === 'c')?.status).toBe('success');
    tools.answer('b', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(counts('a', 'b', 'c')).toEqual([1, 2, 1]);
    expect(Object.keys(run.state?.['d'] as object).sort()).toEqual(['b', 'c']);
  });

  test('when it failed in the second iteration of a loop', async () => {
    // loop -true-> work -> back;  loop -> end
    const runId = await engine.start({
      nodes: [
        { id: 'loop', kind: 'loop', expression: 'true', max_iterations: 3 },
        tools.node('work', {
          params: { url: `${tools.url}/work?round={loop.iterations}`, method: 'POST' },
        }),
        tools.node('end'),
      ],
      edges: [edge('loop', 'work', 'true'), edge('work', 'loop'), edge('loop', 'end')],
    });
    await eventually(() => tools.calls('work').length === 1);
    tools.answer('work', { status: 503 });
    const failed = await engine.until(runId, ['failed', 'success']);
    const reached = tools.calls('work').length;
    expect(failed.status).toBe('failed');
    tools.answer('work', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    // Three iterations, one of them tried twice.
    expect(counts('work', 'end')).toEqual([4, 1]);
    expect(reached).toBeLessThan(4);
    expect(
      run.steps.filter((step) => step.node_id === 'work').map((step) => step.step_key),
    ).toEqual(['work#1', 'work#2', 'work#3']);
    expect(run.state?.['loop']).toEqual({ iterations: 3, exhausted: true });
  });

  test('when it failed after a gate, whose decision stays valid without a new pause', async () => {
    tools.answer('b', { status: 500 });
    const runId = await engine.start(
      chain(tools.node('a'), { id: 'gate', kind: 'human_gate', prompt: '?' }, tools.node('b')),
    );
    await engine.until(runId, ['paused']);
    await decide(runId, true);
    await engine.until(runId, ['failed']);
    tools.answer('b', {});
    await engine.resume(runId);
    await engine.until(runId, ['success']);
    expect(counts('a', 'b')).toEqual([1, 2]);
    const frames = await engine.frames(runId);
    expect(frames.filter((frame) => frame.type === 'run_paused')).toHaveLength(1);
  });

  test('when it was cancelled in the middle of a step', async () => {
    // a -> slow -> c
    tools.answer('slow', { delayMs: 60_000 });
    const runId = await engine.start(chain(tools.node('a'), tools.node('slow'), tools.node('c')));
    await eventually(() => tools.calls('slow').length === 1);
    await engine.cancel(runId);
    expect(await engine.run(runId)).toMatchObject({
      status: 'failed',
      error: 'Cancelled by Owner',
      failure: { kind: 'cancelled' },
    });
    tools.answer('slow', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(counts('a', 'slow', 'c')).toEqual([1, 2, 1]);
    expect(run.error).toBeNull();
  });

  test('when a gate was rejected next to an open one, and both open again', async () => {
    const runId = await engine.start({
      nodes: [
        { id: 'g1', kind: 'human_gate' },
        { id: 'g2', kind: 'human_gate' },
      ],
      edges: [],
    });
    await engine.until(runId, ['paused']);
    const answer = (nodeId: string, approved: boolean) =>
      engine.decide(runId, { approved, nodeId });
    await answer('g1', false);
    const failed = await engine.until(runId, ['failed']);
    const statuses = (run: typeof failed) =>
      Object.fromEntries(run.steps.map(({ step_key, status }) => [step_key, status]));
    expect(statuses(failed)).toEqual({ g1: 'failed', g2: 'cancelled' });
    expect(failed.pending_gates).toEqual([]);
    await engine.resume(runId);
    const again = await engine.until(runId, ['paused']);
    expect(again.pending_gates.map(({ node_id }) => node_id).sort()).toEqual(['g1', 'g2']);
    expect(statuses(again)).toEqual({ g1: 'paused', g2: 'paused' });
    await answer('g2', true);
    await answer('g1', true);
    await engine.until(runId, ['success']);
  });

  test('when an execution that starts from the ledger finds the end of its run in it', async () => {
    const runId = await engine.start({ nodes: [{ id: 'gate', kind: 'human_gate' }], edges: [] });
    await engine.until(runId, ['paused']);
    await decide(runId, false);
    await engine.until(runId, ['failed']);
    await eventually(async () => (await describeCurrent(engine.deps, runId))?.open === false);
    // As if the workflow task had been lost in which the run failed.
    const run = await readStartable(engine.db, runId);
    await startExecution(engine.deps, run!, { fromLedger: true });
    await eventually(async () => (await describeCurrent(engine.deps, runId))?.open === false);
    await engine.resume(runId);
    await engine.until(runId, ['paused']);
    await decide(runId, true);
    await engine.until(runId, ['success']);
  });

  test('when repeated', async () => {
    tools.answer('b', { status: 500 });
    const runId = await engine.start(chain(tools.node('a'), tools.node('b'), tools.node('c')));
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await eventually(() => tools.calls('b').length === 2);
    await engine.until(runId, ['failed']);
    tools.answer('b', {});
    tools.answer('c', { status: 500 });
    await engine.resume(runId);
    await eventually(() => tools.calls('c').length === 1);
    await engine.until(runId, ['failed']);
    tools.answer('c', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(counts('a', 'b', 'c')).toEqual([1, 3, 2]);
    expect(run.resumed_count).toBe(3);
    const ends = (await engine.frames(runId)).filter((frame) => frame.type.startsWith('run_'));
    expect(ends.map((frame) => frame.type)).toEqual([
      'run_failed',
      'run_failed',
      'run_failed',
      'run_completed',
    ]);
  });
});

soakDescribe('resume races', () => {
  test('one of three resumes succeeds, the others conflict', async () => {
    const workflowId = await engine.define(chain(tools.node('a')));
    for (let round = 0; round < raceRounds(10); round += 1) {
      tools.answer('a', { status: 500 });
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['failed']);
      tools.answer('a', {});
      const before = tools.calls('a').length;
      const results = await Promise.allSettled([
        engine.resume(runId),
        engine.resume(runId),
        engine.resume(runId),
      ]);
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(2);
      for (const result of refused) expect((result.reason as AppError).code).toBe('conflict');
      await engine.until(runId, ['success']);
      expect(tools.calls('a').length - before).toBe(1);
    }
  });

  test('one of several decisions on a gate succeeds', async () => {
    const workflowId = await engine.define(chain({ id: 'gate', kind: 'human_gate' }, echo('b')));
    for (let round = 0; round < raceRounds(10); round += 1) {
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['paused']);
      const results = await Promise.allSettled([
        decide(runId, true),
        decide(runId, true),
        decide(runId, false),
      ]);
      expect(results.filter((result) => result.status === 'fulfilled')).toHaveLength(1);
      await engine.until(runId, ['success', 'failed']);
    }
  });

  test('a resume and a cancel leave a run that succeeds or can be resumed', async () => {
    const workflowId = await engine.define(chain(tools.node('a')));
    for (let round = 0; round < raceRounds(30); round += 1) {
      tools.answer('a', { status: 500 });
      const runId = await engine.trigger(workflowId);
      await engine.until(runId, ['failed']);
      tools.answer('a', { delayMs: 100 });
      await Promise.allSettled([engine.resume(runId), engine.cancel(runId)]);
      const run = await engine.until(runId, ['success', 'failed']);
      if (run.status === 'failed') {
        tools.answer('a', {});
        await engine.resume(runId);
        await engine.until(runId, ['success']);
      }
    }
  }, 60_000);
});
