import { describe, expect, test } from '@jest/globals';
import type { Step } from '#client/index.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';
import { treeKey } from '#console/src/parts/data/tree-keys.ts';
import { barsOf } from '#console/src/pages/runs/trace/bars.ts';
import { itemsOf } from '#console/src/pages/runs/items.ts';
import {
  everyRow,
  failedSteps,
  matchCount,
  pathTo,
  type TraceChoice,
  traceRows,
} from '#console/src/pages/runs/trace/rows.ts';
import { sumsOf, type TraceNode, traceTree } from '#console/src/pages/runs/trace/tree.ts';
import { failingStep } from '#console/src/pages/runs/run-facts.ts';
import { timelineOf } from '#console/src/pages/runs/timeline/timeline.ts';
import { at, BEGIN, run, step } from './run-samples.ts';

/** A loop of two nodes, and in it a map of one. */
const drawing = drawingOf({
  nodes: [
    { id: 'first', kind: 'agent' },
    { id: 'rounds', kind: 'loop' },
    { id: 'ask', kind: 'agent' },
    { id: 'each', kind: 'map' },
    { id: 'item', kind: 'tool' },
    { id: 'end', kind: 'agent' },
  ],
  edges: [
    { source: 'first', target: 'rounds' },
    { source: 'rounds', target: 'ask', condition_value: 'true' },
    { source: 'ask', target: 'each' },
    { source: 'each', target: 'item', condition_value: 'true' },
    { source: 'item', target: 'each' },
    { source: 'each', target: 'rounds', condition_value: 'false' },
    { source: 'rounds', target: 'end', condition_value: 'false' },
  ],
});

const steps: Step[] = [
  step({ node_id: 'first', cost_usd: 3, duration_ms: 50 }),
  step({ node_id: 'rounds', kind: 'loop', status: 'failed', duration_ms: 900 }),
  step({ node_id: 'ask', iteration: [1], cost_usd: 1, started_at: at(100), finished_at: at(200) }),
  step({ node_id: 'each', kind: 'map', iteration: [1] }),
  step({ node_id: 'item', kind: 'tool', iteration: [1, 1], cost_usd: 0.5 }),
  step({ node_id: 'item', kind: 'tool', iteration: [1, 2], cost_usd: 0.5, duration_ms: 700 }),
  step({ node_id: 'ask', iteration: [2], status: 'failed', error: 'Too LATE', cost_usd: 1 }),
  step({ node_id: 'end', status: 'skipped' }),
];

/** The tree as lines, two spaces for each level. */
const drawn = (nodes: readonly TraceNode[], level = 0): string[] =>
  nodes.flatMap((node) => [
    `${'  '.repeat(level)}${nameOf(node)}`,
    ...drawn(node.children, level + 1),
  ]);

function nameOf(node: TraceNode): string {
  switch (node.type) {
    case 'step':
      return node.id;
    case 'iteration':
      return `iteration ${node.iteration}`;
    case 'attempt':
      return `attempt ${node.attempt.attempt}`;
    case 'child':
      return node.runId;
  }
}

/** The tree, with the graph or without. */
const treeOf = (of: Step[], known?: typeof drawing): TraceNode[] =>
  traceTree(of, itemsOf({ steps: of }, known));

const tree = treeOf(steps, drawing);
const rowsOf = (choice: Partial<TraceChoice>, open = true): string[] =>
  traceRows(tree, { ...everyRow, ...choice }, () => open).map(
    ({ node, level }) => `${'  '.repeat(level - 1)}${nameOf(node)}`,
  );

describe('the tree of a run', () => {
  test('has the steps of each iteration inside it, and no iterations for a body of one node', () => {
    expect(drawn(tree)).toEqual([
      'first',
      'rounds',
      '  iteration 1',
      '    ask#1',
      '    each#1',
      '      item#1.1',
      '      item#1.2',
      '  iteration 2',
      '    ask#2',
      'end',
    ]);
  });

  test('has every step once, even without the graph or with missing steps', () => {
    const keys = steps.map(({ step_key }) => step_key);
    expect(drawn(treeOf(steps))).toEqual(keys);
    const withoutLoop = steps.filter(({ node_id }) => node_id !== 'rounds');
    expect(drawn(treeOf(withoutLoop, drawing)).map((line) => line.trim())).toEqual(
      withoutLoop.map(({ step_key }) => step_key),
    );
  });

  test('has attempts, turns, calls and child runs inside their step', () => {
    const attempt = (number: number, outcome: 'failed' | 'success') => ({
      attempt: number,
      outcome,
      started_at: at(number * 10),
      finished_at: at(number * 10 + 5),
      duration_ms: 5,
      error: outcome === 'failed' ? 'refused' : null,
      cost_usd: 0,
    });
    const part = (key: string, more: Partial<Step>) =>
      step({ node_id: 'a', step_key: key, parent_step_key: 'a', ...more });
    const agent = step({
      node_id: 'a',
      attempts: [attempt(1, 'failed'), attempt(2, 'success')],
      child_run_id: 'run_child',
    });
    const call = (index: number) =>
      part(`a/1.${index}`, { turn: 1, tool_call: { tool: 't', index } });
    const parts = [agent, part('a/2', { turn: 2 }), part('a/1', { turn: 1 }), call(2), call(1)];
    expect(drawn(treeOf(parts, drawing))).toEqual([
      'a',
      '  attempt 1',
      '  attempt 2',
      '  run_child',
      '  a/1',
      '    a/1.1',
      '    a/1.2',
      '  a/2',
    ]);
    const timeline = timelineOf(run(parts, { finished_at: at(100) }), 0);
    const [root] = treeOf(parts, drawing);
    const tried = barsOf(timeline)
      .segmentsOf(root!)
      .filter(({ phase }) => phase === 'tried');
    expect(tried.map(({ from, to }) => [from - BEGIN, to - BEGIN])).toEqual([[10, 15]]);
    // The error of an attempt that a later one has replaced is found, too.
    const found = { ...everyRow, text: 'REFUSED' };
    expect(matchCount(treeOf(parts, drawing), found)).toBe(1);
  });

  test('sums up each iteration, including inner ones', () => {
    const [, rounds] = tree;
    const [one, two] = rounds!.children;
    expect(sumsOf(one!)).toMatchObject({ cost: 2, status: 'success', to: BEGIN + 200 });
    expect(sumsOf(two!)).toMatchObject({ cost: 1, status: 'failed' });
  });

  test('leads to the step that failed by itself', () => {
    expect(failedSteps(tree).map(({ id }) => id)).toEqual(['ask#2']);
    expect(failingStep(run(steps))).toBe('ask#2');
    expect(pathTo(tree, 'ask#2')).toEqual(['rounds', 'rounds\n2']);
    expect(pathTo(tree, 'nothing')).toBeUndefined();
    const caught = [
      step({ node_id: 'a', status: 'failed' }),
      step({ node_id: 'b', status: 'failed', caught: true }),
    ];
    expect(failingStep(run(caught))).toBe('a');
    const failure = { kind: 'node' as const, node_id: 'first' };
    const both = [step({ node_id: 'first', status: 'failed' }), ...steps.slice(1)];
    expect(failingStep(run(both, { failure }))).toBe('first');
    expect(failingStep(run([]))).toBeUndefined();
  });
});

describe('the rows of a trace', () => {
  test('are the open part of the tree', () => {
    expect(rowsOf({}, false)).toEqual(['first', 'rounds', 'end']);
    const [first, rounds] = traceRows(tree, everyRow, () => false);
    expect(first).toMatchObject({ open: undefined, place: 1, of: 3 });
    expect(rounds).toMatchObject({ open: false, place: 2, of: 3 });
  });

  test('are filtered by text and status, with each match inside its parent rows', () => {
    expect(rowsOf({ text: ' late ' }, false)).toEqual(['rounds', '  iteration 2', '    ask#2']);
    expect(rowsOf({ status: 'skipped' })).toEqual(['end']);
    expect(rowsOf({ text: 'ask', status: 'skipped' })).toEqual([]);
  });

  test('are flat in any other order, open durations first', () => {
    expect(rowsOf({ order: 'cost' }).slice(0, 3)).toEqual(['first', 'ask#1', 'ask#2']);
    expect(rowsOf({ order: 'duration' }).slice(0, 2)).toEqual(['rounds', 'item#1.2']);
    expect(rowsOf({ order: 'cost', status: 'failed' })).toEqual(['ask#2', 'rounds']);
  });
});

describe('the keys of the tree', () => {
  const rows = traceRows(tree, everyRow, () => true);
  const closed = traceRows(tree, everyRow, () => false);
  const key = (name: string, row: number | undefined, of = rows) => treeKey(name, of, row, 5);

  test('move, and stay within the rows', () => {
    expect(key('ArrowDown', undefined)).toEqual({ to: 0 });
    expect(key('ArrowUp', 0)).toEqual({ to: 0 });
    expect(key('PageDown', 7)).toEqual({ to: 9 });
    expect(key('End', 0)).toEqual({ to: 9 });
    expect(key('ArrowDown', 0, [])).toBeUndefined();
    expect(key('x', 0)).toBeUndefined();
  });

  test('open and close, then go in and out', () => {
    expect(key('ArrowRight', 1, closed)).toEqual({ open: true, row: closed[1] });
    expect(key('ArrowRight', 1)).toEqual({ to: 2 });
    expect(key('ArrowRight', 0)).toBeUndefined();
    expect(key('ArrowLeft', 1)).toEqual({ open: false, row: rows[1] });
    expect(key('ArrowLeft', 6)).toEqual({ to: 4 });
    expect(key('ArrowLeft', 0)).toBeUndefined();
    expect(key('Enter', 3)).toEqual({ choose: rows[3] });
  });
});
