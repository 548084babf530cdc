import { type Inline, inlinesOf } from './inline.ts';

export type Block =
  | { type: 'heading'; level: number; children: Inline[] }
  | { type: 'paragraph'; children: Inline[] }
  /** `info`: what follows the opening fence, such as the language. */
  | { type: 'code'; text: string; info?: string }
  | { type: 'quote'; blocks: Block[] }
  | { type: 'list'; ordered: boolean; start: number; items: Block[][] }
  | { type: 'table'; head: Inline[][]; rows: Inline[][][] }
  | { type: 'rule' };

const MOST_NESTED = 8;
const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/;
const HEADING = /^ {0,3}(#{1,6}) +(.*)$/;
const RULE = /^ {0,3}(?:-\s*){3,}$|^ {0,3}(?:\*\s*){3,}$|^ {0,3}(?:_\s*){3,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)]) +/;
const DIVIDER = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;

/** Parses the Markdown that models write: no HTML, no pictures, no references. */
export const blocksOf = (source: string): Block[] => parse(source.split(/\r?\n/), 0);

function parse(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.trim() === '') {
      at += 1;
      continue;
    }
    const { block, end } = blockAt(lines, at, depth);
    blocks.push(block);
    at = Math.max(end, at + 1);
  }
  return blocks;
}

interface Parsed {
  block: Block;
  end: number;
}

function blockAt(lines: readonly string[], at: number, depth: number): Parsed {
  const line = lines[at] ?? '';
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) return codeBlock(lines, at, fence);
  const heading = HEADING.exec(line);
  if (heading !== null) {
    const [, marks = '', text = ''] = heading;
    return {
      block: { type: 'heading', level: marks.length, children: inlinesOf(text.trim()) },
      end: at + 1,
    };
  }
  if (RULE.test(line)) return { block: { type: 'rule' }, end: at + 1 };
  if (depth < MOST_NESTED && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < MOST_NESTED && ITEM.test(line)) return list(lines, at, depth);
  if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '')) return table(lines, at);
  return paragraph(lines, at);
}

/** Up to the same fence on a line of its own, or the end of the text. */
function codeBlock(lines: readonly string[], at: number, fence: string): Parsed {
  const [mark = ''] = fence;
  const closes = (line: string): boolean =>
    line.trim().startsWith(fence) && line.trim().replaceAll(mark, '') === '';
  const end = endOf(lines, at + 1, closes);
  const info = (lines[at] ?? '').trim().slice(fence.length).trim();
  const text = lines.slice(at + 1, end).join('\n');
  return { block: { type: 'code', text, ...(info === '' ? {} : { info }) }, end: end + 1 };
}

function quote(lines: readonly string[], at: number, depth: number): Parsed {
  const end = endOf(lines, at, (line) => !QUOTE.test(line));
  const inner = lines.slice(at, end).map((line) => line.replace(QUOTE, ''));
  return { block: { type: 'quote', blocks: parse(inner, depth + 1) }, end };
}

/** Items with the same indentation. Lines that are indented more belong to the item before them. */
function list(lines: readonly string[], at: number, depth: number): Parsed {
  const first = ITEM.exec(lines[at] ?? '');
  const indent = first?.[1]?.length ?? 0;
  const ordered = first?.[2] !== undefined;
  const items: string[][] = [];
  let end = at;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? '';
    const item = ITEM.exec(line);
    const own = item !== null && (item[1]?.length ?? 0) <= indent;
    if (own && (item[2] !== undefined) !== ordered) break;
    if (!own && line.trim() !== '' && !/^\s/.test(line)) break;
    const margin = line.length - line.trimStart().length;
    if (own) items.push([line.slice(item[0].length)]);
    else items.at(-1)?.push(line.slice(Math.min(indent + 2, margin)));
  }
  const start = Number(first?.[2] ?? 1);
  const block: Block = {
    type: 'list',
    ordered,
    start,
    items: items.map((item) => parse(item, depth + 1)),
  };
  return { block, end };
}

function table(lines: readonly string[], at: number): Parsed {
  const end = endOf(lines, at + 2, (line) => !line.includes('|'));
  const head = cellsOf(lines[at] ?? '');
  const rows = lines.slice(at + 2, end).map((line) => cellsOf(line).slice(0, head.length));
  return { block: { type: 'table', head, rows }, end };
}

const cellsOf = (line: string): Inline[][] =>
  line
    .trim()
    .replace(/^\||\|$/g, '')
    .split('|')
    .map((cell) => inlinesOf(cell.trim()));

function paragraph(lines: readonly string[], at: number): Parsed {
  const begins = (line: string): boolean =>
    line.trim() === '' || [FENCE, HEADING, RULE, QUOTE, ITEM].some((mark) => mark.test(line));
  const end = endOf(lines, at + 1, begins);
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join('\n');
  return { block: { type: 'paragraph', children: inlinesOf(text.trim()) }, end };
}

function endOf(lines: readonly string[], from: number, ends: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && !ends(lines[end] ?? '')) end += 1;
  return end;
}
