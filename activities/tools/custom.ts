import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { callCustomTool, type CustomToolDeps } from '#shared/platform/calls/custom-tool.ts';
import { NodeError, type NodeRunner } from '#activities/nodes/node.ts';

/** Calls the tool of `custom:<name>`: the parameters are its arguments, its result is the output. */
export function createCustom(deps: CustomToolDeps): NodeRunner<ToolNode> {
  return async (call) => {
    const tool = call.customTool;
    if (tool === undefined) {
      throw new NodeError(`The tool '${call.node.tool_name}' is not registered`, {
        retryable: false,
      });
    }
    const { result } = await callCustomTool(deps, {
      tool,
      arguments: call.params,
      secrets: call.secrets,
      fresh: call.approved,
      code: call.code,
      idempotencyKey: call.idempotencyKey,
      timeoutMs: (call.node.timeout_seconds ?? tool.timeout_seconds) * 1000,
      signal: call.signal,
    });
    return { output: result, costMicros: 0 };
  };
}
