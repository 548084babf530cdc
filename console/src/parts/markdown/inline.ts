/** A part of a line of Markdown. Everything else is text, including HTML. */
export type Inline =
  | { type: 'text' | 'code'; text: string }
  | { type: 'strong' | 'em' | 'strike'; children: Inline[] }
  | { type: 'link'; href: string; children: Inline[] }
  | { type: 'break' };

const MOST_NESTED = 8;

const pairs = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'strike'],
  ['*', 'em'],
  ['_', 'em'],
] as const;

const ADDRESS = /https?:\/\/[^\s<>"'`\])]*[^\s<>"'`\]).,:;!?]/y;
const LINK = /!?\[([^\]\n]{0,1000})\]\(\s*<?([^\s<>)]{1,2000})>?(?:\s+"[^"\n]{0,500}")?\s*\)/y;
const AUTO_LINK = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const ESCAPED = /\\([\\`*_{}[\]()#+\-.!~|>])/y;
const BREAK = / {2,}\n|\\\n/y;
/** Matches text up to a character that can begin something else. */
const PLAIN = /[^\\`*_~[!<h \n]+/y;

/** The address if it can be a link: to the web or an email address. */
export function safeAddress(href: string): string | undefined {
  if (!URL.canParse(href)) return undefined;
  return ['http:', 'https:', 'mailto:'].includes(new URL(href).protocol) ? href : undefined;
}

/** Parses a paragraph. A search for an end that fails is not repeated, so the time is linear in the length. */
export function inlinesOf(source: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  const unclosed = new Set<string>();
  const add = (inline: Inline): void => {
    const last = found.at(-1);
    if (inline.type === 'text' && last?.type === 'text') last.text += inline.text;
    else found.push(inline);
  };
  let at = 0;
  while (at < source.length) {
    const next = depth < MOST_NESTED ? markAt(source, at, { unclosed, depth }) : undefined;
    if (next !== undefined) {
      add(next.inline);
      at = next.end;
      continue;
    }
    PLAIN.lastIndex = at;
    const text = PLAIN.exec(source)?.[0] ?? source.charAt(at);
    add({ type: 'text', text });
    at += text.length;
  }
  return found;
}

interface Marked {
  inline: Inline;
  end: number;
}

interface Context {
  unclosed: Set<string>;
  depth: number;
}

function markAt(source: string, at: number, context: Context): Marked | undefined {
  switch (source.charAt(at)) {
    case '`':
      return codeAt(source, at, context);
    case '\\':
    case ' ':
      return breakAt(source, at);
    case '[':
    case '!':
      return linkAt(source, at, context);
    case '<':
      return addressAt(AUTO_LINK, source, at);
    case 'h':
      return addressAt(ADDRESS, source, at);
    default:
      return pairAt(source, at, context);
  }
}

/** The first index of the mark from a position on; -1, permanently, if there is none. */
function closing(source: string, mark: string, from: number, { unclosed }: Context): number {
  if (unclosed.has(mark)) return -1;
  const found = source.indexOf(mark, from);
  if (found === -1) unclosed.add(mark);
  return found;
}

function codeAt(source: string, at: number, context: Context): Marked | undefined {
  const mark = source.startsWith('``', at) ? '``' : '`';
  const close = closing(source, mark, at + mark.length, context);
  if (close === -1) return undefined;
  const text = source.slice(at + mark.length, close).trim();
  return { inline: { type: 'code', text }, end: close + mark.length };
}

function breakAt(source: string, at: number): Marked | undefined {
  BREAK.lastIndex = at;
  const lineBreak = BREAK.exec(source);
  if (lineBreak !== null) return { inline: { type: 'break' }, end: at + lineBreak[0].length };
  ESCAPED.lastIndex = at;
  const escaped = ESCAPED.exec(source);
  if (escaped === null) return undefined;
  return { inline: { type: 'text', text: escaped[1] ?? '' }, end: at + escaped[0].length };
}

/** A picture is also shown as a link, because it would load from any address in the text. */
function linkAt(source: string, at: number, { depth }: Context): Marked | undefined {
  LINK.lastIndex = at;
  const [all, label = '', address = ''] = LINK.exec(source) ?? [];
  const href = safeAddress(address);
  if (all === undefined || href === undefined) return undefined;
  const children = inlinesOf(label, depth + 1).filter(({ type }) => type !== 'link');
  return { inline: { type: 'link', href, children }, end: at + all.length };
}

function addressAt(pattern: RegExp, source: string, at: number): Marked | undefined {
  pattern.lastIndex = at;
  const [all, inner] = pattern.exec(source) ?? [];
  const href = all === undefined ? undefined : safeAddress(inner ?? all);
  if (all === undefined || href === undefined) return undefined;
  const children: Inline[] = [{ type: 'text', text: inner ?? all }];
  return { inline: { type: 'link', href, children }, end: at + all.length };
}

const WORD = /[\p{L}\p{N}]/u;

function pairAt(source: string, at: number, context: Context): Marked | undefined {
  const pair = pairs.find(([mark]) => source.startsWith(mark, at));
  if (pair === undefined) return undefined;
  const [mark, type] = pair;
  const from = at + mark.length;
  // As in `snake_case` and `2 * 3`.
  if (mark.startsWith('_') && WORD.test(source.charAt(at - 1))) return undefined;
  if (/\s/.test(source.charAt(from) || ' ')) return undefined;
  const close = closing(source, mark, from + 1, context);
  if (close === -1 || /\s/.test(source.charAt(close - 1))) return undefined;
  if (mark.startsWith('_') && WORD.test(source.charAt(close + mark.length))) return undefined;
  const children = inlinesOf(source.slice(from, close), context.depth + 1);
  return { inline: { type, children }, end: close + mark.length };
}
