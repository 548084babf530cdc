import { expect, test } from '@jest/globals';
import { chooseTests } from '../../scripts/related/choose.ts';
import { distances } from '../../scripts/related/graph.ts';

const related = (file: string, distance: number, seconds = 5) => ({ file, distance, seconds });

test('counts the imports between a change and its dependents', () => {
  const importers = new Map([
    ['a.ts', new Set(['b.ts', 'c.ts'])],
    ['b.ts', new Set(['c.ts', 'd.ts'])],
    ['d.ts', new Set(['a.ts'])],
  ]);
  expect([...distances(['a.ts'], importers)]).toEqual([
    ['a.ts', 0],
    ['b.ts', 1],
    ['c.ts', 1],
    ['d.ts', 2],
  ]);
});

test('chooses tests that import the change first, then tests of that name, then the nearest', () => {
  const tests = [
    related('test/api/people.test.ts', 3),
    related('test/api/data.test.ts', 2),
    related('test/api/runs/list.test.ts', 4),
    related('test/graph/plain.test.ts', 1),
  ];
  expect(chooseTests(tests, ['api/routes/ops/runs.ts'], 60)).toEqual([
    'test/graph/plain.test.ts',
    'test/api/runs/list.test.ts',
    'test/api/data.test.ts',
    'test/api/people.test.ts',
  ]);
});

test('skips tests over the time limit, but never all', () => {
  const tests = [
    related('test/engine/long.test.ts', 1, 100),
    related('test/engine/short.test.ts', 2, 4),
    related('test/engine/other.test.ts', 3, 3),
  ];
  expect(chooseTests(tests, ['shared/x.ts'], 60)).toEqual(['test/engine/long.test.ts']);
  expect(chooseTests(tests.slice(1), ['shared/x.ts'], 5)).toEqual(['test/engine/short.test.ts']);
});
