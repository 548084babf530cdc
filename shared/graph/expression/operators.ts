import type { Json } from '#shared/json.ts';
import { isObject, memberOf, typeName } from '#shared/graph/json-value.ts';
import { holdsText } from './text-search.ts';
import { takeTextWork, takeWork, type WorkBudget } from '#shared/values/work-budget.ts';

export type BinaryOperator =
  | 'or'
  | 'and'
  | '=='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | 'in'
  | 'not in'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%';

/** The longest string an expression may build. */
export const MAX_STRING = 1_000_000;

/** The maximum depth of a comparison. Deeper values are rejected before they exhaust the call stack. */
const MAX_COMPARED_DEPTH = 500;

/** Unsupported operands; the evaluator adds the position. */
export class OperandError extends Error {
  override readonly name = 'OperandError';
}

/** The remaining budget of one evaluation. */
export interface Meter {
  steps: number;
  /** May be shared with other evaluations. */
  budget: WorkBudget;
}

const TOO_MUCH_WORK =
  'it exceeds the limit of work, alone or with the expressions before it: use shorter texts, or a json_transform step';

/** Counts one step. Throws OperandError, with this message if the evaluation's own steps are used up. */
export function spend(
  meter: Meter,
  message = 'it takes too many steps: the values it compares are too large',
): void {
  meter.steps -= 1;
  if (meter.steps < 0) throw new OperandError(message);
  if (!takeWork(meter.budget, 1)) {
    throw new OperandError(TOO_MUCH_WORK);
  }
}

/** Counts the cost of reading text or lists of this length. Throws OperandError. */
export function spendText(meter: Meter, length: number): void {
  if (!takeTextWork(meter.budget, length)) throw new OperandError(TOO_MUCH_WORK);
}

/** Applies an operator to two evaluated values; `and` and `or` stop early and are handled elsewhere. */
export function applyBinary(
  operator: Exclude<BinaryOperator, 'and' | 'or'>,
  left: Json,
  right: Json,
  meter: Meter,
): Json {
  switch (operator) {
    case '==':
      return equals(left, right, meter);
    case '!=':
      return !equals(left, right, meter);
    case 'in':
      return isIn(left, right, meter);
    case 'not in':
      return !isIn(left, right, meter);
    case '<':
    case '<=':
    case '>':
    case '>=':
      return isOrdered(operator, left, right, meter);
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return calculate(operator, left, right, meter);
  }
}

/** Compares by value, at any depth. Values of different types are not equal. */
function equals(left: Json, right: Json, meter: Meter, depth = 0): boolean {
  spend(meter);
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) {
    if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
      spendText(meter, left.length);
    }
    return left === right;
  }
  if (left === right) return true;
  if (depth >= MAX_COMPARED_DEPTH) {
    throw new OperandError('the values it compares are nested too deeply');
  }
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equals(item, right[index]!, meter, depth + 1));
  }
  const keys = Object.keys(left);
  // Listing the keys of an object takes as long as reading ten characters for each.
  spendText(meter, keys.length * 10);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) => Object.hasOwn(right, key) && equals(left[key]!, right[key]!, meter, depth + 1),
  );
}

/** Whether a list contains the value, a text the substring, or an object the key. Null contains nothing. */
export function isIn(needle: Json, haystack: Json, meter: Meter): boolean {
  if (haystack === null) return false;
  if (Array.isArray(haystack)) return haystack.some((item) => equals(item, needle, meter));
  if (typeof haystack === 'string' && typeof needle === 'string') {
    spendText(meter, haystack.length + needle.length);
    return holdsText(haystack, needle);
  }
  if (isObject(haystack) && typeof needle === 'string') {
    return memberOf(haystack, needle) !== undefined;
  }
  if (needle === null && (typeof haystack === 'string' || isObject(haystack))) return false;
  throw new OperandError(`cannot look for ${typeName(needle)} in ${typeName(haystack)}`);
}

function isOrdered(
  operator: '<' | '<=' | '>' | '>=',
  left: Json,
  right: Json,
  meter: Meter,
): boolean {
  if (left === null || right === null) return false;
  const comparable =
    (typeof left === 'number' && typeof right === 'number') ||
    (typeof left === 'string' && typeof right === 'string');
  if (!comparable) {
    throw new OperandError(`cannot order ${typeName(left)} ${operator} ${typeName(right)}`);
  }
  if (typeof left === 'string') spendText(meter, Math.min(left.length, String(right).length));
  switch (operator) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}

function calculate(
  operator: '+' | '-' | '*' | '/' | '%',
  left: Json,
  right: Json,
  meter: Meter,
): Json {
  if (operator === '+' && typeof left === 'string' && typeof right === 'string') {
    if (left.length + right.length > MAX_STRING) {
      throw new OperandError(`the text passes ${MAX_STRING} characters`);
    }
    spendText(meter, left.length + right.length);
    return left + right;
  }
  if (typeof left !== 'number' || typeof right !== 'number') {
    throw new OperandError(`cannot compute ${typeName(left)} ${operator} ${typeName(right)}`);
  }
  switch (operator) {
    case '+':
      return finite(left + right);
    case '-':
      return finite(left - right);
    case '*':
      return finite(left * right);
    case '/':
    case '%':
      if (right === 0) throw new OperandError('division by zero');
      return finite(operator === '/' ? left / right : left % right);
  }
}

export function negate(value: Json): number {
  if (typeof value !== 'number') throw new OperandError(`cannot negate ${typeName(value)}`);
  return finite(-value);
}

/** A number that JSON can represent. Adding zero turns -0 into 0. */
export function finite(value: number): number {
  if (!Number.isFinite(value)) throw new OperandError('the number is too large');
  return value + 0;
}
