import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { parseDelay } from '#shared/tools.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';

/** Does not wait, because the workflow's durable timer does. Checks the parameters and returns the time waited. */
export const delay: NodeRunner<ToolNode> = async (call) => {
  const parsed = parseDelay(call.params);
  if ('error' in parsed) throw new NodeError(parsed.error, { retryable: false });
  return { output: { delayed_seconds: parsed.seconds }, costMicros: 0 };
};
