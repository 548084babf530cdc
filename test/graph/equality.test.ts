import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { evaluateExpression } from '#shared/graph/expression/expression.ts';
import { equalityOf, valueAt } from '#shared/graph/waits/equality.ts';

test.each([
  ['event.data.n == n', { n: 1 }, { path: 'data.n', value: '1' }],
  ['n == event.data.n', { n: 'a' }, { path: 'data.n', value: '"a"' }],
  ['event.data.x > 1 and event.data.n == n + 1', { n: 1 }, { path: 'data.n', value: '2' }],
  ["event.data['n'] == null", {}, { path: 'data.n', value: 'null' }],
  ['event.data.n == n or true', { n: 1 }, undefined],
  ['not (event.data.n == n)', { n: 1 }, undefined],
  ['event.data.n == event.data.m', {}, undefined],
  ['event.data.n == n', { n: [1] }, undefined],
])('%s', (match, state, equality) => {
  expect(equalityOf(match, state)).toEqual(equality);
});

test('every event that matches has the required value', () => {
  const value = fc.constantFrom(null, true, 0, 1, '1', 'a');
  fc.assert(
    fc.property(
      fc.constantFrom(
        'event.data.n == n',
        'event.data.m == n and event.data.n == 1',
        'n == event.data.n && true',
        'event.data.n == n and (event.data.m == 1 or n == 0)',
      ),
      fc.record({ n: value }),
      fc.record({ n: value, m: value }, { requiredKeys: [] }),
      (match, state, data) => {
        const equality = equalityOf(match, state)!;
        const matches = evaluateExpression(match, { ...state, event: { data } }) === true;
        if (matches) expect(valueAt({ data }, equality.path)).toBe(equality.value);
      },
    ),
    { numRuns: 500 },
  );
});
