import { expect, test } from '@jest/globals';
import { renderTitle, titleOfCall } from '#shared/graph/gates/title.ts';

test('a title is one line, and is shortened without cutting a character', () => {
  expect(renderTitle('Pay {amount}\n to  {who}', { amount: 5, who: 'Ada\u2028Eve' })).toBe(
    'Pay 5 to Ada Eve',
  );
  expect(renderTitle('{all}', { all: { a: [1] } })).toBe('{"a":[1]}');
  const long = renderTitle('{text}', { text: '😀'.repeat(500) })!;
  expect(long.isWellFormed()).toBe(true);
  expect(long.length).toBeLessThanOrEqual(200);
  expect(long.endsWith('…')).toBe(true);
});

test('a title that cannot be rendered, or is empty, is left to the default', () => {
  expect(renderTitle('Pay {nothing}', {})).toBeUndefined();
  expect(renderTitle('{blank}', { blank: ' \n ' })).toBeUndefined();
  const args = { to: 'Ada', amount: 5 };
  expect(titleOfCall('custom:pay', args, 'Pay {args.nothing}')).toBe('custom:pay: Ada, 5');
  expect(titleOfCall('custom:pay', args, 'Pay {args.amount}')).toBe('Pay 5');
});

test('the default names the first arguments, also those within others', () => {
  const args = { id: null, order: { number: 'A-1', lines: [1, 2] }, urgent: false, note: 'x' };
  expect(titleOfCall('custom:pay', args, undefined)).toBe('custom:pay: A-1, false');
  expect(titleOfCall('custom:pay', {}, undefined)).toBe('custom:pay');
  expect(titleOfCall('custom:pay', null, undefined)).toBe('custom:pay');
  expect(titleOfCall('t', { text: 'y'.repeat(900) }, undefined).length).toBeLessThan(70);
});
