import type { Graph } from '#shared/contract/workflows/graph.ts';
import { collectIssues } from '#shared/graph/issues.ts';
import { linkGraph } from '#shared/graph/topology.ts';
import { keysBefore, writersOf } from './keys.ts';
import { checkStructure } from './structure.ts';

/** A key of the state that a node can read. */
export interface ReadableKey {
  key: string;
  /** The ids of the nodes that can set it. */
  nodes: string[];
}

/**
 * The keys that can be set before a node runs, by the rules of the graph check: those of earlier nodes, including
 * earlier iterations of a loop, and the item of a map around it. Empty for an unknown node, and in a graph with
 * duplicate ids or a cycle that is not a loop.
 */
export function readableKeys(graph: Graph, nodeId: string): ReadableKey[] {
  const links = linkGraph(graph);
  const node = links.positions.get(nodeId);
  const structure = checkStructure(collectIssues(), graph, links, new Set());
  if (node === undefined || structure === undefined) return [];
  if (links.positions.size !== graph.nodes.length) return [];
  const writers = writersOf(graph, links, structure);
  const bits = new Map([...writers.keys()].map((key, bit) => [key, bit]));
  const before = keysBefore(graph, links, structure, bits);
  return [...writers].flatMap(([key, nodes]) =>
    before.has(node, bits.get(key)!)
      ? [{ key, nodes: nodes.map((each) => graph.nodes[each]!.id) }]
      : [],
  );
}
