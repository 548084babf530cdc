import { expect, test } from '@jest/globals';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi();

async function paused(graph: object, input: object = {}): Promise<string> {
  const runId = await engine.trigger(await engine.define(graph as never), input as never);
  await engine.until(runId, ['paused']);
  return runId;
}

const pending = async (runId: string) =>
  (await call('GET', `/api/runs/${runId}`)).body.pending_gates;

test('the title of a gate is rendered from the state and shown', async () => {
  const graph = {
    nodes: [
      { id: 'review', kind: 'human_gate', prompt: 'Pay?', title: 'Pay {amount} to {who}' },
      { id: 'plain', kind: 'human_gate', label: 'A plain gate' },
      { id: 'fails', kind: 'human_gate', label: 'Fails', title: 'Pay {who.name.first}' },
      echo('paid'),
    ],
    edges: [edge('review', 'paid', 'true')],
  };
  const runId = await paused(graph, { amount: 100, who: 'Ada' });
  const gates = await pending(runId);
  expect(Object.fromEntries(gates.map((gate: never) => [gate['node_id'], gate['title']]))).toEqual({
    review: 'Pay 100 to Ada',
    plain: 'A plain gate',
    fails: 'Fails',
  });
  const { body } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect(body.title).toBe('Pay 100 to Ada');
});

test('the title of a step and of an agent’s call is rendered from the arguments', async () => {
  const url = 'https://bank.test/pay';
  const pay = (id: string, approval: unknown) => ({
    ...{ id, kind: 'tool', tool_name: 'http_request', approval },
    params: { url, method: 'POST', body: { amount: '{amount}' } },
  });
  const turns = [{ calls: [{ tool: 'send_email', arguments: { to: 'a@x.test', subject: 'Hi' } }] }];
  const agent = (id: string, title?: string) => ({
    ...{ id, kind: 'agent', prompt: 'Go', mock: { turns } },
    tools: [{ name: 'send_email', approval: 'always', fixed: { text: 'Text' }, title }],
  });
  const runId = await paused(
    {
      nodes: [
        pay('titled', { when: 'always', title: 'Pay {args.body.amount} USD' }),
        pay('plain', 'always'),
        agent('asks', 'Write to {args.to}'),
        agent('asks_plain'),
      ],
      edges: [],
    },
    { amount: 7 },
  );
  await eventually(async () => (await pending(runId)).length === 4);
  const gates = await pending(runId);
  expect(
    Object.fromEntries(gates.map((gate: never) => [gate['node_id'], gate['title']])),
  ).toMatchObject({
    titled: 'Pay 7 USD',
    plain: `http_request: ${url}, POST`,
    asks_plain: 'send_email: a@x.test, Hi',
    asks: 'Write to a@x.test',
  });
});

test('a title of a call that reads the state is refused', async () => {
  const node = {
    ...{ id: 'pay', kind: 'tool', tool_name: 'send_email' },
    params: { to: 'a@x.test', subject: 'x', text: 'y' },
    approval: { when: 'always', title: 'Pay {amount}' },
  };
  const created = { name: 'Titled', graph: { nodes: [node], edges: [] } };
  const { body: workflow } = await call('POST', '/api/workflows', created);
  const { body } = await call('POST', `/api/workflows/${workflow.id}/validate`);
  expect(body.errors).toMatchObject([
    { code: 'title_reads_state', path: 'nodes[0].approval.title', position: 5 },
  ]);
});
