import type { NodeText } from '#shared/graph/node-texts.ts';
import { parseExpression } from './expression.ts';
import type { AstNode } from './parser.ts';
import { parseTemplate } from './template.ts';

/** A value of the state: its key, then keys and indexes within it. */
export type ReadPath = (string | number)[];

/**
 * The values of the state that a text reads, as far as their paths are literal: `list[at].price` reads `list` and `at`.
 * Throws ExpressionError when the text does not parse.
 */
export function pathsReadBy({ language, text, locals = [] }: NodeText): ReadPath[] {
  const paths =
    language === 'template' ? pathsInTemplate(text) : pathsIn(parseExpression(text).root);
  return paths.filter(([key]) => !locals.includes(String(key)));
}

const pathsInTemplate = (text: string): ReadPath[] =>
  parseTemplate(text).parts.flatMap((part) => (typeof part === 'string' ? [] : [part.path]));

function pathsIn(node: AstNode): ReadPath[] {
  switch (node.type) {
    case 'literal':
      return [];
    case 'name':
      return [[node.name]];
    case 'member':
      return pathsOfMember(node);
    case 'list':
      return node.items.flatMap(pathsIn);
    case 'call':
      return node.args.flatMap(pathsIn);
    case 'prefix':
      return pathsIn(node.operand);
    case 'binary':
      return [...pathsIn(node.left), ...pathsIn(node.right)];
  }
}

/** A literal member continues the path of its object. Before a computed one, the path ends. */
function pathsOfMember({ object, key }: Extract<AstNode, { type: 'member' }>): ReadPath[] {
  const [first, ...others] = pathsIn(object);
  const isPlace = object.type === 'name' || object.type === 'member';
  const isLiteral =
    key.type === 'literal' && (typeof key.value === 'string' || typeof key.value === 'number');
  if (first === undefined || !isPlace || !isLiteral) {
    return [...(first === undefined ? [] : [first]), ...others, ...pathsIn(key)];
  }
  // A computed member before this one has already ended the path.
  return endsOpen(object)
    ? [[...first, key.value as string | number], ...others]
    : [first, ...others];
}

/** Whether all members of the chain are literal. */
function endsOpen(node: AstNode): boolean {
  if (node.type === 'name') return true;
  return node.type === 'member' && node.key.type === 'literal' && endsOpen(node.object);
}
