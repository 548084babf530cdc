import { hasOutputKey } from './kinds.ts';
import type { EdgeCondition, Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import { analyseLoops, innermostLoops } from './schedule/loops.ts';
import { linkGraph, topologicalOrder } from './topology.ts';

/** The version of the formats of compiled graphs and snapshots. It increases when either is interpreted differently. */
export const GRAPH_FORMAT = 1;

export interface CompiledEdge {
  /** Positions in `nodes`. */
  from: number;
  to: number;
  when?: EdgeCondition;
  /** A back edge to the head of the loop around `from`; nothing waits for it. */
  back?: true;
}

/** A graph ready to run, as plain JSON, so that it can be stored in a run's input. */
export interface CompiledGraph {
  format: typeof GRAPH_FORMAT;
  /** In topological order: a node comes after everything it waits for. */
  nodes: GraphNode[];
  edges: CompiledEdge[];
  /** Per node: the position of the innermost loop whose body contains it, or -1. */
  regions: number[];
}

export class GraphError extends Error {
  override readonly name = 'GraphError';
}

/**
 * Sorts a graph and finds its loop regions. Linear for valid graphs.
 * Throws GraphError when the graph cannot run (no nodes, a duplicate id, an edge to an unknown node, a cycle outside a
 * loop, an edge across the border of a loop body). For complete messages to users, call `checkGraph` first.
 */
export function compileGraph(graph: Graph): CompiledGraph {
  const links = linkGraph(graph);
  if (graph.nodes.length === 0) throw new GraphError('The graph has no nodes');
  if (links.positions.size !== graph.nodes.length) {
    throw new GraphError('Two nodes of the graph have the same id');
  }
  if (links.edges.length !== graph.edges.length) {
    throw new GraphError('An edge of the graph leads to an unknown node');
  }
  const loops = analyseLoops(links);
  const order = topologicalOrder(links, loops.back);
  if (order.length !== graph.nodes.length) {
    throw new GraphError('The graph has a cycle that is not the body of a loop');
  }
  if (loops.escapes.length + loops.entries.length > 0) {
    throw new GraphError("An edge of the graph crosses the border of a loop's body");
  }
  const regions = innermostLoops(graph.nodes.length, loops.bodies);
  const place = new Array<number>(order.length).fill(-1);
  order.forEach((node, index) => {
    place[node] = index;
  });
  return {
    format: GRAPH_FORMAT,
    nodes: order.map((node) => graph.nodes[node]!),
    edges: links.edges.map((edge) => ({
      from: place[edge.from]!,
      to: place[edge.to]!,
      ...(edge.when !== undefined && { when: edge.when }),
      ...(loops.back.has(edge) && { back: true as const }),
    })),
    regions: order.map((node) => (regions[node] === -1 ? -1 : place[regions[node]!]!)),
  };
}

/** The state key of a node's output. */
export function outputKey(node: GraphNode): string {
  return hasOutputKey(node) && node.output_key !== undefined ? node.output_key : node.id;
}

/** A node's display name. */
export function nodeLabel(node: GraphNode): string {
  return node.label !== undefined && node.label !== '' ? node.label : node.id;
}
