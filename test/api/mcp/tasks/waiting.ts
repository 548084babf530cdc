import { expect } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { eventually } from '#test/support/engine.ts';
import { runAs } from './people.ts';
import type { Task, World } from './world.ts';

/** Tasks in which runs wait for something, or for each other. */

const DAY_MS = 86_400_000;

/** Waits until a run waits for something, and returns for what. */
async function waitingOf({ engine }: World, runId: string) {
  await eventually(async () => (await engine.run(runId)).waiting.length > 0);
  return (await engine.run(runId)).waiting[0]!;
}

export const waitingTasks: Task[] = [
  {
    title:
      'waits for the payment of its own invoice, after the first graph had a node of its own invention',
    request: () =>
      `Build a workflow that waits until the event invoice.paid comes with the number of the run in its data. If it does
      not come within three days, the result is 'Not paid', else the sum in its data.`,
    own: ['settled', 'sum_paid', 'not_paid'],
    solve: async (model) => {
      await model.read('docs://skill');
      const graph = {
        nodes: [
          { id: 'settled', kind: 'wait_for_event', timeout: 259_200, on_timeout: 'continue' },
          {
            id: 'sum_paid',
            kind: 'tool',
            tool_name: 'json_transform',
            params: { expression: 'settled.data.sum' },
          },
          {
            id: 'not_paid',
            kind: 'tool',
            tool_name: 'json_transform',
            params: { expression: "'Not paid'" },
          },
        ],
        edges: [
          { source: 'settled', target: 'sum_paid', condition_value: 'true' },
          { source: 'settled', target: 'not_paid', condition_value: 'false' },
        ],
      };
      return model.mend({ name: 'Wait for the payment', graph }, ({ problems, schemas }, drawn) => {
        const [node] = drawn.nodes;
        for (const { code, message, path = '', schema = '' } of problems) {
          if (code === 'unknown_kind') {
            node.kind = /[a-z_]+/g.exec(
              message
                .split(' are ')[1]!
                .split(', ')
                .find((kind) => node.kind.startsWith(kind))!,
            )![0];
          } else if (path === 'nodes[0].timeout') {
            const [key] = Object.keys(schemas[schema].properties).filter((name) =>
              name.startsWith('timeout'),
            );
            node[key!] = node.timeout;
            delete node.timeout;
          } else if (code === 'wait_for_nothing' && node.event === undefined) {
            node.event = 'invoice.paid';
          } else if (path === 'nodes[0].event') {
            const [name, match] = Object.keys(schemas[schema].properties);
            node.event = { [name!]: 'invoice.paid', [match!]: 'event.data.number == number' };
          }
        }
        return drawn;
      });
    },
    prove: async (workflow, world) => {
      const { call, engine } = world;
      const { id } = await runAs(
        world,
        workflow,
        { input: { number: 'n1' }, draft: true },
        'running',
      );
      const waits = await waitingOf(world, id);
      expect(waits).toMatchObject({ for: 'event', events: ['invoice.paid'] });
      const pay = (number: string, sum: number) =>
        call('POST', '/api/events', { name: 'invoice.paid', data: { number, sum } });
      await pay('n2', 5);
      await pay('n1', 7);
      expect((await engine.until(id, ['success'])).output).toEqual({ sum_paid: 7 });
      const late = await runAs(
        world,
        workflow,
        { input: { number: 'n3' }, draft: true },
        'running',
      );
      const { until, since } = await waitingOf(world, late.id);
      expect(Date.parse(until!) - Date.parse(since)).toBe(3 * DAY_MS);
      await passTime(world, late.id);
      expect((await engine.until(late.id, ['success'])).output).toEqual({ not_paid: 'Not paid' });
    },
  },
  {
    title: 'sends a reminder after a day',
    request: ({ outside }) =>
      `Build a workflow that waits one day and then sends the order of the run with a POST to ${outside.url}/reminders.`,
    own: ['pause', 'remind'],
    solve: async (model, { url }) => {
      await model.read('schema://workflow');
      const { id } = await model.use('create_workflow', {
        name: 'Remind after a day',
        graph: {
          nodes: [
            { id: 'pause', kind: 'wait', seconds: 86_400 },
            {
              id: 'remind',
              kind: 'tool',
              tool_name: 'http_request',
              params: { method: 'POST', url: `${url}/reminders`, body: { order: '{order}' } },
            },
          ],
          edges: [{ source: 'pause', target: 'remind' }],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const { id } = await runAs(world, workflow, { input: { order: 'o1' } }, 'running');
      const { until, since } = await waitingOf(world, id);
      expect(Date.parse(until!) - Date.parse(since)).toBe(DAY_MS);
      expect(world.outside.sent('/reminders')).toEqual([]);
      await passTime(world, id);
      await world.engine.until(id, ['success']);
      expect(world.outside.sent('/reminders').map(({ body }) => body)).toEqual([{ order: 'o1' }]);
    },
  },
  {
    title: 'gives a partner an address for the answer, and goes on without one',
    request: ({ outside }) =>
      `Build a workflow that sends the order of the run with a POST to ${outside.url}/orders, with an address as notify to which the
      partner sends its answer. Wait an hour at most. The result is the answer, or without one 'No answer'.`,
    own: ['send_order', 'answered', 'their_answer', 'no_answer'],
    solve: async (model, { url }) => {
      await model.read('docs://skill');
      await model.read('docs://waiting');
      const { id } = await model.use('create_workflow', {
        name: 'Order',
        graph: {
          nodes: [
            {
              id: 'send_order',
              kind: 'tool',
              tool_name: 'http_request',
              params: {
                method: 'POST',
                url: `${url}/orders`,
                body: { order: '{order}', notify: '{callbacks.answered}' },
              },
            },
            {
              id: 'answered',
              kind: 'wait',
              callback: true,
              timeout_seconds: 3_600,
              on_timeout: 'continue',
            },
            {
              id: 'their_answer',
              kind: 'tool',
              tool_name: 'json_transform',
              params: { expression: 'answered' },
            },
            {
              id: 'no_answer',
              kind: 'tool',
              tool_name: 'json_transform',
              params: { expression: "'No answer'" },
            },
          ],
          edges: [
            { source: 'send_order', target: 'answered' },
            { source: 'answered', target: 'their_answer', condition_value: 'true' },
            { source: 'answered', target: 'no_answer', condition_value: 'false' },
          ],
        },
      });
      expect(await model.use('explain_validation', { workflow: id })).toMatchObject({
        valid: true,
      });
      return id;
    },
    prove: async (workflow, world) => {
      const { call, engine, outside } = world;
      const { id } = await runAs(world, workflow, { input: { order: 'o1' } }, 'running');
      await waitingOf(world, id);
      const { notify } = outside.sent('/orders')[0]!.body;
      const { pathname } = new URL(notify);
      expect((await call('POST', pathname, { parcel: 9 })).status).toBe(200);
      expect((await engine.until(id, ['success'])).output).toEqual({ their_answer: { parcel: 9 } });
      const late = await runAs(world, workflow, { input: { order: 'o2' } }, 'running');
      await waitingOf(world, late.id);
      await passTime(world, late.id);
      expect((await engine.until(late.id, ['success'])).output).toEqual({ no_answer: 'No answer' });
    },
  },
  {
    title: 'runs once at a time for each customer',
    request: () =>
      `Our workflow 'Serve a customer' must run only once at a time for each customer. Further runs wait for their turn.`,
    own: [],
    prepare: ({ call }) =>
      call('POST', '/api/workflows', {
        name: 'Serve a customer',
        graph: { nodes: [{ id: 'served', kind: 'human_gate', prompt: 'Served?' }], edges: [] },
      }),
    solve: async (model) => {
      const { workflows } = await model.use('list_workflows', { search: 'Serve a customer' });
      const [{ id }] = workflows;
      const concurrency = { limit: 1, key: '{customer}', on_limit: 'queue' };
      await model.use('set_limits', { workflow: id, concurrency });
      return id;
    },
    prove: async (workflow, world) => {
      const { engine } = world;
      const first = await runAs(world, workflow, { input: { customer: 'a' } }, 'paused');
      const second = await runAs(world, workflow, { input: { customer: 'a' } }, 'pending');
      expect(second.queued).toMatchObject({ for: 'concurrency', key: 'a', position: 1 });
      await runAs(world, workflow, { input: { customer: 'b' } }, 'paused');
      await engine.approve(first.id);
      await engine.until(second.id, ['paused']);
    },
  },
  {
    title: 'ends runs whose order is cancelled',
    request: () =>
      `When the event order.cancelled comes, the runs of 'Pack an order' for the same order shall end. Both the run and
      the data of the event have it as order.`,
    own: [],
    prepare: ({ call }) =>
      call('POST', '/api/workflows', {
        name: 'Pack an order',
        graph: { nodes: [{ id: 'packed', kind: 'human_gate', prompt: 'Packed?' }], edges: [] },
      }),
    solve: async (model) => {
      await model.read('docs://skill');
      const { workflow_id: id } = await model.use('set_limits', {
        workflow: 'Pack an order',
        cancel_on: [{ event: 'order.cancelled', match: 'event.data.order == order' }],
      });
      return id ?? 'Pack an order';
    },
    prove: async (_made, world) => {
      const { call, engine } = world;
      const { body } = await call('GET', '/api/workflows');
      const { id } = body.find(({ name }: { name: string }) => name === 'Pack an order');
      const [kept, ended] = [
        await runAs(world, id, { input: { order: 1 } }, 'paused'),
        await runAs(world, id, { input: { order: 2 } }, 'paused'),
      ];
      await call('POST', '/api/events', { name: 'order.cancelled', data: { order: 2 } });
      const { error } = await engine.until(ended.id, ['failed']);
      expect(error).toContain("Cancelled by event 'order.cancelled'");
      expect((await engine.run(kept.id)).status).toBe('paused');
    },
  },
];

/** The time for which a run waits is over. */
const passTime = ({ engine }: World, runId: string) =>
  engine.db.query(sql.unsafe`
    UPDATE run_waits SET due_at = now(), wake_at = now() WHERE run_id = ${runId} AND status = 'open'`);
