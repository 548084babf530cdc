import { describe, expect, test } from '@jest/globals';
import { cancelRun, decideGate } from '#shared/operations/runs/runs.ts';
import { echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const types = async (runId: string) =>
  (await engine.frames(runId)).map((frame) => [
    frame.type,
    ...('node_id' in frame ? [frame.node_id] : []),
  ]);

describe('a run', () => {
  test('executes a chain and keeps outputs, state, cost and checkpoints', async () => {
    // a -> b -> c
    const workflowId = await engine.define({
      nodes: [
        mock('a', { output: { n: 1 }, cost_usd: 0.0125 }),
        echo('b', 'a.n + who'),
        mock('c', {}, { prompt: 'Say {b}' }),
      ],
      edges: [edge('a', 'b'), edge('b', 'c')],
    });
    const run = await engine.until(await engine.trigger(workflowId, { who: 41 }), ['success']);
    expect(run.state).toMatchObject({ who: 41, a: { n: 1 }, b: 42 });
    expect(Object.keys(run.output as object)).toEqual(['c']);
    expect(run.cost_usd).toBe(0.0125);
    expect(run.steps.map((step) => [step.step_key, step.status])).toEqual([
      ['a', 'success'],
      ['b', 'success'],
      ['c', 'success'],
    ]);
    expect(run.checkpoints.map((checkpoint) => checkpoint.step_key)).toEqual(['a', 'b', 'c']);
    expect(run.checkpoints.every((checkpoint) => checkpoint.event_id !== null)).toBe(true);
    expect(await types(run.id)).toEqual([
      ['step_started', 'a'],
      ['step_completed', 'a'],
      ['step_started', 'b'],
      ['step_completed', 'b'],
      ['step_started', 'c'],
      ['step_completed', 'c'],
      ['run_completed'],
    ]);
  });

  test('has the event of a delay in its checkpoints', async () => {
    const delay = { id: 'a', kind: 'tool', tool_name: 'delay', params: { seconds: 0.2 } } as const;
    const workflowId = await engine.define({ nodes: [delay, echo('b')], edges: [edge('a', 'b')] });
    const run = await engine.until(await engine.trigger(workflowId), ['success']);
    const events = run.checkpoints.map((checkpoint) => checkpoint.event_id);
    expect(events).toEqual([expect.any(Number), expect.any(Number)]);
    expect(events[0]).toBeLessThanOrEqual(events[1]!);
    expect(run.steps.map((step) => step.status)).toEqual(['success', 'success']);
  });

  test('passes an open gate that is decided while another branch runs', async () => {
    const workflowId = await engine.define({
      nodes: [
        { id: 'g1', kind: 'human_gate' },
        { id: 'g2', kind: 'human_gate' },
        mock('slow', { delay_ms: 30_000 }),
        echo('quick'),
      ],
      edges: [edge('g1', 'slow'), edge('g2', 'quick')],
    });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['paused']);
    const decide = (nodeId: string, approved = true) =>
      decideGate(engine.deps, { actor: engine.actor, runId, approved, nodeId });
    const statusOf = async (stepKey: string) =>
      (await engine.run(runId)).steps.find((step) => step.step_key === stepKey)?.status;
    await decide('g1');
    await eventually(async () => (await statusOf('slow')) === 'running');
    expect((await engine.run(runId)).pending_gates).toMatchObject([{ node_id: 'g2' }]);
    await decide('g2');
    await eventually(async () => (await statusOf('quick')) === 'success');
    expect(await statusOf('slow')).toBe('running');
    await cancelRun(engine.deps, { actor: engine.actor, runId });
  });

  test.each([0, 0.0001])('retries a step with pauses of %d s', async (initial_interval_seconds) => {
    const retry = { max_attempts: 3, initial_interval_seconds };
    const workflowId = await engine.define({
      nodes: [
        mock('short', { fail_times: 2, output: 'ok' }, { retry }),
        mock(
          'long',
          { fail_times: 2, output: 'ok', delay_ms: 20 },
          { retry, timeout_seconds: 600 },
        ),
      ],
      edges: [],
    });
    const { steps } = await engine.until(await engine.trigger(workflowId), ['success', 'failed']);
    expect(steps.map(({ status, attempt }) => [status, attempt])).toEqual([
      ['success', 3],
      ['success', 3],
    ]);
  });

  test('reports the time of failed tries for each step', async () => {
    const retry = { max_attempts: 3, initial_interval_seconds: 0.2, backoff: 1 };
    const workflowId = await engine.define({
      nodes: [
        { id: 'if', kind: 'condition', expression: 'true' },
        mock('flaky', { fail_times: 2, output: 'ok' }, { retry }),
        { id: 'gate', kind: 'human_gate' },
        echo('never'),
        echo('last'),
      ],
      edges: [
        edge('if', 'flaky', 'true'),
        edge('if', 'never', 'false'),
        edge('flaky', 'gate'),
        edge('gate', 'last'),
      ],
    });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['paused']);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await decideGate(engine.deps, { actor: engine.actor, runId, approved: true });
    const { steps } = await engine.until(runId, ['success']);
    const { flaky, ...others } = Object.fromEntries(steps.map((step) => [step.node_id, step]));
    expect(flaky?.attempt).toBe(3);
    expect(flaky?.retried_ms).toBeGreaterThanOrEqual(400);
    expect(flaky?.retried_ms).toBeLessThanOrEqual(flaky!.duration_ms!);
    expect(Object.entries(others).map(([id, step]) => [id, step.retried_ms])).toEqual([
      ['if', 0],
      ['never', 0],
      ['gate', 0],
      ['last', 0],
    ]);
  });
});
