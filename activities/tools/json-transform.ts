import { z } from 'zod';
import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { evaluateUntrusted } from '#shared/platform/threads/untrusted.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';
import { parseParams } from './params.ts';

export const jsonTransformParams = z.strictObject({ expression: z.string().min(1) });

/** `{expression}` over the run state to its value. The same input gives the same error, so errors are not retried. */
export const jsonTransform: NodeRunner<ToolNode> = async (call) => {
  const { expression } = parseParams('json_transform', jsonTransformParams, call.params);
  const { workspaceId, state, signal, place } = call;
  const outcome = await evaluateUntrusted(workspaceId, expression, state, { signal, place });
  if ('problem' in outcome) {
    throw new NodeError(`json_transform: ${outcome.problem}`, { retryable: false });
  }
  return { output: outcome.value, costMicros: 0 };
};
