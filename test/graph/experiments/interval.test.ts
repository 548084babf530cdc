import { expect, test } from '@jest/globals';
import { intervalOf } from '#shared/graph/experiments/interval.ts';

test.each([
  // Quantiles of Student's t distribution, from tables.
  [2, 12.706],
  [6, 2.571],
  [7, 2.447],
  [11, 2.228],
  [31, 2.042],
  [101, 1.984],
  [100_001, 1.96],
])('the interval of %d differences has the width of its t quantile', (count, t) => {
  const interval = intervalOf({ count, mean: 5, deviation: Math.sqrt(count) });
  expect(interval?.mean).toBe(5);
  expect((interval?.high ?? 0) - 5).toBeCloseTo(t, 2);
  expect(5 - (interval?.low ?? 0)).toBeCloseTo(t, 2);
});

test('a single difference has no interval', () => {
  expect(intervalOf({ count: 1, mean: 5, deviation: 0 })).toBeNull();
  expect(intervalOf({ count: 0, mean: 0, deviation: 0 })).toBeNull();
});

test('equal differences have an interval without width', () => {
  expect(intervalOf({ count: 3, mean: -2, deviation: 0 })).toEqual({ mean: -2, low: -2, high: -2 });
});
