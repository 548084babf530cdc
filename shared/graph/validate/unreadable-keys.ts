import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { outputKey } from '#shared/graph/compile.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import type { Issues } from '#shared/graph/issues.ts';
import type { NodeText } from '#shared/graph/node-texts.ts';

/** Keys of the state that texts cannot refer to as written. */
export interface NamedKeys {
  all: ReadonlySet<string>;
  /** Keys that are not a single name in an expression, because they contain a hyphen or a dot. */
  compound: ReadonlySet<string>;
}

/** Names joined by characters that an expression reads as operators. */
const COMPOUND = /[\p{L}\p{N}_$]+(?:[-.][\p{L}\p{N}_$]+)+/gu;
const QUOTED = /'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"/gs;
const BETWEEN = /[-.]/;

/** The keys that the nodes of a graph and its input set. */
export function namedKeys({ nodes }: Graph, inputKeys: readonly string[] = []): NamedKeys {
  const all = new Set([...nodes.flatMap((node) => [node.id, outputKey(node)]), ...inputKeys]);
  return { all, compound: new Set([...all].filter((key) => BETWEEN.test(key))) };
}

/** Warns about a key that means something else in a text: `my-map` is a subtraction in an expression. */
export function checkCompoundKeys(
  issues: Issues,
  node: GraphNode,
  { language, text }: NodeText,
  path: string,
  { all, compound }: NamedKeys,
): void {
  if (compound.size === 0) return;
  for (const { written, position } of compoundsIn(language, text)) {
    const key = prefixesOf(written).find((prefix) => compound.has(prefix));
    if (key === undefined) continue;
    // In a template, a hyphen is part of the name.
    const minus = language === 'expression' && key.includes('-');
    const parts = key.split(minus ? '-' : '.');
    const [first = '', second = ''] = parts;
    const meant = minus ? parts.every((part) => isKnown(part, all)) : all.has(first);
    if (parts.length < 2 || meant) continue;
    const reading = minus ? `'${first}' minus '${second}'` : `the field '${second}' of '${first}'`;
    const better = key.replaceAll(/[-.:]/g, '_');
    issues.warning(
      'key_not_readable',
      `Node '${node.id}': '${key}' at position ${position} is ${reading}; to read that key, call it '${better}'`,
      { node_id: node.id, path, position },
    );
  }
}

/** Whether it is a number, or a key with or without fields. */
const isKnown = (part: string, keys: ReadonlySet<string>): boolean =>
  /^\d+$/.test(part) || keys.has(part.split('.', 1)[0]!);

function compoundsIn(
  language: NodeText['language'],
  text: string,
): { written: string; position: number }[] {
  if (language === 'template') {
    return parseTemplate(text).parts.flatMap((part) =>
      typeof part === 'string' ? [] : [{ written: part.text, position: part.position + 1 }],
    );
  }
  const unquoted = text.replaceAll(QUOTED, (quoted) => ' '.repeat(quoted.length));
  return [...unquoted.matchAll(COMPOUND)].map(({ 0: written, index: position }) => {
    return { written, position };
  });
}

/** `a-b.c` and `a-b`, longest first. */
function prefixesOf(written: string): string[] {
  const ends = [...written.matchAll(/[-.[]/g)].map(({ index }) => index);
  return [written, ...ends.toReversed().map((end) => written.slice(0, end))];
}
