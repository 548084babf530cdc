import { expect } from '@jest/globals';
import { addCaller } from '#test/api/people/caller.ts';
import { eventually } from '#test/support/engine.ts';
import type { Task, World } from './world.ts';

/** Tasks in which people decide. */

/** Starts a run as a person does, and waits until it has one of these states. */
export async function runAs(
  { call, engine }: World,
  workflow: string,
  {
    input = {},
    headers,
    draft,
  }: { input?: object; headers?: Record<string, string>; draft?: true },
  ...states: ('success' | 'failed' | 'paused' | 'running' | 'pending')[]
) {
  const query = draft === undefined ? '' : '?draft=true';
  const { status, body } = await call(
    'POST',
    `/api/workflows/${workflow}/runs${query}`,
    input,
    headers,
  );
  expect([status, body.detail]).toEqual([201, undefined]);
  return engine.until(body.id, states.length === 0 ? ['success'] : states);
}

export const peopleTasks: Task[] = [
  {
    title: 'fetches an invoice, asks a person above 500 dollars, and pays it',
    request: ({ outside }) =>
      `Build a workflow for a run with an invoice: GET ${outside.url}/invoices/<invoice>, which answers with amount and
      supplier. Above 500 dollars, ask a person. Then POST the supplier as to, and the amount, to ${outside.url}/payments.
      Refused invoices are not paid.`,
    own: ['look_up', 'is_large', 'ask_first', 'send_money', 'not_paid'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const { id } = await model.use('create_workflow', {
        name: 'Pay invoices',
        graph: {
          nodes: [
            {
              id: 'look_up',
              kind: 'tool',
              tool_name: 'http_request',
              params: { url: `${url}/invoices/{invoice}` },
            },
            { id: 'is_large', kind: 'condition', expression: 'look_up.body.amount > 500' },
            {
              id: 'ask_first',
              kind: 'human_gate',
              prompt: 'Pay {look_up.body.amount} to {look_up.body.supplier}?',
            },
            {
              id: 'send_money',
              kind: 'tool',
              tool_name: 'http_request',
              params: {
                method: 'POST',
                url: `${url}/payments`,
                body: { to: '{look_up.body.supplier}', amount: '{look_up.body.amount}' },
              },
            },
            {
              id: 'not_paid',
              kind: 'tool',
              tool_name: 'json_transform',
              params: { expression: "'Refused'" },
            },
          ],
          edges: [
            { source: 'look_up', target: 'is_large' },
            { source: 'is_large', target: 'ask_first', condition_value: 'true' },
            { source: 'is_large', target: 'send_money', condition_value: 'false' },
            { source: 'ask_first', target: 'send_money', condition_value: 'true' },
            { source: 'ask_first', target: 'not_paid', condition_value: 'false' },
          ],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const paid = () => world.outside.sent('/payments').map(({ body }) => body);
      await runAs(world, workflow, { input: { invoice: 'i500' } });
      expect(paid()).toEqual([{ to: 'Ada', amount: 500 }]);
      const asked = await runAs(world, workflow, { input: { invoice: 'i501' } }, 'paused');
      expect(asked.pending_gate?.prompt).toBe('Pay 501 to Ada?');
      expect(paid()).toHaveLength(1);
      await world.engine.approve(asked.id);
      await world.engine.until(asked.id, ['success']);
      expect(paid()).toEqual([
        { to: 'Ada', amount: 500 },
        { to: 'Ada', amount: 501 },
      ]);
      const refused = await runAs(world, workflow, { input: { invoice: 'i900' } }, 'paused');
      await world.engine.decide(refused.id, { approved: false });
      expect((await world.engine.until(refused.id, ['success'])).output).toEqual({
        not_paid: 'Refused',
      });
      expect(paid()).toHaveLength(2);
    },
  },
  {
    title: 'sends a text only when two people other than the one who started it have agreed',
    request: ({ outside }) =>
      `Build a workflow that sends the text of a run with a POST to ${outside.url}/posts, after two different people have agreed.
      The one who starts it does not count.`,
    own: ['both_agree', 'send_it'],
    prepare: ({ engine }) =>
      Promise.all([1, 2, 3].map(() => addCaller({ ...engine, ...engine.actor }))),
    solve: async (model, { url }) => {
      await model.read('schema://workflow');
      const { id } = await model.use('create_workflow', {
        name: 'Four eyes',
        graph: {
          nodes: [
            {
              id: 'both_agree',
              kind: 'human_gate',
              prompt: 'Send {text}?',
              required: 2,
              not_the_starter: true,
            },
            {
              id: 'send_it',
              kind: 'tool',
              tool_name: 'http_request',
              params: { method: 'POST', url: `${url}/posts`, body: { text: '{text}' } },
            },
          ],
          edges: [{ source: 'both_agree', target: 'send_it' }],
        },
      });
      const { valid, problems } = await model.use('explain_validation', { workflow: id });
      expect([valid, problems]).toEqual([true, []]);
      return id;
    },
    prove: async (workflow, world, members) => {
      const { call, engine, outside } = world;
      const [starter, one, other] = members;
      const { headers } = starter;
      const { id } = await runAs(world, workflow, { input: { text: 'Hi' }, headers }, 'paused');
      const agree = async (by: { headers: Record<string, string> }) =>
        (await call('POST', `/api/runs/${id}/approve`, { approved: true }, by.headers)).status;
      expect([await agree(starter), await agree(one), await agree(one)]).toEqual([403, 200, 200]);
      // The same person twice is one approval.
      expect((await engine.run(id)).status).toBe('paused');
      expect(outside.sent('/posts')).toEqual([]);
      expect(await agree(other)).toBe(200);
      await engine.until(id, ['success']);
      expect(outside.sent('/posts').map(({ body }) => body)).toEqual([{ text: 'Hi' }]);
    },
  },
  {
    title: 'leads a refusal elsewhere, after the first graph had words that edges do not have',
    request: ({ outside }) =>
      `Build a workflow that asks "Pay {sum}?". If the person agrees, POST sum to ${outside.url}/payments, if not to
      ${outside.url}/refusals.`,
    own: ['question', 'pay_now', 'refuse_it'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      const post = (id: string, path: string) => ({
        id,
        kind: 'tool',
        tool_name: 'http_request',
        params: { method: 'POST', url: `${url}/${path}`, body: { sum: '{sum}' } },
      });
      const graph = {
        nodes: [
          { id: 'question', kind: 'human_gate', prompt: 'Pay {sum}?' },
          post('pay_now', 'payments'),
          post('refuse_it', 'refusals'),
        ],
        edges: [
          { source: 'question', target: 'pay_now', condition_value: 'approved' },
          { source: 'question', target: 'refuse_it', condition_value: 'rejected' },
        ],
      };
      return model.mend({ name: 'Asked', graph }, ({ problems }, drawn) => {
        const [problem] = problems;
        const [yes, no] = [...problem!.message.matchAll(/"(\w+)"/g)].map(([, value]) => value);
        const edges = drawn.edges.map((edge: any) => ({
          ...edge,
          condition_value: edge.condition_value === 'approved' ? yes : no,
        }));
        return { ...drawn, edges };
      });
    },
    prove: async (workflow, world) => {
      const { engine, outside } = world;
      const sent = (path: string) => outside.sent(path).map(({ body }) => body.sum);
      for (const [sum, approved] of [
        [1, false],
        [2, true],
      ] as const) {
        const { id } = await runAs(world, workflow, { input: { sum }, draft: true }, 'paused');
        await engine.decide(id, { approved });
        await engine.until(id, ['success']);
      }
      expect([sent('/refusals'), sent('/payments')]).toEqual([[1], [2]]);
    },
  },
  {
    title: 'lets an agent pay only what a person has approved',
    request: ({ outside }) =>
      `Build a workflow with an agent on the mock model. It GETs ${outside.url}/invoices/7 and then POSTs the amount to
      ${outside.url}/payments. A person has to approve each POST, but no GET.`,
    own: ['accountant', 'Accountant'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      await model.read('docs://agents');
      const { id } = await model.use('create_workflow', {
        name: 'Accountant',
        graph: {
          nodes: [
            {
              id: 'accountant',
              kind: 'agent',
              prompt: 'Pay the invoice 7',
              model: 'mock',
              tools: [{ name: 'http_request', approval: "args.method == 'POST'" }],
              mock: {
                turns: [
                  {
                    calls: [
                      {
                        tool: 'http_request',
                        arguments: { method: 'GET', url: `${url}/invoices/7` },
                      },
                    ],
                  },
                  {
                    calls: [
                      {
                        tool: 'http_request',
                        arguments: { method: 'POST', url: `${url}/payments`, body: { amount: 7 } },
                      },
                    ],
                  },
                  { output: 'Paid' },
                ],
              },
            },
          ],
          edges: [],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const { engine, outside } = world;
      const run = await runAs(world, workflow, {}, 'paused');
      expect(outside.sent('/invoices')).toHaveLength(1);
      expect(outside.sent('/payments')).toEqual([]);
      const { tool_call: asked, step_key: stepKey } = run.pending_gate!;
      expect(asked?.arguments).toMatchObject({ method: 'POST', body: { amount: 7 } });
      await engine.approve(run.id, { stepKey, digest: asked!.digest });
      expect((await engine.until(run.id, ['success'])).output).toEqual({ accountant: 'Paid' });
      await eventually(() => outside.sent('/payments').length === 1);
    },
  },
];
