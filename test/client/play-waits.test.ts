import { describe, expect, test } from '@jest/globals';
import { after, attempts, failure, play } from '#client/testing.ts';
import { draw } from '#test/graph/drawing.ts';

const wait = (id: string, fields: object) => ({ id, kind: 'wait', ...fields });
const paid = { event: { name: 'paid', match: 'event.data.invoice == invoice' } };

describe('a played run that waits', () => {
  test('passes times, delays and dates at once', async () => {
    const graph = {
      nodes: [
        wait('hour', { seconds: '{n}' }),
        { id: 'pause', kind: 'tool', tool_name: 'delay', params: { seconds: 60 } },
        wait('day', { until: '2026-03-02' }),
      ],
      edges: [
        { source: 'hour', target: 'pause' },
        { source: 'pause', target: 'day' },
      ],
    };
    const run = await play(graph, { input: { n: 3600 }, clock: { start: '2026-03-01' } });
    expect(run.state).toMatchObject({ hour: {}, pause: { delayed_seconds: 60 }, day: {} });
    expect(run.steps.map(({ finished_at }) => finished_at)).toEqual([
      '2026-03-01T01:00:00.000Z',
      '2026-03-01T01:01:00.000Z',
      '2026-03-02T00:00:00.000Z',
    ]);
  });

  test('takes the first event that matches, also one from before', async () => {
    const graph = {
      nodes: [wait('before', { seconds: 10 }), wait('payment', paid)],
      edges: [{ source: 'before', target: 'payment' }],
    };
    const run = await play(graph, {
      input: { invoice: 'A-1' },
      events: [
        { name: 'paid', data: { invoice: 'B-7' } },
        { name: 'paid', data: { invoice: 'A-1', amount: 3 }, id: 'pay-1', after_seconds: 2 },
      ],
    });
    expect(run.output).toEqual({
      payment: {
        ...{ id: 'pay-1', name: 'paid', data: { invoice: 'A-1', amount: 3 } },
        created_at: '2026-01-01T00:00:02.000Z',
      },
    });
    expect(run.finished_at).toBe('2026-01-01T00:00:10.000Z');
  });

  test('takes another event in each iteration of a loop', async () => {
    const graph = {
      nodes: [
        { id: 'l', kind: 'loop', expression: 'l.iterations < 3' },
        wait('next', { event: { name: 'tick' } }),
        {
          id: 'seen',
          kind: 'tool',
          tool_name: 'json_transform',
          params: { expression: 'next.data.n' },
        },
      ],
      edges: [
        { source: 'l', target: 'next', condition_value: 'true' },
        { source: 'next', target: 'seen' },
        { source: 'seen', target: 'l' },
      ],
    };
    const events = [1, 2, 3].map((n) => ({ name: 'tick', data: { n }, after_seconds: 10 * n }));
    const run = await play(graph, { events });
    const seen = run.steps.filter(({ node_id }) => node_id === 'seen');
    expect(seen.map(({ output }) => output)).toEqual([1, 2, 3]);
    const short = await play(graph, { events: events.slice(0, 2) });
    expect(short).toMatchObject({
      status: 'running',
      waits: [{ node_id: 'next', step_key: 'next#3', for: 'event', events: ['tick'], until: null }],
    });
  });

  test('is late without an event before the deadline', async () => {
    const graph = (fields: object) => ({
      nodes: [wait('payment', { ...paid, timeout_seconds: 30, ...fields })],
    });
    const events = [{ name: 'paid', data: { invoice: 'A-1' }, after_seconds: 31 }];
    const options = { input: { invoice: 'A-1' }, events };
    const failed = await play(graph({}), options);
    expect(failed).toMatchObject({
      status: 'failed',
      error: "Node 'payment' failed: Nothing came within 30 s for 'payment'",
      finished_at: '2026-01-01T00:00:30.000Z',
    });
    expect(failed.steps[0]).toMatchObject({ error_kind: 'timeout' });
    const continued = await play(graph({ on_timeout: 'continue' }), options);
    expect(continued).toMatchObject({ status: 'success', output: { payment: null } });
  });

  test('gets the body of a callback', async () => {
    const graph = {
      nodes: [
        {
          ...{ id: 'order', kind: 'tool', tool_name: 'http_request' },
          params: { url: 'https://shop.test/', body: { notify: '{callbacks.shipped}' } },
        },
        wait('shipped', { callback: true }),
      ],
      edges: [{ source: 'order', target: 'shipped' }],
    };
    const mocks = { tools: { http_request: (args: object) => args } };
    const run = await play(graph, { mocks, callbacks: { shipped: after(90, { parcel: 7 }) } });
    expect(run).toMatchObject({
      output: { shipped: { parcel: 7 } },
      state: { order: { body: { notify: '{callbacks.shipped}' } } },
      finished_at: '2026-01-01T00:01:30.000Z',
    });
    const open = await play(graph, { mocks });
    expect(open).toMatchObject({ status: 'running', waits: [{ for: 'callback' }] });
  });
});

const child = {
  name: 'Charge',
  input_schema: { type: 'object', properties: { amount: { type: 'number' } } },
  graph: draw('g -> t', {
    g: { prompt: 'Charge {amount}?' },
    t: { params: { url: 'https://bank.test/{amount}' } },
  }),
};
const parent = (fields: object = {}) => ({
  nodes: [{ id: 'pay', kind: 'workflow', workflow: 'Charge', input: { amount: '{n}' }, ...fields }],
});

describe('a played run with a sub-workflow', () => {
  test('plays it, with its own gates and mocks', async () => {
    const mocks = { nodes: { 'Charge/t': ({ url }: { url?: unknown }) => ({ url }) } };
    const options = { input: { n: 5 }, mocks, workflows: { Charge: child } };
    const paused = await play(parent(), options);
    expect(paused).toMatchObject({
      status: 'paused',
      gates: [{ workflow: 'Charge', node_id: 'g', prompt: 'Charge 5?' }],
    });
    const run = await play(parent(), { ...options, decisions: { 'Charge/g': 'approve' } });
    expect(run.output).toEqual({ pay: { t: { url: 'https://bank.test/5' } } });
    expect(run.steps[0]!.child!.steps.map(({ step_key }) => step_key)).toEqual(['g', 't']);
  });

  test('resumes it when it is retried', async () => {
    const run = await play(parent({ retry: { max_attempts: 2 } }), {
      input: { n: 5 },
      workflows: { Charge: child },
      decisions: { 'Charge/g': ['approve'] },
      mocks: { nodes: { 'Charge/t': attempts(failure('busy'), { ok: true }) } },
    });
    expect(run.output).toEqual({ pay: { t: { ok: true } } });
    expect(run.steps[0]).toMatchObject({
      attempts: [
        { outcome: 'failed', error: "The run of 'Charge' failed: Node 't' failed: busy" },
        { outcome: 'success' },
      ],
    });
  });

  test('fails with it, without a retry after a rejection', async () => {
    const run = await play(parent({ retry: { max_attempts: 3 } }), {
      input: { n: 5 },
      workflows: { Charge: child },
      decisions: { 'Charge/g': { approved: false, reason: 'No' } },
    });
    expect(run.error).toBe(
      "Node 'pay' failed: The run of 'Charge' failed: Rejected at gate 'g': No",
    );
    expect(run.steps[0]).toMatchObject({ attempt: 1, error_kind: 'child' });
  });

  test('refuses an input that does not fit the schema', async () => {
    const run = await play(parent(), { input: { n: 'x' }, workflows: { Charge: child } });
    expect(run.steps[0]).toMatchObject({
      error: 'Invalid input: input.amount must be a number, not a text',
      error_kind: 'child',
    });
  });

  test('takes a mock of it, by workflow or by node', async () => {
    const input = { n: 5 };
    const whole = await play(parent(), {
      ...{ input, workflows: { Charge: ({ amount }: { amount?: unknown }) => ({ amount }) } },
    });
    expect(whole.output).toEqual({ pay: { amount: 5 } });
    const one = await play(parent(), { input, mocks: { nodes: { pay: failure('down') } } });
    expect(one.error).toBe("Node 'pay' failed: The run of 'Charge' failed: down");
  });
});
