import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sealAuditEntries, verifyAudit } from '#shared/db/audit/chain.ts';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { chain, echo, edge, eventually, mock } from '#test/support/engine.ts';
import { verifyText } from '#test/support/evidence.ts';

const { engine, call } = useEngineApi();
const tools = useToolServer();

const evidence = async (runId: string, query = '?contents=true', headers = {}) => {
  const { status, text } = await call(
    'GET',
    `/api/runs/${runId}/evidence${query}`,
    undefined,
    headers,
  );
  expect(status).toBe(200);
  return text;
};
const sealed = async (): Promise<string> => {
  const { workspaceId } = engine.actor;
  // The API seals, too: while it does, nothing is left to seal here.
  await eventually(async () => {
    await sealAuditEntries(engine.db, workspaceId);
    return !(await engine.db.exists(sql.unsafe`SELECT FROM audit_unsealed`));
  });
  return (await verifyAudit(engine.db, workspaceId)).head!.hash;
};
/** Both forms of the evidence of a run hold, with the newest seal as the head. */
const holds = async (runId: string) => {
  const head = await sealed();
  const text = await evidence(runId);
  const whole = verifyText(text, head);
  expect({ ...whole, notes: [] }).toMatchObject({ problems: [], proven: 'complete' });
  expect(verifyText(await evidence(runId, ''), head)).toMatchObject({
    problems: [],
    proven: 'complete',
  });
  return { ...whole, text };
};
const gate = (id: string, rest: object = {}) =>
  ({ id, kind: 'human_gate', prompt: `${id}: {amount}?`, ...rest }) as never;
const pay = (id: string) =>
  tools.node(id, {
    params: { url: `${tools.url}/${id}`, method: 'POST', body: { amount: '{amount}' } },
  });
const approved = async (runId: string, answer: object = {}) => {
  await eventually(async () => (await engine.run(runId)).pending_gates.length > 0);
  const { status } = await call('POST', `/api/runs/${runId}/approve`, {
    approved: true,
    ...answer,
  });
  expect(status).toBe(200);
};

describe('the evidence of an honest run holds', () => {
  test('when results entered the state in another order than the one in which they ended', async () => {
    // Two parallel steps of an item fail, and the first of the errors is its result.
    tools.answer('b', { status: 500, delayMs: 150 });
    const runId = await engine.start({
      nodes: [
        { id: 'm', kind: 'map', items: '[1]', on_item_error: 'collect' },
        echo('a', '1'),
        tools.node('b'),
        echo('c', '1 / 0'),
        echo('d', '2'),
      ],
      edges: [
        edge('m', 'a', 'true'),
        edge('a', 'b'),
        edge('a', 'c'),
        edge('b', 'd'),
        edge('c', 'd'),
        edge('d', 'm'),
      ],
    } as never);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toMatchObject({
      m: [{ error: { message: expect.stringContaining('zero') } }],
    });
    // Of two steps that end almost at once, the execution can receive the second result first.
    await engine.db.query(sql.unsafe`
      UPDATE steps s SET finished_at = o.finished_at FROM steps o
      WHERE s.run_id = ${runId} AND s.step_key = 'c#1' AND o.run_id = s.run_id AND o.step_key = 'b#1'`);
    await engine.db.query(sql.unsafe`
      UPDATE steps SET finished_at = finished_at - interval '1 ms' WHERE run_id = ${runId} AND step_key = 'b#1'`);
    await holds(runId);
  });

  test('with a gate, its input and its effects', async () => {
    const graph = chain(echo('first', 'amount * 2'), gate('ok'), pay('pay'), mock('thanks'));
    const runId = await engine.start(graph, { amount: 50 });
    await approved(runId, { input: { amount: 70, note: 'fine' } });
    await engine.ended(runId);
    const { checked, text } = await holds(runId);
    expect(checked).toMatchObject({ effects: 2, decisions: 1 });
    expect(checked['inputs']).toBeGreaterThan(2);
    expect(text).toContain('signed_in');
  });

  test('with code before and after a gate, which lists what the code leaves unknown', async () => {
    const code = (id: string, source: string) => ({ id, kind: 'code', source }) as never;
    const graph = chain(
      code('before', 'export default ({ amount }) => ({ half: amount / 2, at: Date.now() });'),
      gate('ok'),
      code('amount', 'export default ({ before }) => before.half + Math.floor(Math.random());'),
      pay('pay'),
    );
    const runId = await engine.start(graph, { amount: 50 });
    await eventually(async () => (await engine.run(runId)).pending_gates.length > 0);
    const { body } = await call('GET', `/api/runs/${runId}/gates/ok`);
    const { effects } = body.consequences.approve;
    // No dry run executes code.
    expect(effects).toMatchObject([{ node_id: 'pay' }]);
    expect(JSON.stringify(effects)).toContain('unknown');
    await approved(runId);
    expect(await engine.ended(runId)).toMatchObject({ state: { amount: 25 } });
    expect(tools.calls('pay')).toMatchObject([{ body: '{"amount":25}' }]);
    const { checked } = await holds(runId);
    expect(checked).toMatchObject({ effects: 1, decisions: 1 });
  });

  test('with rejected gates, conditions, skipped steps and a deadline', async () => {
    const graph: GraphInput = {
      nodes: [
        gate('no'),
        pay('never'),
        echo('instead'),
        { id: 'big', kind: 'condition', expression: 'amount > 10' } as never,
        gate('late', { timeout_seconds: 1, on_timeout: 'approve' }),
        pay('after'),
        echo('small'),
        { id: 'all', kind: 'merge' } as never,
      ],
      edges: [
        ...[edge('no', 'never', 'true'), edge('no', 'instead', 'false'), edge('instead', 'big')],
        ...[edge('big', 'late', 'true'), edge('big', 'small', 'false'), edge('late', 'after')],
        ...[edge('after', 'all'), edge('small', 'all')],
      ],
    };
    const runId = await engine.start(graph, { amount: 50 });
    await approved(runId, { approved: false, reason: 'no' });
    await engine.ended(runId);
    expect(await holds(runId)).toMatchObject({ checked: { decisions: 2 } });
  });

  test('with maps, loops, parallel branches and caught errors', async () => {
    tools.answer('breaks', { status: 400 });
    const graph: GraphInput = {
      nodes: [
        {
          id: 'each',
          kind: 'map',
          items: 'list',
          concurrency: 2,
          on_item_error: 'collect',
        } as never,
        echo('twice', 'each.item * 2'),
        pay('send'),
        { id: 'again', kind: 'loop', expression: 'count < 3', max_iterations: 5 } as never,
        echo('count', 'count + 1'),
        pay('breaks'),
        echo('caught', 'breaks.error.message'),
        mock('side', { cost_usd: 0.25, output: { a: 1 } }),
      ],
      edges: [
        ...[edge('each', 'twice', 'true'), edge('twice', 'send'), edge('send', 'each')],
        ...[edge('each', 'again', 'false'), edge('again', 'count', 'true'), edge('count', 'again')],
        ...[edge('again', 'breaks', 'false'), edge('breaks', 'caught', 'error')],
      ],
    };
    const runId = await engine.start(graph, { amount: 1, list: [1, 2, 3], count: 0 });
    const run = await engine.ended(runId);
    expect([run.error, run.status]).toEqual([null, 'success']);
    const { checked } = await holds(runId);
    expect(checked['inputs']).toBeGreaterThan(8);
  });

  test('with an agent whose call needs approval, and a child', async () => {
    const child = await engine.define(
      chain(gate('inner'), echo('n', 'amount')),
      'Child of evidence',
    );
    const graph = chain(
      {
        ...{ id: 'clerk', kind: 'agent', prompt: 'Pay {amount}' },
        tools: [
          { name: 'http_request', fixed: { url: `${tools.url}/call` }, approval: 'always' },
          'json_transform',
        ],
        mock: {
          turns: [
            {
              calls: [
                { tool: 'http_request', arguments: { method: 'POST', body: { a: 1 } } },
                { tool: 'json_transform', arguments: { expression: '1 + 1' } },
              ],
              cost_usd: 0.1,
            },
            { output: 'done', cost_usd: 0.2 },
          ],
        },
      } as never,
      { id: 'sub', kind: 'workflow', workflow: child, input: { amount: '{amount}' } } as never,
    );
    const runId = await engine.start(graph, { amount: 5 });
    await engine.until(runId, ['paused']);
    const { digest, arguments: args } = (await engine.run(runId)).pending_gates[0]!.tool_call!;
    await approved(runId, { digest, arguments: { ...args, body: { a: 2 } } });
    await eventually(async () =>
      (await engine.run(runId)).steps.some(({ paused_child }) => paused_child === true),
    );
    const childId = (await engine.run(runId)).steps.find(
      (step) => step.child_run_id,
    )!.child_run_id!;
    await approved(childId);
    const run = await engine.ended(runId);
    expect([run.error, run.cost_usd]).toEqual([null, 0.3]);
    expect(await holds(runId)).toMatchObject({ checked: { decisions: 1 } });
    await holds(childId);
  });

  test('after a failure, a resume, a fork and a rehearsal', async () => {
    tools.answer('flaky', { status: 400 });
    const graph = chain(
      gate('ok'),
      echo('before', 'amount + 1'),
      pay('flaky'),
      gate('last'),
      echo('end'),
    );
    const runId = await engine.start(graph, { amount: 3 });
    await approved(runId);
    await engine.until(runId, ['failed']);
    expect((await holds(runId)).notes).toEqual([]);
    tools.answer('flaky', { status: 200 });
    await engine.resume(runId);
    await approved(runId, { step_key: 'last' });
    await engine.ended(runId);
    await holds(runId);
    const fork = await call('POST', `/api/runs/${runId}/fork`, {
      from_step: 'end',
      state: { amount: 9 },
    });
    expect(fork.status).toBe(201);
    await approved(fork.body.id, { step_key: 'ok' });
    await approved(fork.body.id, { step_key: 'last' });
    await engine.ended(fork.body.id);
    await holds(fork.body.id);
    const paying = await call('POST', `/api/runs/${runId}/fork`, {
      from_step: 'flaky',
      state: { amount: 9 },
    });
    await approved(paying.body.id, { step_key: 'ok' });
    await approved(paying.body.id, { step_key: 'last' });
    await engine.ended(paying.body.id);
    await holds(paying.body.id);
    const rehearsal = await call('POST', `/api/runs/${runId}/rerun`, { mode: 'recorded' });
    expect(rehearsal.status).toBe(201);
    await engine.ended(rehearsal.body.id);
    await holds(rehearsal.body.id);
  });

  test('while it is open, and after it was cancelled', async () => {
    const runId = await engine.start(chain(echo('a'), gate('ok'), pay('pay')), { amount: 3 });
    await engine.until(runId, ['paused']);
    expect((await holds(runId)).notes).toContainEqual(expect.stringContaining('has not ended'));
    await engine.cancel(runId);
    await engine.ended(runId);
    await holds(runId);
  });
});

test('who cannot decide gates gets neither their arguments nor their digests', async () => {
  const runId = await engine.start(chain(gate('ok'), pay('pay')), { amount: 4242 });
  await approved(runId);
  await engine.ended(runId);
  const viewer = await addCaller(
    { db: engine.db, workspaceId: engine.actor.workspaceId },
    { role: 'viewer' },
  );
  await sealed();
  const text = await evidence(runId, '', viewer.headers);
  expect(
    text
      .split('\n')
      .filter((line) => line.includes('"kind":"gate"'))
      .join(),
  ).not.toMatch(/"amount":4242|sha256:/);
  const { problems, notes } = verifyText(text);
  expect([problems, notes.join(' ')]).toEqual([[], expect.stringContaining('hides the arguments')]);
});
