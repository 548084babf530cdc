import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { updateWorkflow } from '#shared/db/workflows/workflows.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const start = async (graph: GraphInput) => engine.trigger(await engine.define(graph));
const statuses = async (runId: string) =>
  Object.fromEntries(
    (await engine.run(runId)).steps.map(({ step_key, status }) => [step_key, status]),
  );
const twice = { retry: { max_attempts: 2, initial_interval_seconds: 0.01 } };

describe('a step whose attempts are used up takes its error edges', () => {
  test('of a tool: the handler reads the error, and a join behind both sees one', async () => {
    //   call! -> used -\
    //        -error-> handler -> join
    tools.answer('call', { status: 500 });
    const runId = await start({
      nodes: [
        tools.node('call', { ...twice, output_key: 'answer' }),
        echo('used', 'answer'),
        echo('handler', '[call.error.kind, call.error.attempts]'),
        { id: 'join', kind: 'merge' },
      ],
      edges: [
        edge('call', 'used'),
        edge('call', 'handler', 'error'),
        edge('used', 'join'),
        edge('handler', 'join'),
      ],
    });
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.output).toEqual({ join: { handler: ['node', 2] } });
    const message = expect.stringContaining('500') as unknown as string;
    expect(run.state).toMatchObject({ call: { error: { message, kind: 'node', attempts: 2 } } });
    expect(await statuses(runId)).toEqual({
      ...{ call: 'failed', used: 'skipped', handler: 'success', join: 'success' },
    });
    const step = run.steps.find(({ step_key }) => step_key === 'call');
    expect(step).toMatchObject({ caught: true, error_kind: 'node', error: message, attempt: 2 });
    const frames = await engine.frames(runId);
    expect(frames.filter(({ type }) => type === 'step_failed')).toHaveLength(1);
    expect(tools.calls('call')).toHaveLength(2);
  });

  test.each([
    ['a timeout', 'timeout', () => tools.node('a', { timeout_seconds: 0.05 })],
    ['an agent', 'node', () => mock('a', { fail_times: 1 })],
    ['a template that does not fit', 'node', () => mock('a', {}, { prompt: '{nobody}' })],
    [
      'an agent whose tool fails',
      'node',
      () => {
        const calls = [{ tool: 'json_transform', arguments: { expression: '1 / 0' } }];
        const offered = [{ name: 'json_transform', on_error: 'fail' }];
        return mock('a', { turns: [{ calls }] }, { tools: offered });
      },
    ],
    [
      'a delay without a number',
      'node',
      () => ({ id: 'a', kind: 'tool', tool_name: 'delay', params: { seconds: '{text}' } }) as never,
    ],
  ])('of %s', async (_, kind, node) => {
    tools.answer('a', { delayMs: 5_000 });
    const workflowId = await engine.define({
      nodes: [node(), echo('plain'), echo('handler', 'a.error.kind')],
      edges: [edge('a', 'plain'), edge('a', 'handler', 'error')],
    });
    const runId = await engine.trigger(workflowId, { text: 'soon' });
    const run = await engine.until(runId, ['success', 'failed']);
    expect([run.error, run.output]).toEqual([null, { handler: kind }]);
    expect(run.steps.find(({ step_key }) => step_key === 'a')).toMatchObject({
      ...{ status: 'failed', caught: true, error_kind: kind },
    });
  });

  test('of a tool that the policies refuse', async () => {
    const refused = { tool: 'http_request', allowed_workflow_ids: ['wf_other'] };
    await replacePolicies(engine.db, engine.actor, { ...unrestricted, tools: [refused] });
    try {
      const runId = await start({
        nodes: [tools.node('a'), echo('handler', 'a.error.kind')],
        edges: [edge('a', 'handler', 'error')],
      });
      expect((await engine.until(runId, ['success', 'failed'])).output).toEqual({
        handler: 'policy',
      });
    } finally {
      await replacePolicies(engine.db, engine.actor, unrestricted);
    }
  });
});

describe('error edges never catch', () => {
  test('a stop by the cap of the run', async () => {
    const workflowId = await engine.define({
      nodes: [mock('a', { cost_usd: 0.2 }), mock('b', { cost_usd: 0.2 }), echo('handler')],
      edges: [edge('a', 'b'), edge('b', 'handler', 'error')],
    });
    await updateWorkflow(engine.db, engine.actor, workflowId, { run_cap_usd: 0.3 });
    const runId = await engine.trigger(workflowId);
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.failure).toEqual({ kind: 'budget', node_id: 'b' });
    expect(await statuses(runId)).not.toHaveProperty('handler');
  });

  test('a cancel, and a resume runs the step again', async () => {
    tools.answer('a', { delayMs: 60_000 });
    const runId = await start({
      nodes: [tools.node('a'), echo('handler'), echo('plain')],
      edges: [edge('a', 'handler', 'error'), edge('a', 'plain')],
    });
    await eventually(() => tools.calls('a').length === 1);
    await engine.cancel(runId);
    tools.answer('a', {});
    await engine.resume(runId);
    await engine.until(runId, ['success']);
    expect(await statuses(runId)).toEqual({ a: 'success', handler: 'skipped', plain: 'success' });
  });
});

describe('a resume of a run that failed later keeps the caught error and its branch', () => {
  test.each([
    ['with its history', false],
    ['from the ledger', true],
  ])('%s', async (_, fromLedger) => {
    tools.answer('a', { status: 500 });
    tools.answer('later', { status: 500 });
    const runId = await start({
      nodes: [
        tools.node('a'),
        tools.node('plain'),
        tools.node('handler'),
        { id: 'gate', kind: 'human_gate' },
        tools.node('later', { params: { url: `${tools.url}/later?{gate.error.kind}` } }),
      ],
      edges: [
        edge('a', 'plain'),
        edge('a', 'handler', 'error'),
        edge('handler', 'gate'),
        edge('gate', 'later', 'error'),
      ],
    });
    const paused = await engine.until(runId, ['paused']);
    expect(paused.state).toMatchObject({ a: { error: { kind: 'node', attempts: 1 } } });
    await engine.decide(runId, { approved: false });
    await engine.until(runId, ['failed']);
    if (fromLedger) {
      await engine.db.query(sql.unsafe`
        UPDATE runs SET from_ledger = true WHERE id = ${runId}`);
    }
    // Both would now succeed.
    tools.answer('a', {});
    tools.answer('later', {});
    await engine.resume(runId);
    const run = await engine.until(runId, ['success']);
    expect(['a', 'plain', 'handler', 'later'].map((name) => tools.calls(name).length)).toEqual([
      ...[1, 0, 1, 2],
    ]);
    expect(run.steps.find(({ step_key }) => step_key === 'a')).toMatchObject({
      ...{ status: 'failed', caught: true, attempt: 1 },
    });
    expect(run.state).toMatchObject({ gate: { error: { kind: 'rejected' } } });
  });
});
