import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const gate = { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?' } as never;
const pay = () =>
  tools.node('pay', {
    params: {
      url: `${tools.url}/pay`,
      method: 'POST',
      body: { amount: '{amount}', note: '{wait}' },
    },
  });

const event = z.object({ type: z.string(), node_id: z.string(), reason: z.string() });
const shownOf = (runId: string) =>
  engine.db.any(sql.type(z.object({ step_key: z.string(), gate_key: z.string() }))`
    SELECT step_key, gate_key FROM gate_effects WHERE run_id = ${runId} ORDER BY step_key`);

test('an effect behind a decided gate is sent as it was shown', async () => {
  const runId = await engine.start(chain(gate, echo('wait', '5'), pay()), { amount: 100 });
  await engine.until(runId, ['paused']);
  await engine.approve(runId);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(tools.calls('pay').map(({ body }) => JSON.parse(body))).toEqual([
    { amount: 100, note: 5 },
  ]);
  expect(await shownOf(runId)).toEqual([{ step_key: 'pay', gate_key: 'review' }]);
});

test('a step that would differ from what was shown sends nothing, and asks for itself', async () => {
  const release = tools.hold('slow');
  const asking = { ...(gate as object), approvers: { roles: ['admin'] } } as never;
  const graph = chain(asking, tools.node('slow'), pay());
  const runId = await engine.start(graph, { amount: 100, wait: 1 });
  await engine.until(runId, ['paused']);
  await engine.approve(runId);
  await eventually(() => tools.calls('slow').length === 1);
  // What the rules of the engine exclude: the approver saw another amount.
  await engine.db.query(sql.unsafe`
    UPDATE gate_effects SET shown = jsonb_set(shown::jsonb, '{arguments,body,amount}', '5')::json
    WHERE run_id = ${runId} AND node_id = 'pay'`);
  release();
  const { pending_gate: asks } = await engine.until(runId, ['paused']);
  expect(asks).toMatchObject({
    ...{ kind: 'tool_call', step_key: 'pay', approvers: { roles: ['admin'] } },
    tool_call: { tool: 'http_request', arguments: { body: { amount: 100, note: 1 } } },
  });
  expect(tools.calls('pay')).toEqual([]);
  const events = await engine.db.any(sql.type(event)`
    SELECT type, node_id, reason FROM governance_events WHERE run_id = ${runId}`);
  const reason = "Not sent: body.amount would not be what gate 'review' showed";
  expect(events).toEqual([{ type: 'approval_mismatch', node_id: 'pay', reason }]);
  await engine.approve(runId, { digest: asks?.tool_call?.digest });
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(tools.calls('pay').map(({ body }) => JSON.parse(body))).toEqual([
    { amount: 100, note: 1 },
  ]);
});
