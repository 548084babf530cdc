import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS, RE2JSException } from 're2js';
import { findMatches, matchesPattern } from '#shared/values/pattern.ts';
import { nativeRegExp } from '#shared/values/regexp/native.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

const characters = [' ', '\n', ...'a b B k K s 0 _ - é ſ \u212a 😀'.split(' ')];
const atom = fc.constantFrom(
  ' ',
  ...String.raw`a b k s 0 - é 😀 . \. \- \n \w \W \d \D \s \S`.split(' '),
  ...String.raw`[ab] [^a] [a-k] [^a-s0] [-a] [a-] [\w-] [^\s] [k😀] [Z-b]`.split(' '),
);
const assertion = fc.constantFrom('^', '$', '\\b', '\\B');
const count = fc.constantFrom('', '', '', ...'* + ? {2} {0,3} {2,} +? *? ?? {1,2}?'.split(' '));
const counted = fc.tuple(atom, count).map((parts) => parts.join(''));
const either = (part: fc.Arbitrary<string>) =>
  fc
    .array(
      fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('')),
      { minLength: 1, maxLength: 2 },
    )
    .map((branches) => branches.join('|'));
const group = fc
  .tuple(fc.constantFrom('(', '(?:'), either(counted), fc.constantFrom(')', ')?', '){2}', ')+'))
  .map((parts) => parts.join(''));
const pattern = either(
  fc.oneof(
    { weight: 6, arbitrary: counted },
    { weight: 1, arbitrary: assertion },
    { weight: 1, arbitrary: group },
  ),
);
const source = fc.tuple(fc.constantFrom('', '', '(?i)'), pattern).map((parts) => parts.join(''));
const text = fc
  .array(fc.constantFrom(...characters), { maxLength: 30 })
  .map((parts) => parts.join(''));

/** The pattern compiled by RE2; undefined if RE2 refuses it. */
function re2Of(written: string, flags = 0): RE2JS | undefined {
  try {
    return RE2JS.compile(written, flags);
  } catch (error) {
    if (error instanceof RE2JSException) return undefined;
    throw error;
  }
}

function spansOf(re2: RE2JS, searched: string): { start: number; end: number }[] {
  const spans = [];
  for (const matcher = re2.matcher(searched); matcher.find();) {
    const [start, end] = [matcher.start(), matcher.end()];
    if (end > start) spans.push({ start, end });
  }
  return spans;
}

const unlimited = { ignoreCase: false, maxSteps: Infinity };

describe('a native expression', () => {
  test('finds the same matches as RE2', () => {
    let native = 0;
    fc.assert(
      fc.property(source, fc.array(text, { minLength: 5, maxLength: 5 }), (written, texts) => {
        const re2 = re2Of(written);
        fc.pre(re2 !== undefined);
        const translated = nativeRegExp(written, unlimited);
        if (translated === undefined) return;
        native += 1;
        for (const searched of texts) {
          const spans = [...searched.matchAll(translated.regexp)].map(({ 0: found, index }) => ({
            start: index,
            end: index + found.length,
          }));
          expect(spans).toEqual(spansOf(re2, searched));
        }
      }),
      { numRuns: 5_000 },
    );
    expect(native).toBeGreaterThan(1_000);
  });

  test('ignores case like RE2 on request', () => {
    fc.assert(
      fc.property(pattern, text, (written, searched) => {
        const re2 = re2Of(written, RE2JS.CASE_INSENSITIVE);
        fc.pre(re2 !== undefined);
        expect(matchesPattern(searched, written, { ignoreCase: true })).toBe(
          re2.matcher(searched).find(),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  soakTest('takes linear time in the text', () => {
    const unit = fc
      .array(fc.constantFrom(...characters), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(source, unit, unit, (written, repeated, last) => {
        fc.pre(re2Of(written) !== undefined);
        const translated = nativeRegExp(written, { ignoreCase: false, maxSteps: 100 });
        if (translated === undefined) return;
        const searching = (times: number) => {
          const long = repeated.repeat(times) + last;
          return () => {
            for (const _ of long.matchAll(translated.regexp));
          };
        };
        expect(growth(searching, 10_000)).toBeLessThan(3);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['\\bEMP-\\d{6}\\b', 'a fixed length'],
    ['(?i)project\\s+(falcon|eagle)', 'a run between fixed texts'],
    ['secret[:=]\\s*\\S+', 'a run at the end'],
    ['\\b\\w+@corp\\.com', 'words from their beginning'],
    ['[A-Z]{2}\\d{2}(?:\\s?\\d{4}){4}', 'a repeated group'],
    ['^-*x|^#', 'the beginning of the text'],
  ])('exists for %s: %s', (written) => {
    expect(nativeRegExp(written, unlimited)?.regexp).toBeInstanceOf(RegExp);
  });

  test.each([
    ['\\w+@', 'every character of a run begins a search'],
    ['(a+)+b', 'nested runs'],
    ['x\\w+x', 'what follows can begin inside the run'],
    ['a\\w+-', 'a search can enter in the middle of a run'],
    ['a?b+c', 'what stands before the run can be missing'],
    ['a*', 'matches the empty text'],
    ['a|', 'matches the empty text'],
    ['(?i)é', 'cases of another script'],
    ['\\pL', 'a class of Unicode'],
    ['(?s).x', 'another flag'],
  ])('does not exist for %s: %s', (written) => {
    expect(RE2JS.compile(written)).toBeInstanceOf(RE2JS);
    expect(nativeRegExp(written, unlimited)).toBeUndefined();
  });

  test('does not exist beyond the allowed number of steps', () => {
    const written = '[^a]{1,500}a+b';
    expect(nativeRegExp(written, unlimited)?.steps).toBeGreaterThan(100_000);
    expect(nativeRegExp(written, { ignoreCase: false, maxSteps: 5_000 })).toBeUndefined();
  });
});

test('matches are found from left to right, without empty ones, with either engine', () => {
  const budget = { work: 100_000 };
  expect([...findMatches('a1b22', '\\d{1,2}', budget)]).toEqual([
    { start: 1, end: 2 },
    { start: 3, end: 5 },
  ]);
  expect([...findMatches('a1b22', '\\d*', budget)]).toEqual([
    { start: 1, end: 2 },
    { start: 3, end: 5 },
  ]);
});
