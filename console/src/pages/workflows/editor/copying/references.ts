import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { parseExpression } from '#shared/graph/expression/expression.ts';
import type { AstNode } from '#shared/graph/expression/parser.ts';
import { parseTemplate } from '#shared/graph/expression/template.ts';
import { mockOutputTexts, type NodeText, nodeTexts } from '#shared/graph/node-texts.ts';
import { CALLBACKS } from '#shared/values/callbacks.ts';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';

/** New names for keys of the state. */
export type NewKeys = ReadonlyMap<string, string>;

/**
 * The node with new names for the keys that its texts read. A text that cannot be parsed, and so cannot run, is left
 * unchanged.
 */
export function withNewKeys(node: JsonRecord, keys: NewKeys): JsonRecord {
  let changed = node;
  for (const text of textsOf(node)) {
    const renamed = renamedText(text, keys);
    if (renamed === text.text) continue;
    changed = withText(changed, partsOf(text.path), renamed) as JsonRecord;
  }
  return changed;
}

/** The texts of a node of a draft, which can contain anything. */
function textsOf(node: JsonRecord): NodeText[] {
  const known = node as unknown as GraphNode;
  try {
    const outputs = known.kind === 'agent' ? mockOutputTexts(known) : [];
    return [...nodeTexts(known), ...outputs].filter(({ text }) => typeof text === 'string');
  } catch {
    return [];
  }
}

function renamedText({ text, language, locals = [] }: NodeText, keys: NewKeys): string {
  const renamed = (key: string): string | undefined =>
    locals.includes(key) ? undefined : keys.get(key);
  try {
    return language === 'template' ? inTemplate(text, renamed) : inExpression(text, renamed);
  } catch {
    return text;
  }
}

type Renamed = (key: string) => string | undefined;

interface Replacement {
  at: number;
  from: string;
  to: string;
}

function inTemplate(text: string, renamed: Renamed): string {
  const found = parseTemplate(text).parts.flatMap((part): Replacement[] => {
    if (typeof part === 'string') return [];
    const from = String(part.path[0]);
    const to = renamed(from);
    const at = part.position + 1;
    if (to !== undefined) return [{ at, from, to }];
    // The address of a copy of a wait.
    const [root, id] = part.path;
    const copy = root === CALLBACKS ? renamed(String(id ?? '')) : undefined;
    if (copy === undefined) return [];
    const inside = part.text.indexOf(String(id), CALLBACKS.length);
    return [{ at: at + inside, from: String(id), to: copy }];
  });
  return replaced(text, found);
}

function inExpression(text: string, renamed: Renamed): string {
  const found: Replacement[] = [];
  const visit = (node: AstNode): void => {
    if (node.type === 'name') {
      const to = renamed(node.name);
      if (to !== undefined) found.push({ at: node.position, from: node.name, to });
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parseExpression(text).root);
  return replaced(text, found);
}

function childrenOf(node: AstNode): AstNode[] {
  switch (node.type) {
    case 'literal':
    case 'name':
      return [];
    case 'list':
      return node.items;
    case 'member':
      return [node.object, node.key];
    case 'prefix':
      return [node.operand];
    case 'binary':
      return [node.left, node.right];
    case 'call':
      return node.args;
  }
}

/** From the end, so that earlier positions stay valid. */
function replaced(text: string, found: readonly Replacement[]): string {
  return [...found]
    .sort((a, b) => b.at - a.at)
    .reduce(
      (rest, { at, from, to }) => rest.slice(0, at) + to + rest.slice(at + from.length),
      text,
    );
}

/** Splits `params.items[0]` into `params`, `items`, `0`. */
const partsOf = (path: string): string[] => path.split(/[.[\]]+/).filter((part) => part !== '');

function withText(value: unknown, [part, ...rest]: string[], text: string): unknown {
  if (part === undefined) return text;
  if (Array.isArray(value)) {
    return value.with(Number(part), withText(value[Number(part)], rest, text));
  }
  if (!isRecord(value) || !Object.hasOwn(value, part)) return value;
  return { ...value, [part]: withText(value[part], rest, text) };
}
