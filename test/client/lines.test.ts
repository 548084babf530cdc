import { expect, test } from '@jest/globals';
import { splitLines } from '#client/lines.ts';

const linesOf = async (chunks: (string | Uint8Array)[]): Promise<string[]> => {
  async function* stream() {
    yield* chunks;
  }
  const lines: string[] = [];
  for await (const line of splitLines(stream())) lines.push(line);
  return lines;
};

test.each<[string, string[]]>([
  ['', []],
  ['\n', ['']],
  ['a', ['a']],
  ['a\nb', ['a', 'b']],
  ['a\nb\n', ['a', 'b']],
  ['a\r\n\r\nb\r\n', ['a', '', 'b']],
  ['a\rb\n', ['a\rb']],
  ['{"a":"x\u2028y\u2029z\u0085\v\f"}\nb', ['{"a":"x\u2028y\u2029z\u0085\v\f"}', 'b']],
  ['é\n💩\n', ['é', '💩']],
])('splits %j at line feeds only, in any chunks', async (text, lines) => {
  expect(await linesOf([text])).toEqual(lines);
  expect(await linesOf([...text])).toEqual(lines);
  const bytes = new TextEncoder().encode(text);
  expect(await linesOf([bytes])).toEqual(lines);
  expect(await linesOf([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(lines);
});
