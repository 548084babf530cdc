import { describe, expect, test } from '@jest/globals';
import {
  avoidedIn,
  avoidedInCode,
  avoidedInConsole,
  avoidedInDocument,
  avoidedInPaths,
  avoidedWords,
  commentsOf,
  consoleTexts,
  documents,
  joinedIn,
  joinedInCode,
  namesOf,
  proseOf,
  textsOf,
  titlesOf,
} from '#scripts/check/words.ts';

const foundIn = (lines: readonly string[]): string[] =>
  lines.map((line) => line.replace(/ in '.*$/s, '')).sort();

describe('texts that span several lines', () => {
  test('have a space between their words', () => {
    expect(joinedInCode()).toEqual([]);
  });

  test('are found if a space is missing', () => {
    const source = [
      "const a = 'The text of one' +",
      "  'line. Then `a`,' +",
      "  '`b`, and ' +",
      '  `more of ${it}` +',
      "  'again, and a/' +",
      "  'path' +",
      "  'end';",
      "const b = 'key' +",
      "  'word';",
    ].join('\n');
    expect(joinedIn('a.ts', source)).toEqual([
      "a.ts:1: 'The text of one'",
      "a.ts:2: 'line. Then `a`,'",
    ]);
  });
});

describe('avoided words', () => {
  test('do not occur in the console', () => {
    expect(avoidedInConsole()).toEqual([]);
  });

  test('do not occur in comments, literals and names of the code', () => {
    expect(avoidedInCode()).toEqual([]);
  });

  test('do not occur in the names of files', () => {
    expect(avoidedInPaths()).toEqual([]);
    expect(foundIn(avoidedInPaths(['test/engine/told-times.test.ts']))).toEqual([
      "test/engine/told-times.test.ts:1: 'told'",
    ]);
  });

  test.each(documents())('do not occur in %s', (path) => {
    expect(avoidedInDocument(path)).toEqual([]);
  });

  test('are found in every kind of text', () => {
    const all = consoleTexts().flatMap(({ texts }) => texts.map(({ text }) => text));
    expect(all).toEqual(
      expect.arrayContaining(['Page not found', 'Failed attempts', 'Retry all failed', 'Cancel']),
    );
    const source = [
      "import type { A } from './given up.ts';",
      "const a = 'tried in vain';",
      'const b = `${count} given\n up`;',
      'const c = <Button label="Read anew">Whoever\n  asks {"was told"}</Button>;',
      "const d = 'tried ' +\n  'in ' + `vain`;",
      'const e = <p>It is <b>given</b> up.</p>;',
    ].join('\n');
    const found = avoidedIn('a.tsx', textsOf('a.tsx', source), ['docs']);
    expect(foundIn(found)).toEqual([
      "a.tsx:2: 'in vain'",
      "a.tsx:3: 'given up'",
      "a.tsx:5: 'Whoever'",
      "a.tsx:5: 'anew'",
      "a.tsx:5: 'told'",
      "a.tsx:6: 'told'",
      "a.tsx:7: 'in vain'",
      "a.tsx:9: 'given up'",
    ]);
  });

  test('are found in comments across lines, but not in strings or patterns', () => {
    const source = [
      '/**',
      ' * A run that nobody has',
      ' * told, tried in',
      ' * vain.',
      ' */',
      "const address = 'https://anew';",
      'const pattern = /\\/\\/ anew/;',
      'const one = 1; // given',
      '// up',
    ].join('\n');
    const found = avoidedIn('a.ts', commentsOf('a.ts', source), ['code']);
    expect(foundIn(found)).toEqual(["a.ts:3: 'in vain'", "a.ts:3: 'told'", "a.ts:8: 'given up'"]);
  });

  test('are found in the titles of tests', () => {
    const source = [
      "describe('given up', () => {",
      "  test.each([['anew']])('is told %s', (title) => check(title, 'made up'));",
      '  test(`${name} tried in vain`, work);',
      '});',
    ].join('\n');
    const found = avoidedIn('a.test.ts', titlesOf('a.test.ts', source), ['code']);
    expect(foundIn(found)).toEqual([
      "a.test.ts:1: 'given up'",
      "a.test.ts:2: 'told'",
      "a.test.ts:3: 'in vain'",
    ]);
  });

  test('are found in names, but not in stored fields and columns', () => {
    const source = 'const markTold = (row: Carriage) => takeTurn(row.told_at, MAX_TOLD);';
    const found = avoidedIn('a.ts', namesOf('a.ts', source), ['names']);
    expect(foundIn(found)).toEqual([
      "a.ts:1: 'Carriage'",
      "a.ts:1: 'TOLD'",
      "a.ts:1: 'Told'",
      "a.ts:1: 'take Turn'",
    ]);
  });

  test('are found in prose, but not in code', () => {
    const document = [
      'Runs are',
      'told. `anew`',
      '',
      '```sh',
      'echo told',
      '```',
      '',
      '- anew',
      '',
    ];
    const found = avoidedIn('a.md', proseOf(document.join('\n')), ['docs']);
    expect(found).toEqual([
      "a.md:2: 'told' in 'Runs are told. `…`': write notified, sent, recorded",
      "a.md:8: 'anew' in '- anew': write again",
    ]);
  });

  test('have a different replacement', () => {
    for (const { avoid, use } of avoidedWords) expect(use).not.toBe(avoid);
  });
});
