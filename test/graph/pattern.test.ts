import { describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS, RE2JSException } from 're2js';
import { matchesPattern, PatternError } from '#shared/values/pattern.ts';
import { holdsText } from '#shared/graph/expression/text-search.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const piece = fc.constantFrom(
  'a',
  'b',
  'k',
  '[a-c]',
  '\\w',
  '\\pL',
  '.',
  '(?:a|b)',
  '\\b',
  '[^a]',
  'ſ',
);
const count = fc.constantFrom('', '*', '+', '?', '{2}', '{0,3}');
const pattern = fc
  .tuple(
    fc.constantFrom('', '(?i)', '^', '(?s)'),
    fc.array(fc.tuple(piece, count), { minLength: 1, maxLength: 6 }),
    fc.constantFrom('', '$', 'x'),
  )
  .map(([start, parts, end]) => start + parts.map((part) => part.join('')).join('') + end);
const letters = fc.array(fc.constantFrom('a', 'b', 'B', 'K', 'x', ' ', '\n', 'é', '😀'), {
  minLength: 1,
  maxLength: 12,
});

describe('a pattern search', () => {
  test('returns the same for any text length and engine', () => {
    fc.assert(
      fc.property(pattern, letters, fc.integer({ min: 1, max: 90 }), (source, unit, times) => {
        const text = unit.join('').repeat(times);
        const expected = RE2JS.compile(source).matcher(text).find();
        expect(matchesPattern(text, source)).toBe(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  test('costs the same whether or not the pattern is cached', () => {
    const work = (): number => {
      const budget = { work: 1_000_000 };
      matchesPattern('a'.repeat(1_000), '(?i)b{5}', { budget });
      return 1_000_000 - budget.work;
    };
    const first = work();
    expect(first).toBeGreaterThan(5_000);
    expect(work()).toBe(first);
  });

  test('is refused before it starts if the budget is too small, with advice', () => {
    const budget = { work: 10_000 };
    expect(() => matchesPattern('a'.repeat(100_000), 'b{50}', { budget })).toThrow(
      new PatternError(
        'the pattern is too costly for a text of 100000 characters: use a simpler pattern or a shorter text',
      ),
    );
  });

  test.each([
    ['ranges without regard to case', `(?i)${'[ -\uffff]'.repeat(190)}`],
    ['the same with escapes', `(?i)${'[\\x{0}-\\x{ffff}]'.repeat(60)}`],
    ['classes of letters', '\\pL'.repeat(330)],
  ])('is refused if the pattern is slow to compile: %s', (_, source) => {
    const compile = jest.spyOn(RE2JS, 'compile');
    try {
      expect(() => matchesPattern('x', source, { budget: { work: 200_000 } })).toThrow(
        'the pattern is too costly to compile: use a simpler one',
      );
      expect(compile).not.toHaveBeenCalled();
    } finally {
      compile.mockRestore();
    }
  });

  test('reports a pattern that RE2 does not support', () => {
    expect(() => matchesPattern('a', '(?=a)')).toThrow(PatternError);
    expect(() => RE2JS.compile('(?=a)')).toThrow(RE2JSException);
  });
});

describe('a substring search', () => {
  test('finds the same as String.includes', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'ab'), { maxLength: 40 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 400 }), (unit, part, times) => {
        const haystack = unit.repeat(times);
        const needle = haystack.slice(times, times * 3) + part;
        expect(holdsText(haystack, needle)).toBe(haystack.includes(needle));
      }),
      { numRuns: 500 },
    );
  });

  soakTest('takes linear time for any input', () => {
    const searching = (length: number) => {
      const piece = `${'a'.repeat(length)}b${'a'.repeat(length)}`;
      const text = 'a'.repeat(4 * length);
      return () => holdsText(text, piece);
    };
    expect(searching(1_000)()).toBe(false);
    // String.includes takes quadratic time.
    expect(growth(searching, 100_000)).toBeLessThan(3);
  });
});
