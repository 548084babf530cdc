import { describe, expect, test } from '@jest/globals';
import type { Evals } from '#shared/contract/workflows/evaluation-check.ts';
import {
  badnessOf,
  compareRuns,
  type Comparison,
  diffOutputs,
  type EndedRun,
  uncompared,
} from '#shared/graph/experiments/comparison.ts';
import type { Json } from '#shared/json.ts';

const evalsOf = (...passed: boolean[]): Evals => ({
  passed: passed.filter(Boolean).length,
  total: passed.length,
  results: passed.map((isPassed, index) => ({
    name: `check ${index + 1}`,
    type: 'contains',
    expected: 'x',
    passed: isPassed,
    actual: null,
  })),
});

const success = (output: Json, evals: Evals | null = null): EndedRun => ({
  status: 'success',
  output,
  error: null,
  failure: null,
  evals,
});
const failed = (kind: string, error = 'broken', node_id = 'a'): EndedRun => ({
  status: 'failed',
  output: null,
  error,
  failure: { kind, node_id },
  evals: null,
});

describe('a rehearsal compared with its source', () => {
  test.each<[string, EndedRun, EndedRun, Comparison['outcome']]>([
    ['the same output', success({ a: 1, b: 2 }), success({ b: 2, a: 1 }), 'equal'],
    ['another output', success({ a: 1 }), success({ a: 2 }), 'changed'],
    ['a new failure', success({ a: 1 }), failed('node'), 'failed'],
    ['the same failure', failed('node'), failed('node'), 'equal'],
    ['another failure', failed('node'), failed('node', 'torn'), 'changed'],
    ['a failure elsewhere', failed('node'), failed('node', 'broken', 'b'), 'changed'],
    ['a success at last', failed('node'), success({ a: 1 }), 'changed'],
    ['a step without a record', success({ a: 1 }), failed('unrecorded'), 'unrecorded'],
    ['no money', success({ a: 1 }), failed('budget'), 'refused'],
    ['a cancel', success({ a: 1 }), failed('cancelled'), 'refused'],
  ])('with %s', (_what, source, rehearsal, outcome) => {
    expect(compareRuns(source, rehearsal).outcome).toBe(outcome);
  });

  test('wins and loses checks according to what each run has passed', () => {
    const source = success({ a: 1 }, evalsOf(true, true, false, false));
    expect(
      compareRuns(source, success({ a: 1 }, evalsOf(true, false, true, false))).checks,
    ).toEqual({
      won: ['check 3'],
      lost: ['check 2'],
    });
  });

  test('loses every check that the source passed when it fails', () => {
    const source = success({ a: 1 }, evalsOf(true, false));
    expect(compareRuns(source, failed('node')).checks).toEqual({ won: [], lost: ['check 1'] });
    expect(compareRuns(source, failed('unrecorded')).checks).toEqual({ won: [], lost: [] });
    expect(compareRuns(failed('node'), success({}, evalsOf(true, false))).checks).toEqual({
      won: ['check 1'],
      lost: [],
    });
  });

  test('gives the reason if the outputs do not show it', () => {
    expect(compareRuns(success(1), failed('node')).reason).toBe('broken');
    expect(compareRuns(failed('node'), success(1))).toMatchObject({
      reason: 'It had failed: broken',
      diff: { differences: [{ path: '', change: 'changed', from: null, to: 1 }], more: false },
    });
    expect(compareRuns(failed('node'), failed('node', 'torn')).reason).toBe(
      'It fails for another reason: torn',
    );
  });
});

describe('the difference of two outputs', () => {
  test('has the values that were added, removed and changed', () => {
    expect(diffOutputs({ a: 1, b: [1] }, { b: [1, null], c: { d: 'x' } })).toEqual({
      differences: [
        { path: 'a', change: 'removed', from: 1 },
        { path: 'b[1]', change: 'added', to: null },
        { path: 'c', change: 'added', to: { d: 'x' } },
      ],
      more: false,
    });
  });

  test('is limited in number and size', () => {
    const list = (value: Json, length: number) => Array.from({ length }, () => value);
    expect(diffOutputs(list(1, 50), list(2, 50))).toMatchObject({ more: false });
    const many = diffOutputs(list(1, 10_000), list(2, 10_000));
    expect(many.differences).toHaveLength(50);
    expect(many.more).toBe(true);
    const long = diffOutputs(list('x'.repeat(1e6), 40), list('y'.repeat(1e6), 40));
    expect(long.differences[0]?.from).toBe(`"${'x'.repeat(999)}…`);
    expect(JSON.stringify(long).length).toBeLessThan(20_000);
    expect(long.more).toBe(true);
  });
});

test('the worst come first', () => {
  const changed = (lost: number, differences: number): Comparison => ({
    outcome: 'changed',
    diff: diffOutputs(Array(differences).fill(1), Array(differences).fill(2)),
    checks: { won: ['w'], lost: Array<string>(lost).fill('l') },
    reason: null,
  });
  const order: Comparison[] = [
    compareRuns(success(1, evalsOf(true)), failed('node')),
    compareRuns(success(1), failed('node')),
    changed(2, 0),
    changed(1, 30),
    changed(1, 2),
    changed(0, 9),
    changed(0, 1),
    uncompared('refused', 'no money'),
    compareRuns(success(1), success(1)),
  ];
  const numbers = order.map(badnessOf);
  expect(numbers).toEqual([...numbers].sort((a, b) => b - a));
  expect(new Set(numbers).size).toBe(order.length);
});
