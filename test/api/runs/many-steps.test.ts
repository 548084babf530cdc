import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Step } from '#shared/contract/steps/step.ts';
import { sql } from '#shared/db/pool.ts';
import { MAX_STEPS_IN_RUN } from '#shared/limits.ts';
import { addMember } from '#test/support/people.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const ITEMS = 1_500;

const api = useTestApi();
let runId: string;
beforeAll(async () => {
  const graph = {
    nodes: [
      { id: 'all', kind: 'map', items: 'list' },
      { id: 'one', kind: 'tool', tool_name: 'json_transform', params: { expression: '1' } },
      { id: 'two', kind: 'agent', prompt: 'x' },
      { id: 'end', kind: 'agent', prompt: 'x' },
    ],
    edges: [
      { source: 'all', target: 'one', condition_value: 'true' },
      ...[
        ['one', 'two'],
        ['two', 'all'],
        ['all', 'end'],
      ].map(([source, target]) => ({ source, target })),
    ],
  };
  const workflow = await api.call('POST', '/api/workflows', { name: 'Many', graph });
  const run = await api.call('POST', `/api/workflows/${workflow.body.id}/runs`, { list: [] });
  runId = run.body.id;
  // As the engine leaves them: the map first, its items, then what comes after it. Item 7 has failed in its second step.
  await api.db.query(sql.unsafe`
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, caught, output, finished_at)
    SELECT ${runId}, n.id || '#' || i, n.id, n.id, n.kind, ARRAY[i], n.id, i * 2 + n.at,
           CASE WHEN i = 7 AND n.id = 'two' THEN 'failed' ELSE 'success' END, i = 7 AND n.id = 'two', '1', clock_timestamp()
    FROM generate_series(1, ${ITEMS}::int) i, (VALUES ('one', 'tool', 1), ('two', 'agent', 2)) n(id, kind, at)`);
  await api.db.query(sql.unsafe`
    INSERT INTO steps (run_id, step_key, node_id, label, kind, output_key, ordinal, status, output, finished_at)
    VALUES (${runId}, 'all', 'all', 'all', 'map', 'all', 1, 'success', '["done"]', clock_timestamp()),
           (${runId}, 'end', 'end', 'end', 'agent', 'end', 9000, 'success', '"over"', clock_timestamp())`);
  await api.db.query(sql.unsafe`
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, ordinal, status, output, parent_step_key, turn, cost_micros)
    VALUES (${runId}, 'two#1~9', 'two', 'two', 'agent', ARRAY[1], 9001, 'success', '{"text": "", "calls": []}', 'two#1', 1, 7)`);
});

const steps = async (query: string) => api.call('GET', `/api/runs/${runId}/steps?${query}`);

describe('a run with many steps', () => {
  test('has the first steps, including those outside iterations, and their total', async () => {
    const { body: run } = await api.call('GET', `/api/runs/${runId}`);
    expect(run.steps).toHaveLength(MAX_STEPS_IN_RUN);
    const keys = run.steps.map(({ step_key }: Step) => step_key);
    expect([keys[0], keys[1], keys.at(-1)]).toEqual(['all', 'one#1', 'end']);
    expect(run.step_counts).toEqual([
      { node_id: 'all', label: 'all', kind: 'map', total: 1, by_status: { success: 1 }, caught: 0 },
      {
        ...{ node_id: 'one', label: 'one', kind: 'tool', total: ITEMS, caught: 0 },
        by_status: { success: ITEMS },
      },
      {
        ...{ node_id: 'two', label: 'two', kind: 'agent', total: ITEMS, caught: 1 },
        by_status: { success: ITEMS - 1, failed: 1 },
      },
      {
        node_id: 'end',
        label: 'end',
        kind: 'agent',
        total: 1,
        by_status: { success: 1 },
        caught: 0,
      },
    ]);
    // What items write is in their own layer, also when their steps are not read.
    expect(run.state).toEqual({ list: [], all: ['done'], end: 'over' });
    // The turn of the first agent is the last step of the run.
    expect(run.steps.find(({ step_key }: Step) => step_key === 'two#1').cost_usd).toBe(0.000_007);
  });

  test('has the others on the following pages, each once', async () => {
    const { body: run } = await api.call('GET', `/api/runs/${runId}`);
    const keys = new Set<string>(run.steps.map(({ step_key }: Step) => step_key));
    let count = keys.size;
    for (let cursor = run.steps_next_cursor; cursor !== null;) {
      const { status, body } = await steps(`limit=200&cursor=${cursor}`);
      expect(status).toBe(200);
      const page: Step[] = body.steps;
      for (const step of page) keys.add(step.step_key);
      count += page.length;
      cursor = body.next_cursor;
    }
    expect([count, keys.size]).toEqual([2 * ITEMS + 3, 2 * ITEMS + 3]);
    const first = await steps('limit=3');
    expect(first.body.steps.map(({ step_key }: Step) => step_key)).toEqual(['all', 'end', 'one#1']);
  });

  test('has pages of one node, of one status, and single steps', async () => {
    const failed = await steps('node_id=two&status=failed');
    expect(failed.body).toMatchObject({ steps: [{ step_key: 'two#7' }], next_cursor: null });
    const single = await steps(`step_key=${encodeURIComponent('one#1400')}`);
    expect(single.body.steps).toMatchObject([{ step_key: 'one#1400', iteration: [1400] }]);
    expect((await steps('status=paused')).body).toEqual({ steps: [], next_cursor: null });
  });

  test('refuses a cursor of another list, and an unknown run', async () => {
    for (const cursor of ['x', Buffer.from('[1,"run_1"]').toString('base64url')]) {
      expect(await steps(`cursor=${cursor}`)).toMatchObject({
        status: 400,
        body: { detail: 'cursor: not a cursor of this list' },
      });
    }
    expect(await api.call('GET', '/api/runs/run_none/steps')).toMatchObject({
      status: 404,
      body: { detail: 'Run not found' },
    });
  });

  test('a run with few steps has all of them', async () => {
    const workflow = await api.call('POST', '/api/workflows', { name: 'Few', graph: oneStep });
    const { body } = await api.call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
    const { body: run } = await api.call('GET', `/api/runs/${body.id}`);
    expect(run).toMatchObject({ steps_next_cursor: null, step_counts: null });
  });
});

describe('a run with large payloads', () => {
  const TEXT = `{"exact": 1.50, "list": [${'0, '.repeat(20_000)}0]}`;
  let large: string;
  beforeAll(async () => {
    const agent = (id: string) => ({ id, kind: 'agent', prompt: 'x' });
    const graph = { nodes: [agent('a'), agent('b')], edges: [{ source: 'a', target: 'b' }] };
    const workflow = await api.call('POST', '/api/workflows', { name: 'Large', graph });
    const input = { list: Array.from({ length: 10_000 }, () => 0) };
    const run = await api.call('POST', `/api/workflows/${workflow.body.id}/runs`, input);
    large = run.body.id;
    await api.db.query(sql.unsafe`
      INSERT INTO steps (run_id, step_key, node_id, label, kind, ordinal, status, output, finished_at)
      VALUES (${large}, 'a', 'a', 'a', 'agent', 1, 'success', ${TEXT}, clock_timestamp()),
             (${large}, 'b', 'b', 'b', 'agent', 2, 'running', NULL, NULL)`);
  });
  const times = (text: string) => text.split(TEXT).length - 1;

  test('is sent with its payloads as stored, to approvers and others', async () => {
    const viewer = await addMember(api, { role: 'viewer' });
    for (const headers of [{}, viewer.headers]) {
      const { body, text } = await api.call('GET', `/api/runs/${large}`, undefined, headers);
      expect(times(text)).toBe(2);
      expect(body.steps[0].output.exact).toBe(1.5);
      expect(Object.keys(body.state)).toEqual(['list', 'a']);
      expect(body.state.list).toHaveLength(10_000);
      const steps = await api.call('GET', `/api/runs/${large}/steps`, undefined, headers);
      expect([times(steps.text), steps.body.steps.length]).toEqual([1, 2]);
    }
  });

  test('is forked with them, and their text is in the response', async () => {
    const { status, body, text } = await api.call('POST', `/api/runs/${large}/fork`, {
      from_step: 'b',
    });
    expect([status, times(text), body.not_reused]).toEqual([201, 2, []]);
    expect(body.steps[0]).toMatchObject({ step_key: 'a', reused_from: large });
  });

  test('is read as a tool of MCP with the same values', async () => {
    const { body } = await api.call('POST', '/api/mcp', {
      ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
      params: { name: 'get_run', arguments: { run_id: large } },
    });
    const run = body.result.structuredContent;
    expect(run.steps[0].output.exact).toBe(1.5);
    expect(run.state.a.exact).toBe(1.5);
  });
});
