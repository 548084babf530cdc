import type { Json, JsonObject } from '#shared/json.ts';
import { createBoundedCache } from '#shared/values/bounded-cache.ts';
import { ExpressionError } from './error.ts';
import { evaluateAst } from './evaluate.ts';
import { parseSource, type Ast } from './parser.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';

export { ExpressionError } from './error.ts';
export { type Ast } from './parser.ts';
export { truthy } from '#shared/graph/json-value.ts';

const parsed = createBoundedCache<string, Ast>(500);

/**
 * Parses an expression of at most 2,000 characters, 256 parts and 32 levels. Throws ExpressionError with the position
 * of the problem.
 */
export function parseExpression(source: string): Ast {
  if (typeof source !== 'string') {
    throw new ExpressionError(String(source), 0, 'an expression is text');
  }
  return parsed(source, () => parseSource(source));
}

/**
 * Evaluates an expression over the own data properties of `scope`. A missing key is null, at any depth. Limited to
 * 10,000 steps and texts of a million characters. Texts that it reads also count, against `budget`, which several
 * evaluations may share. Only throws ExpressionError.
 */
export function evaluateExpression(
  expression: string | Ast,
  scope: JsonObject,
  budget?: WorkBudget,
): Json {
  const ast = typeof expression === 'object' ? expression : parseExpression(expression);
  return evaluateAst(ast, scope, budget);
}

/** The top-level keys an expression reads. Throws ExpressionError when it does not parse. */
export function expressionRoots(source: string): string[] {
  return [...parseExpression(source).roots];
}
