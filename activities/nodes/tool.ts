import type { ToolNode } from '../../shared/contract/graph.ts';
import type { ToolRegistry } from '../tools/registry.ts';
import { NodeError, type NodeRunner } from './node.ts';

/** Runs the node's tool out of the registry. Throws a final NodeError for a name that is not in it. */
export function createToolRunner(tools: ToolRegistry): NodeRunner<ToolNode> {
  return async (call) => {
    const name = call.node.tool_name;
    const runner = Object.hasOwn(tools, name) ? tools[name] : undefined;
    if (runner === undefined) throw new NodeError(`Unknown tool '${name}'`, { retryable: false });
    return runner(call);
  };
}
