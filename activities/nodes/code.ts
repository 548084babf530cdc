import type { CodeNode } from '#shared/contract/workflows/graph.ts';
import { defaultTimeoutSeconds } from '#shared/graph/kinds.ts';
import { computeCode } from '#shared/platform/code/tool.ts';
import type { NodeRunner } from './node.ts';

/** Executes the code of a node with the run's state. */
export const runCodeNode: NodeRunner<CodeNode> = async (call) => {
  const { node, state, code, workspaceId, signal } = call;
  const seconds = node.timeout_seconds ?? defaultTimeoutSeconds(node);
  const surroundings = { ...code, workspaceId, signal };
  const output = await computeCode(surroundings, { ...node, argument: state, seconds });
  return { output, costMicros: 0 };
};
