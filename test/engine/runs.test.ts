import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const types = async (runId: string) =>
  (await engine.frames(runId)).map((frame) => [
    frame.type,
    ...('node_id' in frame ? [frame.node_id] : []),
  ]);

describe('a run', () => {
  test('executes a chain and keeps outputs, state, cost and checkpoints', async () => {
    // a -> b -> c
    const workflowId = await engine.define(
      chain(
        mock('a', { output: { n: 1 }, cost_usd: 0.0125 }),
        echo('b', 'a.n + who'),
        mock('c', {}, { prompt: 'Say {b}' }),
      ),
    );
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
    const workflowId = await engine.define(chain(delay, echo('b')));
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
    const decide = (nodeId: string, approved = true) => engine.decide(runId, { approved, nodeId });
    const statusOf = async (stepKey: string) =>
      (await engine.run(runId)).steps.find((step) => step.step_key === stepKey)?.status;
    await decide('g1');
    await eventually(async () => (await statusOf('slow')) === 'running');
    expect((await engine.run(runId)).pending_gates).toMatchObject([{ node_id: 'g2' }]);
    await decide('g2');
    await eventually(async () => (await statusOf('quick')) === 'success');
    expect(await statusOf('slow')).toBe('running');
    await engine.cancel(runId);
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
    await engine.approve(runId);
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

const keysOf = (name: string) =>
  tools.calls(name).map((call) => String(call.headers['idempotency-key']));

describe('the idempotency key of tool calls', () => {
  test('is new after a definite error, so that no stored failure is repeated', async () => {
    const workflowId = await engine.define(
      chain(tools.node('a', { retry: { max_attempts: 2, initial_interval_seconds: 0.05 } })),
    );
    tools.answer('a', { status: 500 });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    tools.answer('a', {});
    await engine.resume(runId);
    await engine.until(runId, ['success']);
    expect(keysOf('a')).toEqual([`${runId}:a:0`, `${runId}:a:1`, `${runId}:a:2`]);
  });

  test('is the same after a try with an unknown result', async () => {
    const workflowId = await engine.define(
      chain(
        tools.node('a', {
          timeout_seconds: 0.3,
          retry: { max_attempts: 2, initial_interval_seconds: 0.05 },
        }),
      ),
    );
    tools.answer('a', { delayMs: 10_000 });
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['failed']);
    expect(run.error).toBe("Node 'a' failed: Timed out after 0.3 s");
    expect(keysOf('a')).toEqual([`${runId}:a:0`, `${runId}:a:0`]);
  });
});

describe('tries', () => {
  test('wait longer each time, and the successful one is charged', async () => {
    const workflowId = await engine.define(
      chain(
        mock(
          'a',
          { fail_times: 2, cost_usd: 0.02 },
          { retry: { max_attempts: 3, initial_interval_seconds: 0.1, backoff: 3 } },
        ),
        echo('b'),
      ),
    );
    const run = await engine.until(await engine.trigger(workflowId), ['success']);
    expect(run.steps[0]).toMatchObject({ attempt: 3, cost_usd: 0.02, model: 'mock' });
    expect(run.steps[0]?.duration_ms).toBeGreaterThanOrEqual(400);
    const frames = (await engine.frames(run.id)).filter(
      (frame) => 'node_id' in frame && frame.node_id === 'a',
    );
    expect(frames.map((frame) => frame.type)).toEqual(['step_started', 'step_completed']);
  });

  test('end with the run: siblings finish, but no later step begins', async () => {
    const workflowId = await engine.define({
      nodes: [tools.node('a'), mock('b', { delay_ms: 200, output: 'late' }), echo('c', "a + 'x'")],
      edges: [edge('a', 'c'), edge('b', 'c')],
    });
    tools.answer('a', { status: 404 });
    const run = await engine.until(await engine.trigger(workflowId), ['failed']);
    expect(run.steps.map((step) => [step.step_key, step.status])).toEqual(
      expect.arrayContaining([
        ['a', 'failed'],
        ['b', 'success'],
      ]),
    );
    expect(run.steps.find((step) => step.step_key === 'c')).toBeUndefined();
  });
});

test('large payloads are stored and restored whole, and the history stays small', async () => {
  const big = 'x'.repeat(300_000);
  const workflowId = await engine.define(
    chain(mock('a', { output: { big: '{text}' } }), echo('b', 'len(a.big)')),
  );
  const runId = await engine.trigger(workflowId, { text: big });
  const run = await engine.until(runId, ['success']);
  expect(run.state?.['b']).toBe(300_000);
  const handle = engine.deps.temporal.client.workflow.getHandle(runId);
  const { raw } = await handle.describe();
  expect(Number(raw.workflowExecutionInfo?.historySizeBytes)).toBeLessThan(40_000);
  // The state has the text twice. It ends with the process that writes it: no history refers to it.
  const largest = await engine.db.oneFirst(sql.type(z.object({ bytes: z.number() }))`
      SELECT max(length(bytes)) AS bytes FROM payloads`);
  expect(largest).toBeGreaterThan(big.length);
  expect(largest).toBeLessThan(2 * big.length);
});

test('text Postgres cannot store is replaced in tool responses, the same for every reader', async () => {
  const workflowId = await engine.define(chain(tools.node('a'), echo('b', 'a.body.text')));
  tools.answer('a', { body: { text: 'nul \u0000, half \ud800.', '\u0000': 1 } });
  const run = await engine.until(await engine.trigger(workflowId), ['success']);
  expect(run.state?.['b']).toBe('nul \ufffd, half \ufffd.');
  expect(run.steps[0]?.output).toMatchObject({ body: { text: run.state?.['b'], '\ufffd': 1 } });
});
