import { z } from 'zod';
import type { ToolNode } from '../../shared/contract/graph.ts';
import { evaluateExpression, ExpressionError } from '../../shared/graph/expression.ts';
import { NodeError, type NodeRunner } from '../nodes/node.ts';
import { parseParams } from './params.ts';

const paramsSchema = z.strictObject({ expression: z.string().min(1) });

/** `{expression}` over the run state to its value. The same input gives the same error, so none is worth a retry. */
export const jsonTransform: NodeRunner<ToolNode> = async (call) => {
  const { expression } = parseParams('json_transform', paramsSchema, call.params);
  try {
    return { output: evaluateExpression(expression, call.state), costMicros: 0 };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    throw new NodeError(`json_transform: ${error.message}`, { retryable: false, cause: error });
  }
};
