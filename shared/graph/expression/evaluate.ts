import type { Json, JsonObject } from '#shared/json.ts';
import { ExpressionError } from './error.ts';
import { callFunction } from './functions.ts';
import { OperandError, applyBinary, negate, spend, type Meter } from './operators.ts';
import type { Ast, AstNode } from './parser.ts';
import { memberOf, truthy } from '#shared/graph/json-value.ts';
import { MAX_WORK, type WorkBudget } from '#shared/values/work-budget.ts';

/** The maximum number of evaluated parts and compared values. */
const MAX_EXPRESSION_STEPS = 10_000;
/** The maximum number of values and characters in a list that the expression builds. */
const MAX_LIST_WEIGHT = 1_000_000;

interface Evaluation {
  source: string;
  scope: JsonObject;
  meter: Meter;
}

/** Evaluates a parsed expression; see `evaluateExpression`. */
export function evaluateAst(
  ast: Ast,
  scope: JsonObject,
  budget: WorkBudget = { work: MAX_WORK },
): Json {
  const meter: Meter = { steps: MAX_EXPRESSION_STEPS, budget };
  const result = evaluate({ source: ast.source, scope, meter }, ast.root);
  // Lists refer to their parts instead of copying them, but as text, a small list of large values is large.
  if (
    Array.isArray(result) &&
    ast.root.type !== 'name' &&
    weighsMoreThan(result, MAX_LIST_WEIGHT)
  ) {
    throw new ExpressionError(ast.source, ast.root.position, 'the list it gives is too large');
  }
  return result;
}

function evaluate(evaluation: Evaluation, node: AstNode): Json {
  try {
    spend(evaluation.meter, `it takes more than ${MAX_EXPRESSION_STEPS} steps`);
    return evaluateNode(evaluation, node);
  } catch (error) {
    if (!(error instanceof OperandError)) throw error;
    throw new ExpressionError(evaluation.source, node.position, error.message);
  }
}

function evaluateNode(evaluation: Evaluation, node: AstNode): Json {
  switch (node.type) {
    case 'literal':
      return node.value;
    case 'name':
      return memberOf(evaluation.scope, node.name) ?? null;
    case 'member':
      return memberOf(evaluate(evaluation, node.object), evaluate(evaluation, node.key)) ?? null;
    case 'list':
      return node.items.map((item) => evaluate(evaluation, item));
    case 'call':
      return callFunction(
        node.name,
        node.args.map((arg) => evaluate(evaluation, arg)),
        evaluation.meter,
      );
    case 'prefix': {
      const operand = evaluate(evaluation, node.operand);
      return node.operator === 'not' ? !truthy(operand) : negate(operand);
    }
    case 'binary': {
      const left = evaluate(evaluation, node.left);
      if (node.operator === 'and') return truthy(left) && truthy(evaluate(evaluation, node.right));
      if (node.operator === 'or') return truthy(left) || truthy(evaluate(evaluation, node.right));
      return applyBinary(node.operator, left, evaluate(evaluation, node.right), evaluation.meter);
    }
  }
}

function weighsMoreThan(value: Json, limit: number): boolean {
  const open: Json[] = [value];
  let weight = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    weight += typeof next === 'string' ? 1 + next.length : 1;
    if (weight > limit) return true;
    if (typeof next !== 'object' || next === null) continue;
    const parts: Json[] = Array.isArray(next) ? next : Object.values(next);
    // Counted before they are pushed, so that the stack also stays within the limit.
    if (weight + open.length + parts.length > limit) return true;
    for (const part of parts) open.push(part);
  }
  return false;
}
