import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/operations/runs/runs.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, mock, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const keysOf = (name: string) =>
  tools.calls(name).map((call) => String(call.headers['idempotency-key']));

describe('the idempotency key of tool calls', () => {
  test('is new after a definite error, so that no stored failure is repeated', async () => {
    const workflowId = await engine.define({
      nodes: [tools.node('a', { retry: { max_attempts: 2, initial_interval_seconds: 0.05 } })],
      edges: [],
    });
    tools.answer('a', { status: 500 });
    const runId = await engine.trigger(workflowId);
    await engine.until(runId, ['failed']);
    tools.answer('a', {});
    await resumeRun(engine.deps, { actor: engine.actor, runId });
    await engine.until(runId, ['success']);
    expect(keysOf('a')).toEqual([`${runId}:a:0`, `${runId}:a:1`, `${runId}:a:2`]);
  });

  test('is the same after a try with an unknown result', async () => {
    const workflowId = await engine.define({
      nodes: [
        tools.node('a', {
          timeout_seconds: 0.3,
          retry: { max_attempts: 2, initial_interval_seconds: 0.05 },
        }),
      ],
      edges: [],
    });
    tools.answer('a', { delayMs: 10_000 });
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['failed']);
    expect(run.error).toBe("Node 'a' failed: Timed out after 0.3 s");
    expect(keysOf('a')).toEqual([`${runId}:a:0`, `${runId}:a:0`]);
  });
});

describe('tries', () => {
  test('wait longer each time, and the successful one is charged', async () => {
    const workflowId = await engine.define({
      nodes: [
        mock(
          'a',
          { fail_times: 2, cost_usd: 0.02 },
          { retry: { max_attempts: 3, initial_interval_seconds: 0.1, backoff: 3 } },
        ),
        echo('b'),
      ],
      edges: [edge('a', 'b')],
    });
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

describe('large payloads', () => {
  test('are stored and restored whole, and the history stays small', async () => {
    const big = 'x'.repeat(300_000);
    const workflowId = await engine.define({
      nodes: [mock('a', { output: { big: '{text}' } }), echo('b', 'len(a.big)')],
      edges: [edge('a', 'b')],
    });
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
});

describe('text Postgres cannot store', () => {
  test('is replaced in tool responses, the same for every reader', async () => {
    const workflowId = await engine.define({
      nodes: [tools.node('a'), echo('b', 'a.body.text')],
      edges: [edge('a', 'b')],
    });
    tools.answer('a', { body: { text: 'nul \u0000, half \ud800.', '\u0000': 1 } });
    const run = await engine.until(await engine.trigger(workflowId), ['success']);
    expect(run.state?.['b']).toBe('nul \ufffd, half \ufffd.');
    expect(run.steps[0]?.output).toMatchObject({ body: { text: run.state?.['b'], '\ufffd': 1 } });
  });
});
