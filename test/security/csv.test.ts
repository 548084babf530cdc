import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { csvLine } from '#api/http/csv.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

// A cell that a spreadsheet interprets as a formula runs on the machine of anyone who opens the file.

const cellOf = (text: string): string => {
  const line = csvLine([text]).replace(/\r\n$/, '');
  return line.startsWith('"') ? line.slice(1, -1).replaceAll('""', '"') : line;
};

const invisible = [
  '\u2060', // word joiner
  '\u00ad', // soft hyphen
  '\u200e', // left-to-right mark
  '\u0001', // control
  '\u200b', // zero width space
  '\ufeff', // byte order mark
  '\u180e', // Mongolian vowel separator
  '\u115f', // Hangul filler
  '\u3164', // Hangul filler
  '\ufe0f', // variation selector
  '\u{e0020}', // tag space
  '\u{1d173}', // musical format
  '\u0085', // next line
  '\u00a0', // no-break space
  '\u3000', // ideographic space
  '\u2028', // line separator
  '\u001f',
  '\u007f',
  ' ',
];
const signs = ['=', '+', '-', '@', '\uff1d', '\uff0b', '\uff0d', '\uff20', '\ufe66'];

describe('a cell that may be a formula gets an apostrophe', () => {
  test.each(invisible.map((char) => [char.codePointAt(0)!.toString(16), char]))(
    'after U+%s, once or repeated, before every sign',
    (_code, char) => {
      for (const sign of signs) {
        for (const text of [`${char}${sign}1+1`, `${char.repeat(3)}${sign}cmd|x!A1`]) {
          expect(cellOf(text)).toMatch(/^'/);
          // When the text is entered again, each of its lines starts a cell.
          expect(cellOf(`a\n${text}`)).toMatch(/^a\n[\s\S]*'/);
        }
      }
    },
  );

  test('after any mix of invisible characters', () => {
    const prefix = fc.array(fc.constantFrom(...invisible), { maxLength: 20 });
    fc.assert(
      fc.property(prefix, fc.constantFrom(...signs), fc.string(), (before, sign, rest) => {
        expect(cellOf(`${before.join('')}${sign}${rest}`).startsWith("'")).toBe(true);
      }),
    );
  });

  test('so that no line starts with a sign, for any text', () => {
    const unit = fc.constantFrom(...invisible, ...signs, '\n', '\r', '\t', 'a', '"', ',');
    const shown =
      /^[\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66]/u;
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), (text) => {
        for (const line of cellOf(text).split(/\r\n|[\n\r]/)) expect(line).not.toMatch(shown);
      }),
      { numRuns: 2_000 },
    );
  });

  test('if it starts with a tab or carriage return', () => {
    for (const text of ['\tx', '\rx', ' \tx', '\u2060\tx']) expect(cellOf(text)).toMatch(/^'/);
  });
});

test('other text is unchanged, and numbers keep their sign', () => {
  for (const text of ['', 'a=b', '1-2', 'a@b.example', '\u200btext', 'x\ny', '\u00e9']) {
    expect(cellOf(text)).toBe(text);
  }
  expect(csvLine([-5, -0.5, true, null])).toBe('-5,-0.5,true,\r\n');
});

soakTest.each([
  ['invisible characters', '\u2060'],
  ['line breaks', '\n'],
  ['lines of invisible characters', '\n\u2060'],
])('%s take linear time', (_what, part) => {
  const writing = (length: number) => {
    const text = part.repeat(length / part.length);
    return () => csvLine([text]);
  };
  expect(growth(writing, 20_000)).toBeLessThan(3);
});
