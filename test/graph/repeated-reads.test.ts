import { describe, expect, test } from '@jest/globals';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { pathsReadBy } from '#shared/graph/expression/read-paths.ts';
import { type FinishedStep, gateReads } from '#shared/graph/gates/repeated-reads.ts';

const paths = (text: string, language: 'expression' | 'template' = 'expression') =>
  pathsReadBy({ language, text, path: '' });

test.each([
  [
    'a.b.c + a["d"]',
    [
      ['a', 'b', 'c'],
      ['a', 'd'],
    ],
  ],
  ['list[0].price', [['list', 0, 'price']]],
  ['list[at].price', [['list'], ['at']]],
  ['list[at.x].price.more', [['list'], ['at', 'x']]],
  ['len(a.b) > 1 and not c', [['a', 'b'], ['c']]],
  ['[a, 1, -b]', [['a'], ['b']]],
])('%s reads %j', (text, expected) => {
  expect(paths(text)).toEqual(expected);
});

test('a template reads the paths of its references', () => {
  expect(paths("Pay {a.b[1]} to {c['d e']}{{x}}", 'template')).toEqual([
    ['a', 'b', 1],
    ['c', 'd e'],
  ]);
});

const get = (id: string, params: object = {}) => ({
  ...{ id, kind: 'tool', tool_name: 'http_request' },
  params: { url: 'https://far.test/', ...params },
});
const compute = (id: string, expression: string) => ({
  ...{ id, kind: 'tool', tool_name: 'json_transform', params: { expression } },
});
const edge = (source: string, target: string, condition_value?: string) => ({
  ...{ source, target },
  ...(condition_value === undefined ? {} : { condition_value }),
});
const gate = (prompt: string) => ({ id: 'gate', kind: 'human_gate', prompt });
const done = (step_key: string, keys?: string[]): FinishedStep => {
  const [node_id = '', iteration = ''] = step_key.split('#');
  const numbers = iteration === '' ? [] : iteration.split('.').map(Number);
  return { step_key, node_id, iteration: numbers, ...(keys === undefined ? {} : { keys }) };
};

function readsOf(
  { nodes, edges }: { nodes: object[]; edges: object[] },
  steps: FinishedStep[],
  rest: { effects?: Parameters<typeof gateReads>[0]['effects']; iteration?: number[] } = {},
) {
  const { reads, not_repeated } = gateReads({
    graph: { nodes, edges } as Graph,
    gate: { node_id: 'gate', iteration: rest.iteration ?? [] },
    effects: rest.effects ?? [],
    steps,
    reading: (nodes as Graph['nodes']).flatMap((node) =>
      node.kind === 'tool' && node.params['method'] === undefined ? [node.id] : [],
    ),
  });
  return {
    reads: Object.fromEntries(reads.map(({ step_key, paths: each }) => [step_key, each])),
    others: not_repeated.map(({ step_key }) => step_key),
  };
}

describe('the reads of a gate', () => {
  test('computed values and conditions lead to what they read', () => {
    const nodes = [get('a'), compute('b', 'a.body.x + limit'), compute('c', 'b * 2'), gate('{c}')];
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'gate')];
    const { reads } = readsOf({ nodes, edges }, [done('a'), done('b'), done('c')]);
    expect(reads).toEqual({ a: [['body', 'x']] });
  });

  test('the last writer in graph order counts, and what a person wrote leads to nothing', () => {
    const nodes = [
      get('a'),
      { ...get('b'), output_key: 'a' },
      { id: 'ask', kind: 'human_gate', prompt: '' },
      gate('{a.x} {who}'),
    ];
    const edges = [edge('a', 'b'), edge('b', 'ask'), edge('ask', 'gate', 'true')];
    const steps = [done('b'), done('a')];
    expect(readsOf({ nodes, edges }, [...steps, done('ask', ['ask'])]).reads).toEqual({
      b: [['x']],
    });
    expect(readsOf({ nodes, edges }, [...steps, done('ask', ['a', 'ask'])]).reads).toEqual({});
  });

  test('the items of a map see their own writes, and its output has those of all items', () => {
    const each = { id: 'each', kind: 'map', items: 'list.body' };
    const body = [edge('list', 'each'), edge('each', 'one', 'true')];
    const outside = {
      nodes: [get('list'), each, get('one'), gate('{each[1].price} {each[0]}')],
      edges: [...body, edge('one', 'each'), edge('each', 'gate')],
    };
    const steps = [done('list'), done('one#1'), done('one#2'), done('each')];
    expect(readsOf(outside, steps).reads).toEqual({ 'one#2': [['price']], 'one#1': [[]] });
    const inside = {
      nodes: [get('list'), each, get('one'), gate('{one.body} {each.item.name}')],
      edges: [...body, edge('one', 'gate'), edge('gate', 'each', 'true')],
    };
    expect(readsOf(inside, steps.slice(0, 3), { iteration: [2] }).reads).toEqual({
      'one#2': [['body']],
      list: [['body']],
    });
  });

  test('a loop has the value of its last iteration', () => {
    const nodes = [
      { id: 'loop', kind: 'loop', expression: 'true' },
      get('one'),
      gate('{one.status}'),
    ];
    const edges = [edge('loop', 'one', 'true'), edge('one', 'loop'), edge('loop', 'gate')];
    const steps = [done('one#2'), done('one#1'), done('loop')];
    expect(readsOf({ nodes, edges }, steps).reads).toEqual({ 'one#2': [['status']] });
  });

  test('known arguments of effects count, through what is computed after the gate, and unknown ones do not', () => {
    const send = get('send', { method: 'POST', body: { sum: '{sum}', note: '{b} {late}' } });
    const nodes = [get('a'), get('b'), gate(''), compute('sum', 'a.body.price'), send];
    const edges = [
      ...[edge('a', 'gate'), edge('b', 'gate'), edge('gate', 'sum', 'true'), edge('sum', 'send')],
    ];
    const effects = [{ node_id: 'send', step_key: 'send', unknown: [{ path: ['body', 'note'] }] }];
    const steps = [done('a'), done('b')];
    expect(readsOf({ nodes, edges }, steps, { effects }).reads).toEqual({ a: [['body', 'price']] });
    const known = [{ ...effects[0]!, unknown: [] }];
    expect(readsOf({ nodes, edges }, steps, { effects: known }).reads).toEqual({
      a: [['body', 'price']],
      b: [[]],
    });
  });

  test('agents, workflows and writes are named', () => {
    const nodes = [
      { id: 'think', kind: 'agent', prompt: '' },
      { id: 'child', kind: 'workflow', workflow: 'x', input: {} },
      get('post', { method: 'POST' }),
      { id: 'join', kind: 'merge' },
      gate('{join.think} {join.child} {join.post}'),
    ];
    const edges = [
      ...['think', 'child', 'post'].map((id) => edge(id, 'join')),
      edge('join', 'gate'),
    ];
    const steps = ['think', 'child', 'post', 'join'].map((key) => done(key));
    expect(readsOf({ nodes, edges }, steps)).toEqual({
      reads: {},
      others: ['think', 'child', 'post'],
    });
  });
});
