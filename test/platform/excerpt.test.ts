import { describe, expect, test } from '@jest/globals';
import { excerptOf } from '#shared/values/excerpt.ts';

describe('the excerpt of an input', () => {
  test.each([
    [{ order: 'A-1042', amount: 240, urgent: true }, 'order: A-1042, amount: 240, urgent: true'],
    [{ items: [1], note: 'two\n lines', more: { a: 1 } }, 'note: two lines'],
    [{ items: [1] }, null],
    [{}, null],
  ])('has the plain values of %j in one line', (input, expected) => {
    expect(excerptOf(JSON.stringify(input))).toBe(expected);
  });

  test('ends after 120 characters', () => {
    const text = excerptOf(JSON.stringify({ a: 'x'.repeat(500), b: 'y' }));
    expect(text).toHaveLength(120);
    expect(text?.endsWith('…')).toBe(true);
  });
});
