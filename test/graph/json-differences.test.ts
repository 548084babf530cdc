import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { differencesOf } from '#shared/graph/json-differences.ts';
import type { Json } from '#shared/json.ts';

const all = (from: Json, to: Json) => [...differencesOf(from, to)];

describe('the differences of two values', () => {
  test('are added, removed and changed locations, by path', () => {
    expect(
      all(
        { a: 1, gone: [2], deep: { x: ['y', 'z'] } },
        { deep: { x: ['y', 'w', 0] }, a: 1, b: null },
      ),
    ).toEqual([
      { path: 'b', from: undefined, to: null },
      { path: 'deep.x[1]', from: 'z', to: 'w' },
      { path: 'deep.x[2]', from: undefined, to: 0 },
      { path: 'gone', from: [2], to: undefined },
    ]);
    expect(all('a', ['a'])).toEqual([{ path: '', from: 'a', to: ['a'] }]);
    expect(all(null, 0)).toHaveLength(1);
  });

  test('ignore the order of keys and the notation of numbers', () => {
    const from = JSON.parse('{"a": 1.0, "b": {"c": 1e2, "d": -0}}') as Json;
    const to = JSON.parse('{"b": {"d": 0, "c": 100}, "a": 1}') as Json;
    expect(all(from, to)).toEqual([]);
  });

  test('do not exist exactly if the values are equal', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        const [a, b] = [one, other].map((value) => JSON.parse(JSON.stringify(value)) as Json);
        expect(all(a!, a!)).toEqual([]);
        const equal = JSON.stringify(sorted(a!)) === JSON.stringify(sorted(b!));
        expect(all(a!, b!).length === 0).toBe(equal);
        expect(all(b!, a!)).toHaveLength(all(a!, b!).length);
      }),
    );
  });

  test('below the deepest level are one difference', () => {
    const nested = (leaf: Json): Json => {
      let value = leaf;
      for (let level = 0; level < 30; level += 1) value = { in: value };
      return value;
    };
    const [difference, ...others] = all(nested(1), nested(2));
    expect(others).toEqual([]);
    expect(difference?.path.split('.')).toHaveLength(20);
  });
});

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value === 0 ? 0 : value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
