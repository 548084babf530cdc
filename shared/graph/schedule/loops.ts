import type { Graph } from '#shared/contract/workflows/graph.ts';
import { linkGraph, reach, type LinkedEdge, type Links } from '#shared/graph/topology.ts';

export interface LoopBody {
  loop: number;
  nodes: Set<number>;
}

export interface LoopAnalysis {
  /** For each loop, all nodes that its 'true' edges reach without passing the loop again; includes its body. */
  inside: Map<number, Set<number>>;
  /** Bodies, outer before inner. */
  bodies: LoopBody[];
  /** Back edges: they lead to their loop's head and start its next iteration. */
  back: Set<LinkedEdge>;
  /** Edges from a body to a node other than its loop. */
  escapes: { loop: number; edge: LinkedEdge }[];
  /** Edges into a body from a node other than its loop. */
  entries: { loop: number; edge: LinkedEdge }[];
  /** 'true' edges to a node outside their loop's body. */
  strays: LinkedEdge[];
  /** Nodes where runs start: without incoming edges, except for back edges of their own loop. */
  roots: number[];
}

/**
 * Finds every loop's body: the nodes that its 'true' edges reach, without those also reached past the loop, from its
 * other edges or from the start of the graph. Linear in the size of the bodies for valid graphs; a body with an edge
 * from outside costs one traversal of the graph.
 */
export function analyseLoops(links: Links): LoopAnalysis {
  const inside = new Map<number, Set<number>>();
  links.isLoop.forEach((isLoop, node) => {
    if (isLoop) inside.set(node, reach(links, targets(links, node, true), node));
  });
  const roots = findRoots(links, inside);
  const analysis: LoopAnalysis = {
    inside,
    bodies: [],
    back: new Set(),
    escapes: [],
    entries: [],
    strays: [],
    roots,
  };
  for (const [loop, reached] of inside) {
    const nodes = isClosed(links, loop, reached, roots)
      ? reached
      : bodyOf(links, loop, reached, roots);
    analysis.bodies.push({ loop, nodes });
    collectEdges(links, loop, nodes, analysis);
  }
  analysis.bodies.sort((a, b) => b.nodes.size - a.nodes.size || a.loop - b.loop);
  return analysis;
}

/** For each node: the position of the innermost loop around it, or -1. */
export function innermostLoops(size: number, bodies: readonly LoopBody[]): number[] {
  const regions = new Array<number>(size).fill(-1);
  for (const body of bodies) for (const node of body.nodes) regions[node] = body.loop;
  return regions;
}

/** The ids of the nodes in bodies of maps. */
export function nodesInMaps(graph: Graph): Set<string> {
  const { bodies } = analyseLoops(linkGraph(graph));
  const maps = bodies.filter(({ loop }) => graph.nodes[loop]!.kind === 'map');
  return new Set(maps.flatMap(({ nodes }) => [...nodes].map((node) => graph.nodes[node]!.id)));
}

/** The kinds of the loops and maps around a node, outermost first, like the iterations of its steps. */
export function kindsAround(graph: Graph, nodeId: string): ('loop' | 'map')[] {
  const links = linkGraph(graph);
  const node = links.positions.get(nodeId);
  return analyseLoops(links)
    .bodies.filter(({ nodes }) => node !== undefined && nodes.has(node))
    .map(({ loop }) => (graph.nodes[loop]!.kind === 'map' ? 'map' : 'loop'));
}

function targets(links: Links, loop: number, ofBody: boolean): number[] {
  return links.out[loop]!.filter((edge) => (edge.when === 'true') === ofBody).map(
    (edge) => edge.to,
  );
}

// A loop at the start of a graph still has incoming edges, those of its own back edges.
function findRoots(links: Links, inside: ReadonlyMap<number, Set<number>>): number[] {
  const roots = links.in.flatMap((edges, node) => (edges.length === 0 ? [node] : []));
  const reached = reach(links, roots);
  for (const [loop, body] of inside) {
    if (
      reached.has(loop) ||
      !links.in[loop]!.every((edge) => edge.from === loop || body.has(edge.from))
    ) {
      continue;
    }
    roots.push(loop);
    for (const node of reach(links, [loop])) reached.add(node);
  }
  return roots.sort((a, b) => a - b);
}

function isClosed(
  links: Links,
  loop: number,
  reached: ReadonlySet<number>,
  roots: readonly number[],
): boolean {
  if (targets(links, loop, false).some((target) => reached.has(target))) return false;
  if (roots.some((root) => reached.has(root))) return false;
  for (const node of reached) {
    for (const edge of links.in[node]!) {
      if (edge.from !== loop && !reached.has(edge.from)) return false;
    }
  }
  return true;
}

function bodyOf(
  links: Links,
  loop: number,
  reached: ReadonlySet<number>,
  roots: readonly number[],
): Set<number> {
  const around = reach(links, [...targets(links, loop, false), ...roots], loop);
  const nodes = new Set<number>();
  for (const node of reached) if (!around.has(node)) nodes.add(node);
  return nodes;
}

function collectEdges(
  links: Links,
  loop: number,
  nodes: ReadonlySet<number>,
  analysis: LoopAnalysis,
): void {
  for (const edge of links.out[loop]!) {
    if (edge.when !== 'true' || nodes.has(edge.to)) continue;
    if (edge.to === loop) analysis.back.add(edge);
    else analysis.strays.push(edge);
  }
  for (const node of nodes) {
    for (const edge of links.out[node]!) {
      if (edge.to === loop) analysis.back.add(edge);
      else if (!nodes.has(edge.to)) analysis.escapes.push({ loop, edge });
    }
    for (const edge of links.in[node]!) {
      if (edge.from !== loop && !nodes.has(edge.from)) analysis.entries.push({ loop, edge });
    }
  }
}
