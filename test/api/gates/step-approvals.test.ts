import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, edge, echo, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const tools = useToolServer();
const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: 'a key of this test, long enough' },
});

const pay = (approval: unknown, rest: object = {}) =>
  tools.node('pay', {
    params: {
      url: `${tools.url}/pay`,
      method: 'POST',
      headers: { 'x-of': 'ops' },
      body: { amount: '{amount}' },
    },
    ...(approval === undefined ? {} : { approval }),
    ...rest,
  });

const gateOf = async (runId: string) => {
  await engine.until(runId, ['paused']);
  return (await call('GET', `/api/runs/${runId}`)).body.pending_gate;
};
const decide = (runId: string, body: object, headers = {}) =>
  call('POST', `/api/runs/${runId}/approve`, body, headers);
const paid = () => tools.calls('pay').map(({ body }) => JSON.parse(body).amount);

async function paused(graph: GraphInput, input: object = { amount: 100 }) {
  const runId = await engine.start(graph, input as never);
  return { runId, gate: await gateOf(runId) };
}

describe('a tool node with an approval', () => {
  test('asks with its exact arguments, and sends what was approved', async () => {
    const { runId, gate } = await paused(chain(echo('before'), pay('always'), echo('after')));
    expect(gate).toMatchObject({
      ...{ kind: 'tool_call', step_key: 'pay', node_id: 'pay' },
      prompt: expect.stringContaining('Call http_request with {"url"'),
      tool_call: { tool: 'http_request', turn: null, arguments: { body: { amount: 100 } } },
    });
    expect(paid()).toEqual([]);
    expect((await decide(runId, {})).status).toBe(400);
    expect((await decide(runId, { digest: gate.tool_call.digest })).status).toBe(200);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(paid()).toEqual([100]);
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    const step = run.steps.find(({ step_key }: { step_key: string }) => step_key === 'pay');
    expect(step).toMatchObject({ status: 'success', attempt: 1, decision: { approved: true } });
    expect((await call('GET', '/api/audit/verify')).body).toMatchObject({
      tool_calls: { decisions: 1, problems: [] },
    });
  });

  test('an approver can change arguments, but not where they go', async () => {
    const { runId, gate } = await paused(chain(pay('always')));
    const { digest, arguments: args } = gate.tool_call;
    const { body: read } = await call('GET', `/api/runs/${runId}/gates/pay`);
    expect(read.tool).toMatchObject({ fixed: ['method', 'headers'] });
    const moved = { ...args, url: 'https://elsewhere.test/pay' };
    expect((await decide(runId, { digest, arguments: moved })).body.detail).toBe(
      'Invalid body: arguments.url must keep its scheme, host and port',
    );
    const headers = { ...args, headers: { 'x-of': '{secrets.KEY}' } };
    expect((await decide(runId, { digest, arguments: headers })).body.detail).toBe(
      'Invalid body: arguments.headers is set by the workflow: send it unchanged',
    );
    const less = { ...args, body: { amount: 60 } };
    expect((await decide(runId, { digest, arguments: less })).status).toBe(200);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(paid()).toEqual([60]);
  });

  test('a rejection fails the run with the reason, and a resume asks again', async () => {
    const { runId, gate } = await paused(chain(pay('always')));
    const { digest } = gate.tool_call;
    await decide(runId, { digest, approved: false, reason: 'too much' });
    expect(await engine.ended(runId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining("Rejected at gate 'pay': too much"),
    });
    expect((await call('POST', `/api/runs/${runId}/resume`)).status).toBe(200);
    const again = await gateOf(runId);
    expect((await call('GET', `/api/runs/${runId}/gates/pay`)).body).toMatchObject({
      round: 2,
      earlier: [{ decision: { approved: false, reason: 'too much' } }],
    });
    await decide(runId, { digest: again.tool_call.digest });
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(paid()).toEqual([100]);
  });

  test('a rejection follows an error edge, with its kind', async () => {
    const graph: GraphInput = {
      nodes: [pay('always'), echo('told', 'pay.error.kind')],
      edges: [edge('pay', 'told', 'error')],
    };
    const { runId, gate } = await paused(graph);
    await decide(runId, { digest: gate.tool_call.digest, approved: false });
    expect(await engine.ended(runId)).toMatchObject({
      status: 'success',
      output: { told: 'rejected' },
    });
    expect(paid()).toEqual([]);
  });

  test('an expression over the arguments and the state says when it asks', async () => {
    const graph = chain(pay('args.body.amount > limit'));
    const runId = await engine.start(graph, { amount: 100, limit: 500 });
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    const { gate } = await paused(graph, { amount: 900, limit: 500 });
    expect(gate).toMatchObject({ kind: 'tool_call', step_key: 'pay' });
    // What cannot be evaluated asks.
    expect((await paused(chain(pay('args.body.amount / 0 > 1')))).gate).toMatchObject({
      kind: 'tool_call',
    });
    expect(paid()).toEqual([100]);
  });

  test('can require other people, several of them, and a deadline', async () => {
    const settings = { when: 'always', required: 2, timeout_seconds: 1, on_timeout: 'reject' };
    const { runId, gate } = await paused(chain(pay({ ...settings, timeout_seconds: 600 })));
    const { digest, arguments: args } = gate.tool_call;
    expect(gate).toMatchObject({ required: 2, on_timeout: 'reject', decisions: [] });
    expect((await decide(runId, { digest, arguments: { ...args, body: {} } })).body.detail).toBe(
      'Invalid body: arguments cannot be changed where several members must approve: reject the call instead',
    );
    await decide(runId, { digest });
    expect((await gateOf(runId)).decisions).toMatchObject([{ approved: true }]);
    const { workspaceId } = engine.actor;
    const { headers } = await addCaller({ db: engine.db, workspaceId }, { role: 'admin' });
    expect((await decide(runId, { digest }, headers)).status).toBe(200);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    const late = await engine.start(chain(pay(settings)), { amount: 7 });
    expect(await engine.ended(late)).toMatchObject({ status: 'failed' });
    expect(paid()).toEqual([100]);
  });

  test('each item of a map and each attempt after a resume is asked once', async () => {
    const graph: GraphInput = {
      nodes: [
        { id: 'each', kind: 'map', items: 'amounts' },
        tools.node('pay', {
          approval: 'always',
          params: { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{each.item}' } },
        }),
      ],
      edges: [edge('each', 'pay', 'true'), edge('pay', 'each')],
    };
    const { runId } = await paused(graph, { amounts: [1, 2] });
    // Both are decided before one of them fails.
    const { promise: until, resolve: release } = Promise.withResolvers<undefined>();
    tools.answer('pay', { status: 400, until });
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    expect(run.pending_gates).toHaveLength(2);
    for (const { step_key, tool_call } of run.pending_gates) {
      await decide(runId, { step_key, digest: tool_call.digest });
    }
    await eventually(() => paid().length === 2);
    release(undefined);
    expect(await engine.ended(runId)).toMatchObject({ status: 'failed' });
    tools.answer('pay', { status: 200 });
    await call('POST', `/api/runs/${runId}/resume`);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(new Set(paid())).toEqual(new Set([1, 2]));
  });

  test('a tool that changes while it waits is not called', async () => {
    const tool = { name: 'wire', endpoint_url: `${tools.url}/wire` };
    const { body: created } = await call('POST', '/api/tools', tool);
    const node = { id: 'wire', kind: 'tool', tool_name: 'custom:wire', approval: 'always' };
    const { runId, gate } = await paused(chain({ ...node, params: { to: 'Ada' } }));
    const { digest } = gate.tool_call;
    await call('PUT', `/api/tools/${created.id}`, { ...tool, endpoint_url: `${tools.url}/other` });
    expect((await decide(runId, { digest })).body.detail).toBe(
      "The tool 'custom:wire' has changed since the call was requested: reject it, and resume the run to ask again",
    );
    await decide(runId, { digest, approved: false });
    await engine.ended(runId);
    await call('POST', `/api/runs/${runId}/resume`);
    const again = await gateOf(runId);
    expect(again.tool_call.digest).not.toBe(digest);
    await decide(runId, { digest: again.tool_call.digest });
    await engine.ended(runId);
    expect([tools.calls('wire').length, tools.calls('other').length]).toEqual([0, 1]);
  });
});

describe('a workflow node with an approval', () => {
  test('starts the approved version with the approved input', async () => {
    const child = await engine.define(chain(echo('got', 'amount')), 'Child');
    const node = { id: 'run', kind: 'workflow', workflow: child, approval: 'always' };
    const { runId, gate } = await paused(chain({ ...node, input: { amount: '{amount}' } }));
    expect(gate.tool_call).toMatchObject({ tool: `workflow:${child}`, arguments: { amount: 100 } });
    const { digest } = gate.tool_call;
    await decide(runId, { digest, arguments: { amount: 60 } });
    expect(await engine.ended(runId)).toMatchObject({
      status: 'success',
      output: { run: { got: 60 } },
    });
  });

  test('starts nothing when it is rejected', async () => {
    const child = await engine.define(chain(echo('got', 'amount')), 'Rejected child');
    const node = { id: 'run', kind: 'workflow', workflow: child, approval: 'always' };
    const { runId, gate } = await paused(chain({ ...node, input: {} }));
    await decide(runId, { digest: gate.tool_call.digest, approved: false });
    expect(await engine.ended(runId)).toMatchObject({ status: 'failed' });
    const { body } = await call('GET', `/api/runs?workflow_id=${child}`);
    expect(body.runs).toEqual([]);
  });
});

test('a step waits for its approval beside others, and across a restart of the execution', async () => {
  const release = tools.hold('slow');
  const graph: GraphInput = { nodes: [pay('always'), tools.node('slow')], edges: [] };
  const runId = await engine.start(graph, { amount: 100 });
  await eventually(() => tools.calls('slow').length === 1);
  release();
  const gate = await gateOf(runId);
  await decide(runId, { digest: gate.tool_call.digest });
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(paid()).toEqual([100]);
});
