import {
  Composer,
  type CST,
  type Document,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  visit,
} from 'yaml';
import { isSchemaLimit } from '#shared/values/schema-parts.ts';

/** A position in a file, counted from 1. */
export interface Place {
  line: number;
  column: number;
}

/** A problem in a file. Without a place, it concerns the whole file. */
export interface Problem {
  message: string;
  place?: Place | undefined;
}

type Path = readonly (string | number)[];

/** The content of a file, or the problems that make it unreadable. */
export type Content =
  | { problems: Problem[] }
  | {
      value: unknown;
      /** The position of the value at a path, or of the last part of the path that exists. */
      placeOf: (path: Path) => Place | undefined;
      /** The position of a key of the object at a path. */
      placeOfKey: (path: Path, key: string) => Place | undefined;
    };

/** The service accepts bodies of 1 MiB. A file may contain additional comments and indentation. */
export const MAX_FILE_BYTES = 4 * 1_048_576;

/** More levels than a graph can have, because the composer is recursive. */
const MAX_LEVELS = 200;

/** How often all aliases together can repeat content, because a few lines of YAML could expand to gigabytes. */
const MAX_ALIASES = 100;

/**
 * Parses a file of one workflow. JSON must be valid JSON, although most YAML parsers would also accept it. Never
 * throws.
 */
export function parseText(text: string, format: 'json' | 'yaml'): Content {
  const source = text.replace(/^\uFEFF/, '');
  if (format === 'yaml') return parseYaml(source);
  try {
    JSON.parse(source);
  } catch (error) {
    return { problems: [jsonProblem(source, error)] };
  }
  // The values come from JSON.parse. This finds their positions, and what JSON.parse accepts silently.
  const content = parseYaml(source);
  return 'problems' in content ? content : { ...content, value: JSON.parse(source) as unknown };
}

function jsonProblem(text: string, error: unknown): Problem {
  const said = error instanceof Error ? error.message : '';
  const at = /at position (\d+)/.exec(said)?.[1];
  const reason = said.replace(/ in JSON at position .*$/s, '').replaceAll(/\s+/g, ' ');
  return {
    message: `is not JSON: ${reason}`,
    place: placeAt(text, at === undefined ? text.length : Number(at)),
  };
}

function placeAt(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  return {
    line: before.split('\n').length,
    column: offset - before.lastIndexOf('\n'),
  };
}

function parseYaml(text: string): Content {
  const lines = new LineCounter();
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  const deep = tooDeep(tokens);
  if (deep !== undefined) {
    return {
      problems: [{ message: `has more than ${MAX_LEVELS} levels`, place: place(deep) }],
    };
  }
  // Not `parseDocument`, which parses and composes in one go, before the depth is known.
  const options = { prettyErrors: false, stringKeys: true, version: '1.2', keepSourceTokens: true };
  const [document, another] = [
    ...new Composer(options as object).compose(tokens, true, text.length),
  ];
  if (document === undefined) return { problems: [{ message: 'is empty' }] };
  if (another !== undefined) {
    const message = 'has several documents: one file is one workflow';
    return { problems: [{ message, place: place(another.range[0]) }] };
  }
  const problems: Problem[] = [...document.errors, ...document.warnings].map(
    ({ message, pos }) => ({
      message: `is not valid: ${message}`,
      place: place(pos[0]),
    }),
  );
  problems.push(...numberProblems(document, place));
  return problems.length > 0 ? { problems } : valueOf(document, place);
}

/** The offset of the first value that is too deep. Not recursive. */
function tooDeep(tokens: readonly CST.Token[]): number | undefined {
  const open = tokens.map((token) => ({ token, level: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, level } = next;
    if (level > MAX_LEVELS) return 'offset' in token ? token.offset : 0;
    if (token.type === 'document') {
      if (token.value !== undefined) open.push({ token: token.value, level });
    } else if ('items' in token) {
      for (const { key, value } of token.items as CST.CollectionItem[]) {
        if (key != null) open.push({ token: key, level: level + 1 });
        if (value !== undefined) open.push({ token: value, level: level + 1 });
      }
    }
  }
  return undefined;
}

/** Numbers that JSON does not support, or that would be rounded. */
function numberProblems(document: Document, place: (offset: number) => Place): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Scalar: (_key, scalar, parents) => {
      const { value, range, source = '' } = scalar;
      if (typeof value !== 'number') return;
      const at = range == null ? {} : { place: place(range[0]) };
      if (!Number.isFinite(value)) {
        problems.push({ message: `${value} is not a number that JSON has`, ...at });
      } else if (/^[-+]?(?:\d+|0[xo].*)$/.test(source) && !Number.isSafeInteger(value)) {
        if (isSchemaLimit(keysTo(scalar, parents))) return;
        const message = 'an integer beyond ±9007199254740991 would be rounded; write it in quotes';
        problems.push({ message, ...at });
      }
    },
  });
  return problems;
}

/** The keys and indexes that lead to a node. */
const keysTo = (node: unknown, parents: readonly unknown[]): string[] =>
  parents.flatMap((parent, at) => {
    const inner = parents[at + 1] ?? node;
    if (isPair(parent)) return [String(parent.key)];
    return isSeq(parent) ? [String(parent.items.indexOf(inner))] : [];
  });

function valueOf(document: Document, place: (offset: number) => Place): Content {
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MAX_ALIASES });
    // An alias inside its own content never ends, and small aliases can still add up.
    if (JSON.stringify(value).length > MAX_FILE_BYTES) throw new Error('too long');
  } catch {
    return { problems: [{ message: 'is not valid: its aliases (*name) repeat too much' }] };
  }
  const nodeAt = (path: Path): unknown => {
    for (let length = path.length; length >= 0; length -= 1) {
      const node = document.getIn(path.slice(0, length), true);
      if (node !== undefined) return node;
    }
    return undefined;
  };
  return {
    value,
    placeOf: (path) => placeOfNode(nodeAt(path), place),
    placeOfKey: (path, key) => {
      const map = document.getIn(path, true) as { items?: { key: unknown }[] } | undefined;
      const pair = map?.items?.find((item) => isScalar(item.key) && item.key.value === key);
      return placeOfNode(pair?.key ?? nodeAt(path), place);
    },
  };
}

function placeOfNode(node: unknown, place: (offset: number) => Place): Place | undefined {
  const { range } = (node ?? {}) as { range?: [number, number, number] | null };
  return range == null ? undefined : place(range[0]);
}
