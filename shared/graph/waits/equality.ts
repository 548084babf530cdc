import { evaluateAst } from '#shared/graph/expression/evaluate.ts';
import { ExpressionError, parseExpression } from '#shared/graph/expression/expression.ts';
import type { AstNode } from '#shared/graph/expression/parser.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { memberOf } from '#shared/graph/json-value.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import { EVENT } from './wait-call.ts';

/** A part of the event that must have a value: its path, with dots, and the JSON of the value. */
export interface Equality {
  path: string;
  value: string;
}

/** A longer value would not fit into an index. */
const MAX_VALUE = 500;

/**
 * A condition that an event must meet to match, for an index: the first `event.… == <value>` that the whole expression
 * requires. Undefined if there is none; then every event of the name must be evaluated.
 */
export function equalityOf(
  match: string,
  state: JsonObject,
  budget?: WorkBudget,
): Equality | undefined {
  const ast = parseExpression(match);
  for (const { path, other } of equalitiesIn(ast.root)) {
    const value = scalar(() => evaluateAst({ ...ast, root: other }, state, budget));
    if (value !== undefined) return { path, value };
  }
  return undefined;
}

/** The paths that `equalityOf` can give, regardless of the state. */
export const pathsIn = (match: string): string[] =>
  equalitiesIn(parseExpression(match).root).map(({ path }) => path);

const equalitiesIn = (root: AstNode): { path: string; other: AstNode }[] =>
  required(root).flatMap((part) => {
    if (part.type !== 'binary' || part.operator !== '==') return [];
    const sides = [
      { side: part.left, other: part.right },
      { side: part.right, other: part.left },
    ];
    return sides.flatMap(({ side, other }) => {
      const path = pathOf(side);
      return path === undefined || reads(other) ? [] : [{ path: path.join('.'), other }];
    });
  });

/** The value that an event has at a path, as `equalityOf` writes it; undefined for one that equals no such value. */
export const valueAt = (event: JsonObject, path: string): string | undefined =>
  scalar(() => path.split('.').reduce((value: Json, name) => memberOf(value, name) ?? null, event));

/** The parts that must all be true. */
const required = (node: AstNode): AstNode[] =>
  node.type === 'binary' && node.operator === 'and'
    ? [...required(node.left), ...required(node.right)]
    : [node];

/** The names below `event`, if the node is such a path. */
function pathOf(node: AstNode): string[] | undefined {
  if (node.type === 'name') return node.name === EVENT ? [] : undefined;
  if (node.type !== 'member' || node.key.type !== 'literal') return undefined;
  const { value } = node.key;
  const before = pathOf(node.object);
  if (before === undefined || typeof value !== 'string' || value.includes('.')) return undefined;
  return [...before, value];
}

function reads(node: AstNode): boolean {
  switch (node.type) {
    case 'literal':
      return false;
    case 'name':
      return node.name === EVENT;
    case 'list':
      return node.items.some(reads);
    case 'member':
      return reads(node.object) || reads(node.key);
    case 'prefix':
      return reads(node.operand);
    case 'binary':
      return reads(node.left) || reads(node.right);
    case 'call':
      return node.args.some(reads);
  }
}

function scalar(compute: () => Json): string | undefined {
  let value: Json;
  try {
    value = compute();
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
  if (typeof value === 'object' && value !== null) return undefined;
  const text = JSON.stringify(value);
  return text.length > MAX_VALUE ? undefined : text;
}
