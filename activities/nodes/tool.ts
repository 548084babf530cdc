import type { ToolNode } from '#shared/contract/workflows/graph.ts';
import { customToolName } from '#shared/tools.ts';
import type { ToolRegistry } from '#activities/tools/registry.ts';
import { NodeError, type NodeRunner } from './node.ts';

/**
 * Runs the node's tool from the registry, or `custom` for a custom tool. Throws a final NodeError for an unknown name.
 */
export function createToolRunner(
  tools: ToolRegistry,
  custom: NodeRunner<ToolNode>,
): NodeRunner<ToolNode> {
  return async (call) => {
    const name = call.node.tool_name;
    const own = customToolName(name) === undefined ? undefined : custom;
    const runner = Object.hasOwn(tools, name) ? tools[name] : own;
    if (runner === undefined) throw new NodeError(`Unknown tool '${name}'`, { retryable: false });
    return runner(call);
  };
}
