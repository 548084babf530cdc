import type { AgentNode, AgentTool, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json } from '#shared/json.ts';
import { isObject } from './json-value.ts';

/** An agent's tools in their long form. */
export const agentToolsOf = ({ tools = [] }: Pick<AgentNode, 'tools'>): AgentTool[] =>
  tools.map((tool) => (typeof tool === 'string' ? { name: tool, on_error: 'tell' } : tool));

/** A node, or any JSON in its place in a draft. */
type DrawnNode = GraphNode | Pick<AgentNode, 'tools'> | Json;

/** The names of the tools that a saved node offers to its model. In a draft, these can be anything. */
export function offeredNamesOf(node: DrawnNode): string[] {
  const { tools } = membersOf(node);
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((entry) => {
    const name = isObject(entry) ? entry['name'] : entry;
    return typeof name === 'string' ? [name] : [];
  });
}

/** The names of the tools that a node calls: its own, and those that it offers to its model. */
export function toolNamesOf(node: DrawnNode): string[] {
  const { tool_name: own } = membersOf(node);
  return typeof own === 'string' ? [own, ...offeredNamesOf(node)] : offeredNamesOf(node);
}

function membersOf(node: DrawnNode): { tool_name?: Json; tools?: Json } {
  const drawn = node as Json;
  return isObject(drawn) ? drawn : {};
}
