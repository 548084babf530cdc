import type { GraphNode, MapNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { WorkBudget } from '#shared/values/work-budget.ts';
import {
  evaluateExpression,
  ExpressionError,
  truthy,
} from '#shared/graph/expression/expression.ts';
import { MAX_MAP_ITEMS } from '#shared/graph/schedule/map-items.ts';
import { exactly, upTo } from './bounds.ts';
import { type Examined, type Examining, NOTHING, SHORT_OUTPUT } from './examined.ts';
import type { NodeReading } from './texts.ts';

type Evaluated = ({ value: Json } | { error: string }) & { work: number };

/** Undefined when the expression reads unknown values, or when no work is left. */
export function evaluateKnown(
  expression: string,
  reading: NodeReading,
  budget: WorkBudget,
  own: JsonObject = {},
): Evaluated | undefined {
  if (budget.work < 0 || reading.fit() !== 'known') return undefined;
  const before = budget.work;
  const work = (): number => before - budget.work;
  try {
    const value = evaluateExpression(expression, { ...reading.state, ...own }, budget);
    return { value, work: work() };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    return budget.work < 0 ? undefined : { error: error.message, work: work() };
  }
}

export function examineCondition(
  { budget, crowded }: Examining,
  expression: string,
  reading: NodeReading,
): Examined {
  const found = evaluateKnown(expression, reading, budget);
  const bytes = SHORT_OUTPUT;
  if (found === undefined) return { ...NOTHING, fails: 'maybe', bytes };
  if ('error' in found) return { ...NOTHING, fails: 'always', bytes };
  const fails = crowded ? 'maybe' : 'never';
  return { ...NOTHING, fails, bytes, work: found.work, result: truthy(found.value) };
}

export function examineLoop(
  { budget, crowded }: Examining,
  { id, expression, max_iterations: most }: Extract<GraphNode, { kind: 'loop' }>,
  reading: NodeReading,
): Examined {
  const bytes = SHORT_OUTPUT;
  let work = 0;
  for (let iterations = 0; ; iterations += 1) {
    const own = { [id]: { iterations, exhausted: false } };
    const found = evaluateKnown(expression, reading, budget, own);
    if (found === undefined) {
      // The earlier iterations are known.
      return { ...NOTHING, fails: 'maybe', bytes, rounds: { min: iterations, max: most } };
    }
    work = Math.max(work, found.work);
    if ('error' in found) {
      const fails = iterations === 0 ? 'always' : 'maybe';
      return { ...NOTHING, fails, bytes, work, rounds: exactly(iterations) };
    }
    if (!truthy(found.value) || iterations === most) {
      const fails = crowded ? 'maybe' : 'never';
      return { ...NOTHING, fails, bytes, work, rounds: exactly(iterations) };
    }
  }
}

export function examineMap(
  { budget, crowded }: Examining,
  { items }: MapNode,
  reading: NodeReading,
): Examined {
  const found = evaluateKnown(items, reading, budget);
  if (found === undefined) return { ...NOTHING, fails: 'maybe', rounds: upTo(MAX_MAP_ITEMS) };
  if ('error' in found || !Array.isArray(found.value) || found.value.length > MAX_MAP_ITEMS) {
    return { ...NOTHING, fails: 'always' };
  }
  const fails = crowded ? 'maybe' : 'never';
  return { ...NOTHING, fails, work: found.work, rounds: exactly(found.value.length) };
}

/** Whether a transform fails, if no policy redacts its expression. */
export function transformFails(
  { tool_name, params: { expression }, timeout_seconds = Infinity }: ToolNode,
  reading: NodeReading,
  budget: WorkBudget,
): Examined['fails'] {
  if (tool_name !== 'json_transform' || typeof expression !== 'string') return 'maybe';
  const value = evaluateKnown(expression, reading, budget);
  if (value === undefined) return 'maybe';
  if ('error' in value) return 'always';
  return value.work < LITTLE_WORK && timeout_seconds > 10 ? 'never' : 'maybe';
}

/** Far below every limit on evaluations. */
const LITTLE_WORK = 10_000;
