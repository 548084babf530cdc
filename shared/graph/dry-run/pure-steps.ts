import type { GraphNode, ToolNode } from '#shared/contract/workflows/graph.ts';
import {
  evaluateExpression,
  ExpressionError,
  truthy,
} from '#shared/graph/expression/expression.ts';
import { type Json, toStorable } from '#shared/json.ts';
import { isPureTool } from '#shared/tools.ts';
import type { Facts } from './plan.ts';
import type { Knowledge } from './knowledge.ts';
import { type NodeReading, readNode } from './texts.ts';

/** The maximum length of a computed output as JSON. A longer one counts as unknown. */
const MAX_OUTPUT_LENGTH = 100_000;

/** The output of a pure step from what it reads; undefined when it is not known. */
export type Compute = (node: GraphNode, at: number, reading: NodeReading) => Output | undefined;

interface Output {
  /** Undefined: that it is known is all that counts. */
  value: Json | undefined;
}

/** Whether a step only computes its output from what it reads. */
const isPure = (node: GraphNode): node is ToolNode =>
  node.kind === 'tool' && isPureTool(node.tool_name);

/** Also knows the outputs of pure steps that read only known values. */
export function withPureSteps(
  base: Knowledge,
  nodes: readonly GraphNode[],
  compute: Compute,
): Knowledge {
  const outputs = new Map<number, Output | undefined>();
  const outputOf = (writer: number): Output | undefined => {
    if (outputs.has(writer)) return outputs.get(writer);
    // A step that reads its own output, in a loop, is not known.
    outputs.set(writer, undefined);
    const node = nodes[writer]!;
    const known = isPure(node) || node.kind === 'condition';
    const output = known ? compute(node, writer, readNode(layered, writer, node)) : undefined;
    outputs.set(writer, output);
    return output;
  };
  const layered: Knowledge = {
    ...base,
    at: (node, key, apart) => {
      const found = base.at(node, key, apart);
      if (found.known || found.writer === undefined) return found;
      const output = outputOf(found.writer);
      return output === undefined ? found : { known: true, value: output.value };
    },
  };
  return layered;
}

/** Computes a pure step as its execution would. Policies that redact what a step reads make its output unknown. */
export const computeStep =
  ({ budget, judging }: Pick<Facts, 'budget' | 'judging'>): Compute =>
  (node, _at, reading) => {
    const expression =
      node.kind === 'condition'
        ? node.expression
        : isPure(node) && judging.policies.redactor === undefined
          ? node.params['expression']
          : undefined;
    if (typeof expression !== 'string' || reading.fit() !== 'known' || budget.work < 0) {
      return undefined;
    }
    try {
      const found = evaluateExpression(expression, reading.state, budget);
      if (node.kind === 'condition') return { value: { result: truthy(found) } };
      const value = toStorable(found);
      return JSON.stringify(value).length > MAX_OUTPUT_LENGTH ? undefined : { value };
    } catch (error) {
      if (error instanceof ExpressionError) return undefined;
      throw error;
    }
  };
