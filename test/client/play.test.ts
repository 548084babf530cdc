import { describe, expect, test } from '@jest/globals';
import { after, attempts, failure, play, type PlayedRun } from '#client/testing.ts';
import { workflow } from '#client/builder.ts';
import { draw } from '#test/graph/drawing.ts';

const statuses = ({ steps }: PlayedRun): string[] =>
  steps.map(({ step_key, status }) => `${step_key} ${status}`);

const stepOf = ({ steps }: PlayedRun, key: string) =>
  steps.find(({ step_key }) => step_key === key)!;

describe('a played run', () => {
  test('has the output, the state and the steps of a workflow from the builder', async () => {
    const built = workflow('Answer', (chain) =>
      chain
        .tool('order', {
          tool_name: 'http_request',
          params: { url: 'https://shop.test/orders/{id}' },
        })
        .condition('paid', 'order.body.paid', {
          true: (paid) => paid.agent('thank', { model: 'openai/gpt-5', prompt: 'Thank {name}' }),
          false: (unpaid) =>
            unpaid.tool('remind', {
              tool_name: 'send_email',
              params: { to: 'a@b.test', subject: 'Pay', text: 'Please, {name}' },
            }),
        }),
    );
    const run = await play(built, {
      input: { id: 7, name: 'Ada' },
      mocks: {
        nodes: { thank: ({ prompt }) => `asked: ${JSON.stringify(prompt)}` },
        tools: {
          http_request: (args: object) => ({ status: 200, body: { paid: true }, args }),
        },
      },
    });
    expect(run).toMatchObject({
      status: 'success',
      output: { thank: 'asked: "Thank Ada"' },
      state: { id: 7, name: 'Ada', order: { args: { url: 'https://shop.test/orders/7' } } },
      ...{ gates: [], waits: [], error: null, failure: null },
    });
    expect(statuses(run)).toEqual([
      'order success',
      'paid success',
      'remind skipped',
      'thank success',
    ]);
    expect(stepOf(run, 'thank')).toMatchObject({
      ...{ kind: 'agent', attempt: 1, output: 'asked: "Thank Ada"' },
      input: { model: 'openai/gpt-5', prompt: 'Thank Ada' },
    });
  });

  test('retries with the backoff of the node, on the virtual clock', async () => {
    const graph = draw('t', {
      t: { retry: { max_attempts: 3, initial_interval_seconds: 10, backoff: 3 } },
    });
    const mock = attempts(failure('busy'), failure('busy'), after(5, { ok: true }));
    const run = await play(graph, {
      clock: { start: '2026-05-01T12:00:00Z' },
      mocks: { nodes: { t: mock } },
    });
    expect(run.output).toEqual({ t: { ok: true } });
    expect(
      stepOf(run, 't').attempts.map(({ outcome, started_at, duration_ms, error }) => [
        ...[outcome, started_at.slice(11, 19), duration_ms, error],
      ]),
    ).toEqual([
      ['failed', '12:00:00', 0, 'busy'],
      ['failed', '12:00:10', 0, 'busy'],
      ['success', '12:00:40', 5_000, null],
    ]);
    expect(run.finished_at).toBe('2026-05-01T12:00:45.000Z');
  });

  test('follows error edges with the error, its kind and the number of attempts', async () => {
    const graph = draw('t -error-> a\nt -> b', { t: { retry: { max_attempts: 2 } } });
    const run = await play(graph, { mocks: { nodes: { t: failure('gone'), a: 'sorry' } } });
    expect(statuses(run)).toEqual(['t failed', 'b skipped', 'a success']);
    expect(stepOf(run, 't')).toMatchObject({ caught: true, error: 'gone', error_kind: 'node' });
    expect(run.state).toMatchObject({
      t: { error: { message: 'gone', kind: 'node', attempts: 2 } },
      a: 'sorry',
    });
  });

  test.each([
    ['that is final', failure('no', { retryable: false }), 1, 'no', 'node'],
    [
      'of a kind',
      failure('denied', { error_kind: 'policy', retryable: false }),
      1,
      'denied',
      'policy',
    ],
    ['after the timeout', after(61, 'late'), 3, 'Timed out after 60 s', 'timeout'],
  ])('fails with an error %s', async (_what, mock, count, error, error_kind) => {
    const graph = draw('t -> a', { t: { retry: { max_attempts: 3 }, label: 'Ask' } });
    const run = await play(graph, { mocks: { nodes: { t: mock } } });
    expect(run).toMatchObject({
      ...{ status: 'failed', output: null, error: `Node 'Ask' failed: ${error}` },
      failure: { kind: 'node', node_id: 't' },
    });
    expect(stepOf(run, 't')).toMatchObject({ attempt: count, error, error_kind });
    expect(statuses(run)).toEqual(['t failed']);
  });

  test('repeats loops, runs the items of maps and merges branches', async () => {
    const graph = draw('l -true-> a\na -> l\nl -> p\np -true-> t\nt -> p\np -> m\nl -> b\nb -> m', {
      l: { expression: 'l.iterations < 3', max_iterations: 5 },
      p: { items: '[1, 2]', on_item_error: 'collect' },
      t: { params: { url: 'https://tool.test/{p.item}' } },
    });
    const run = await play(graph, {
      mocks: {
        nodes: {
          a: (_args, { iteration, state }) => {
            // A copy, so that nothing changes in the run.
            state['l'] = 'changed';
            return iteration[0];
          },
          b: 'beside',
          t: ({ url }, { iteration }) => (iteration[0] === 2 ? failure('odd') : { url }),
        },
      },
    });
    expect(run.status).toBe('success');
    expect(run.state).toMatchObject({ a: 3, l: { iterations: 3 } });
    expect(run.output).toEqual({
      m: {
        b: 'beside',
        p: [
          { url: 'https://tool.test/1' },
          { error: { message: 'odd', kind: 'node', attempts: 1 } },
        ],
      },
    });
  });

  test('pauses at a gate without a decision, and continues when it is played again with one', async () => {
    const graph = draw('t -> g\ng -true-> a\ng -false-> b', {
      g: { prompt: 'Pay {t.amount}?', title: 'Payment of {t.amount}', label: 'Pay' },
    });
    const options = { mocks: { nodes: { t: { amount: 12 }, a: 'paid', b: 'kept' } } };
    const paused = await play(graph, options);
    expect(paused).toMatchObject({
      ...{ status: 'paused', output: null, state: { t: { amount: 12 } } },
      gates: [{ kind: 'human_gate', node_id: 'g', title: 'Payment of 12', prompt: 'Pay 12?' }],
    });
    expect(statuses(paused)).toEqual(['t success', 'g paused']);
    const approved = await play(graph, { ...options, decisions: { g: 'approve' } });
    expect(approved.output).toEqual({ a: 'paid' });
    const rejected = await play(graph, {
      ...options,
      decisions: { g: ({ title }) => ({ approved: title !== 'Payment of 12' }) },
    });
    expect(rejected.output).toEqual({ b: 'kept' });
  });
});
