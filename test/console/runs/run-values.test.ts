import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isSmall, jsonRows } from '#console/src/parts/json/json-rows.ts';
import { blocksOf } from '#console/src/parts/markdown/blocks.ts';
import { type Inline, inlinesOf, safeAddress } from '#console/src/parts/markdown/inline.ts';
import { growth } from '#test/support/growth.ts';
import { soakTest } from '#test/support/soak.ts';

/** The parts as HTML-like text, for short comparisons. */
const shown = (parts: readonly Inline[]): string => parts.map(shownPart).join('');

function shownPart(part: Inline): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'break':
      return '(br)';
    case 'code':
      return `(code ${part.text})`;
    case 'link':
      return `(link ${part.href} ${shown(part.children)})`;
    case 'strong':
    case 'em':
    case 'strike':
      return `(${part.type} ${shown(part.children)})`;
  }
}

const inline = (source: string): string => shown(inlinesOf(source));

describe('Markdown', () => {
  test('formats what models write', () => {
    expect(inline('**bold** and *em*, `a*b`, ~~no~~')).toBe(
      '(strong bold) and (em em), (code a*b), (strike no)',
    );
    expect(inline('snake_case_name, 2 * 3 * 4 and \\*this\\*')).toBe(
      'snake_case_name, 2 * 3 * 4 and *this*',
    );
    expect(inline('**open and `open')).toBe('**open and `open');
    expect(inline('one  \ntwo')).toBe('one(br)two');
  });

  test('links only to the web and to mail, and shows HTML and pictures as text or links', () => {
    expect(inline('[page](https://example.com/a_b "title")')).toBe(
      '(link https://example.com/a_b page)',
    );
    expect(inline('see https://example.com/x, or <mailto:ann@example.com>.')).toBe(
      'see (link https://example.com/x https://example.com/x), or (link mailto:ann@example.com mailto:ann@example.com).',
    );
    expect(inline('![cat](https://example.com/cat.png)')).toBe(
      '(link https://example.com/cat.png cat)',
    );
    for (const href of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'vbscript:x',
      'file:///etc/passwd',
      '//evil.example',
      '/relative',
    ]) {
      expect(safeAddress(href)).toBeUndefined();
      expect(inline(`[x](${href})`)).toBe(`[x](${href})`);
    }
    const html = '<script>window.owned=1</script><img src=x onerror="1">';
    expect(inline(html)).toBe(html);
  });

  test('finds headings, lists in lists, quotes, code and tables', () => {
    const source = [
      '# Title #1',
      'Text on',
      'two lines',
      '',
      '- one',
      '  1. inner',
      '- two',
      '> quoted',
      '```js',
      '# no heading',
      '```',
      '| a | b |',
      '|---|:-:|',
      '| 1 | 2 | 3 |',
      '---',
    ].join('\n');
    const blocks = blocksOf(source);
    expect(blocks.map(({ type }) => type)).toEqual([
      ...['heading', 'paragraph', 'list', 'quote', 'code', 'table', 'rule'],
    ]);
    expect(blocks[0]).toMatchObject({ level: 1, children: [{ text: 'Title #1' }] });
    expect(blocks[2]).toMatchObject({ ordered: false, items: [[{}, { type: 'list' }], [{}]] });
    expect(blocks[4]).toEqual({ type: 'code', text: '# no heading', info: 'js' });
    expect(blocks[5]).toMatchObject({ head: [{}, {}], rows: [[[{ text: '1' }], [{ text: '2' }]]] });
  });

  test('a fence can name a language, and only a line of its own closes it', () => {
    expect(blocksOf('```js\nlet a = 1;\n```no end\n````\nafter')).toMatchObject([
      { type: 'code', info: 'js', text: 'let a = 1;\n```no end' },
      { type: 'paragraph' },
    ]);
  });

  test('loses no word of any text', () => {
    const words = fc.array(
      fc.constantFrom('word', '*', '**', '_', '`', '[', '](', ')', '<', '>', '#', '- ', '\n', ' '),
      { maxLength: 400 },
    );
    const count = (text: string): number => text.split('word').length;
    fc.assert(
      fc.property(words, (parts) => {
        const source = parts.join('');
        expect(count(JSON.stringify(blocksOf(source)))).toBeGreaterThanOrEqual(count(source));
      }),
    );
  });

  soakTest.each(
    ['*', '[', '`a', '> ', '- ', '# ', ' ', '*a **b ', '![](', '|-', '_a'].flatMap((part) => [
      part,
      `${part}\n`,
    ]),
  )('takes linear time for a text of %j', (part) => {
    const reading = (length: number) => {
      const text = part.repeat(length / part.length);
      return () => blocksOf(text);
    };
    expect(growth(reading, 30_000)).toBeLessThan(3);
  });
});

describe('the tree of a JSON value', () => {
  const value = { id: 7, order: { 'unit price': null, items: [{ name: 'Tea' }, 'oil'] }, none: [] };
  const all = () => true;
  const paths = (search: string, open: (path: string, level: number) => boolean = all): string[] =>
    jsonRows(value, { search, open }).map(({ path }) => path);

  test('names each value as expressions do', () => {
    expect(paths('')).toEqual([
      ...['', 'id', 'order', 'order["unit price"]', 'order.items', 'order.items[0]'],
      ...['order.items[0].name', 'order.items[1]', 'none'],
    ]);
    const [root, id, , , , , , , none] = jsonRows(value, { search: '', open: all });
    expect(root).toMatchObject({ level: 1, open: true, size: 3 });
    expect(id).toMatchObject({ level: 2, open: undefined, size: undefined });
    // An empty list has nothing to open.
    expect(none).toMatchObject({ open: undefined, size: 0 });
  });

  test('is closed and searched', () => {
    expect(paths('', (_, level) => level === 1)).toEqual(['', 'id', 'order', 'none']);
    const inside = ['', 'order', 'order.items', 'order.items[0]', 'order.items[0].name'];
    expect(paths('TEA', () => false)).toEqual(inside);
    expect(paths('unit')).toEqual(['', 'order', 'order["unit price"]']);
    expect(paths('nowhere')).toEqual([]);
  });

  test('stays small for a large value', () => {
    const list = Array.from({ length: 200_000 }, (_, at) => at);
    expect(jsonRows(list, { search: '', open: all })).toHaveLength(10_000);
    expect(isSmall(list)).toBe(false);
    expect(isSmall(value)).toBe(true);
    const found = jsonRows(list, { search: '199999', open: all });
    expect(found.at(-1)?.path).toBe('[199999]');
  });
});
