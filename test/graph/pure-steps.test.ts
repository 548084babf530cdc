import { expect, test } from '@jest/globals';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { compileGraph } from '#shared/graph/compile.ts';
import { createScheduler } from '#shared/graph/schedule/scheduler.ts';
import type { JsonObject } from '#shared/json.ts';
import { approvedEffects } from './asked-gate.ts';

const tool = (id: string, tool_name: string, params: JsonObject, more: object = {}) => ({
  ...{ id, kind: 'tool', tool_name, params },
  ...more,
});
const compute = (expression: string, output_key = 'sum') =>
  tool('compute', 'json_transform', { expression }, { output_key });
const get = (id: string, more: object = {}) =>
  tool(id, 'http_request', { url: 'https://bank.test/' }, more);
const pay = tool('pay', 'http_request', {
  ...{ url: 'https://bank.test/', method: 'POST' },
  body: '{sum}',
});
const edges = [
  { source: 'review', target: 'compute' },
  { source: 'compute', target: 'pay' },
];

/** What an approval pays, after the steps that are ready beside the gate have ended, one after another. */
function paidBy(nodes: object[], more: object[] = [], ended: string[] = []) {
  const graph = graphSchema.parse({
    nodes: [{ id: 'review', kind: 'human_gate' }, ...nodes, pay],
    edges: [...edges, ...more],
  });
  const compiled = compileGraph(graph);
  const scheduler = createScheduler(compiled, { amount: 2, text: 'x'.repeat(1_000) });
  for (const key of ended) {
    scheduler.takeReady(Infinity);
    scheduler.complete(key, 'of another step');
  }
  scheduler.takeReady(Infinity);
  const effects = approvedEffects(graph, scheduler);
  const { arguments: args, unknown } = effects.find(({ node_id }) => node_id === 'pay')!;
  return unknown.length > 0 ? unknown : args['body'];
}

const UNKNOWN = [{ path: ['body'], reads: ['sum'] }];

test('an output that a pure step computes from known values is known', () => {
  expect(paidBy([compute('amount * 2')])).toBe(4);
});

test('an output that a pure step computes from a later read is not known', () => {
  const more = [{ source: 'read', target: 'compute' }];
  expect(paidBy([get('read'), compute('read.body')], more)).toEqual(UNKNOWN);
});

test('an output that cannot be computed, or is too large, is not known', () => {
  expect(paidBy([compute('1 / 0')])).toEqual(UNKNOWN);
  const texts = (count: number) => `[${Array.from({ length: count }, () => 'text').join(', ')}]`;
  expect(paidBy([compute(texts(90))])).toHaveLength(90);
  expect(paidBy([compute(texts(101))])).toEqual(UNKNOWN);
});

test('an output that does not win over an earlier one of another step is not known', () => {
  const nodes = [get('first'), compute('amount * 2'), get('second', { output_key: 'sum' })];
  const more = [{ source: 'first', target: 'second' }];
  expect(paidBy(nodes, more)).toEqual(UNKNOWN);
  expect(paidBy(nodes, more, ['first', 'second'])).toEqual(UNKNOWN);
});
