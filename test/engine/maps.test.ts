import { describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { decideGate } from '#shared/operations/runs/runs.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { hasContinuedAsNew } from '#test/support/executions.ts';

const engine = useEngine();
const tools = useToolServer();

type Node = NonNullable<GraphInput['nodes']>[number];
type Edge = NonNullable<GraphInput['edges']>[number];

const map = (rest: object = {}) =>
  ({ id: 'map', kind: 'map', items: 'list', ...rest }) as Node & { id: string };
const start = async (nodes: Node[], edges: Edge[], input: JsonObject) =>
  engine.trigger(await engine.define({ nodes, edges }), input);
/** map -true-> body[0] -> ... -> map */
const mapOver = (list: unknown, body: (Node & { id: string })[], rest: object = {}) => {
  const around = ['map', ...body.map(({ id }) => id), 'map'];
  const edges = around
    .slice(1)
    .map((id, at) => (at === 0 ? edge('map', id, 'true') : edge(around[at]!, id)));
  return start([map(rest), ...body], edges, { list } as JsonObject);
};
const outputOf = ({ output }: { output: unknown }, key: string) => (output as JsonObject)[key];
const ended = (runId: string, ms?: number) => engine.until(runId, ['success', 'failed'], ms);
const tool = (name: string, rest: object = {}): Node & { id: string } => ({
  ...(tools.node(name) as object),
  ...{ params: { url: `${tools.url}/${name}?{map.item}`, method: 'POST' } },
  ...(rest as Node),
  id: name,
});
const fromLedger = (runId: string) =>
  engine.db.query(sql.unsafe`UPDATE runs SET from_ledger = true WHERE id = ${runId}`);

describe('a map', () => {
  test('runs its body once for each item, each with its own layer of state', async () => {
    const body = [echo('a', 'map.item * 10'), echo('b', '[a, map.index, by]')];
    const runId = await mapOver([3, 1, 2], body, { concurrency: 2, output_key: 'out' });
    const run = await ended(runId);
    expect([run.error, run.output]).toEqual([
      null,
      {
        out: [
          [30, 0, null],
          [10, 1, null],
          [20, 2, null],
        ],
      },
    ]);
    expect(run.state).toEqual({ list: [3, 1, 2], out: outputOf(run, 'out') });
    expect(run.steps.map(({ step_key, status }) => `${step_key} ${status}`).sort()).toEqual([
      ...['a#1', 'a#2', 'a#3', 'b#1', 'b#2', 'b#3', 'map'].map((key) => `${key} success`),
    ]);
  });

  test.each<[string, unknown, string]>([
    ['a text', 'x', 'items gives a string: change the expression so that it gives a list'],
    ['null', null, 'items gives null: change the expression so that it gives a list'],
    [
      'too many items',
      Array.from({ length: 10_001 }, () => 0),
      'items gives a list of 10001: shorten it to at most 10000, or split it over several maps',
    ],
  ])('fails over %s', async (_, list, message) => {
    const run = await ended(await mapOver(list, [echo('a')]));
    expect([run.status, run.error]).toEqual(['failed', `Node 'map' failed: ${message}`]);
  });

  test('waits at the gate of each item, and the decision goes into that item', async () => {
    const gate = { id: 'gate', kind: 'human_gate', prompt: 'Send {map.item}?' } as const;
    const body = [echo('before'), gate, echo('a', '[map.item, note]')];
    const runId = await mapOver(['x', 'y'], body);
    const run = await engine.until(runId, ['paused']);
    expect(run.state).toEqual({ list: ['x', 'y'] });
    expect(run.pending_gates.map(({ prompt }) => prompt).sort()).toEqual(['Send x?', 'Send y?']);
    for (const stepKey of ['gate#2', 'gate#1']) {
      const decision = { approved: true, stepKey, input: { note: stepKey } };
      await decideGate(engine.deps, { actor: engine.actor, runId, ...decision });
    }
    expect((await ended(runId)).output).toEqual({
      map: [
        ['x', 'gate#1'],
        ['y', 'gate#2'],
      ],
    });
  });

  soakTest('filters items by a condition, thousands of them without a call', 70_000, async () => {
    const runId = await start(
      [
        map({ items: 'list' }),
        { id: 'c', kind: 'condition', expression: 'map.item > 8999' },
        echo('a', 'map.item'),
      ],
      [edge('map', 'c', 'true'), edge('c', 'a', 'true'), edge('a', 'map')],
      { list: Array.from({ length: 9_003 }, (_, at) => at) },
    );
    const run = await ended(runId, 60_000);
    expect(run.status).toBe('success');
    expect((outputOf(run, 'map') as unknown[]).filter((value) => value !== null)).toEqual([
      ...[9000, 9001, 9002],
    ]);
  });
});

describe('an item that fails', () => {
  test('is an error in the list with collect, and nothing else in it runs', async () => {
    const body = [mock('a', {}, { prompt: '{map.item.name}' }), tool('b')] as (Node & {
      id: string;
    })[];
    const list = [{ name: 'x' }, {}, { name: 'y' }];
    const run = await ended(await mapOver(list, body, { on_item_error: 'collect' }));
    expect(run.error).toBe(null);
    const [first, second, third] = outputOf(run, 'map') as JsonObject[];
    expect([first, third]).toMatchObject([{ status: 200 }, { status: 200 }]);
    expect(second).toMatchObject({ error: { kind: 'node', attempts: 1 } });
    expect(tools.calls('b')).toHaveLength(2);
    expect(run.steps.find(({ step_key }) => step_key === 'a#2')).toMatchObject({
      ...{ status: 'failed', caught: true },
    });
  });

  test.each([
    ['with its history', false],
    ['from the ledger', true],
  ])('fails the run, and a resume repeats only its step, %s', async (_, ledger) => {
    tools.answer('b', { status: 500 });
    const runId = await mapOver([1, 2, 3], [tool('a'), tool('b')], { concurrency: 2 });
    const failed = await ended(runId);
    expect([failed.status, failed.failure?.kind]).toEqual(['failed', 'node']);
    // No further item begins.
    expect(failed.steps.some(({ step_key }) => step_key === 'a#3')).toBe(false);
    const before = tools.calls('b').length;
    tools.answer('b', {});
    if (ledger) await fromLedger(runId);
    await engine.resume(runId);
    const run = await ended(runId);
    expect([run.status, tools.calls('a').length]).toEqual(['success', 3]);
    expect(tools.calls('b').length - before).toBeLessThanOrEqual(3);
  });
});

soakTest('a map of many items continues as new, and each item runs once', 70_000, async () => {
  const list = Array.from({ length: 400 }, (_, at) => at);
  const body = [tool('a'), echo('b', '[map.item, a.status]')];
  const runId = await mapOver(list, body, { concurrency: 25 });
  const run = await ended(runId, 60_000);
  expect(run.output).toEqual({ map: list.map((item) => [item, 200]) });
  const keys = tools.calls('a').map(({ headers }) => headers['idempotency-key']);
  expect([keys.length, new Set(keys).size]).toEqual([400, 400]);
  const handle = engine.deps.temporal.client.workflow.getHandle(runId);
  expect((await handle.describe()).historyLength).toBeLessThan(2_000);
  expect(await hasContinuedAsNew(engine, runId)).toBe(true);
});
