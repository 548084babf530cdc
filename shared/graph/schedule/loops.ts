import { reach, type LinkedEdge, type Links } from '../topology.ts';

export interface LoopBody {
  loop: number;
  nodes: Set<number>;
}

export interface LoopAnalysis {
  /** For each loop all that its 'true' edges reach without passing it again; its body is part of that. */
  inside: Map<number, Set<number>>;
  /** Innermost loop last: a body stands after every body that contains it. */
  bodies: LoopBody[];
  /** Edges that lead back to their loop's head and start its next round. */
  back: Set<LinkedEdge>;
  /** Edges out of a body to elsewhere than its loop. */
  escapes: { loop: number; edge: LinkedEdge }[];
  /** Edges into a body that do not come from its loop. */
  entries: { loop: number; edge: LinkedEdge }[];
  /** 'true' edges that lead to a node which is no part of their loop's body. */
  strays: LinkedEdge[];
  /** Where runs begin: nodes no edge leads to, but for the way back of their own loop. */
  roots: number[];
}

/**
 * Finds every loop's body: what its 'true' edges reach, less what is also reached around the loop, that is from its
 * other edges or from the start of the graph without passing it. Linear in the size of the bodies for sound graphs;
 * a body that something else leads into costs one walk over the graph.
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

/** For each node the position of the innermost loop around it, or -1. */
export function innermostLoops(size: number, bodies: readonly LoopBody[]): number[] {
  const regions = new Array<number>(size).fill(-1);
  for (const body of bodies) for (const node of body.nodes) regions[node] = body.loop;
  return regions;
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
