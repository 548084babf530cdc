import { expect, test } from '@jest/globals';
import { deadlocked, type WaitingChild } from '#shared/graph/limits/deadlocks.ts';

const child = (run_id: string, above: string[], holders: string[]): WaitingChild => ({
  run_id,
  above,
  holders,
});
const found = (...waiting: WaitingChild[]): string[] => [...deadlocked(waiting)].sort();

test('runs that wait for each other are found', () => {
  expect(found(child('b2', ['a1'], ['b1']), child('a2', ['b1'], ['a1']))).toEqual(['a2', 'b2']);
  // In a circle of three, through a grandchild.
  expect(
    found(
      child('b2', ['m', 'a1'], ['b1']),
      child('c2', ['b1'], ['c1']),
      child('a2', ['c1'], ['a1']),
    ),
  ).toEqual(['a2', 'b2', 'c2']);
});

test('a run is not stuck while one of the slots can become free', () => {
  expect(found(child('b2', ['a1'], ['b1', 'free']), child('a2', ['b1'], ['a1']))).toEqual([]);
  expect(found(child('b2', ['a1'], ['b1']))).toEqual([]);
  expect(found(child('b2', ['a1'], []))).toEqual([]);
});

test('a run behind those that wait for each other is stuck, too', () => {
  expect(
    found(
      child('b2', ['a1'], ['b1']),
      child('a2', ['b1'], ['a1']),
      child('b3', ['d1'], ['b1']),
      child('e2', ['a1'], ['e1']),
    ),
  ).toEqual(['a2', 'b2', 'b3']);
});
