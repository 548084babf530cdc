import type { EdgeCondition, Graph } from '#shared/contract/workflows/graph.ts';
import { repeats } from './kinds.ts';

export interface LinkedEdge {
  /** Positions in `graph.nodes`. */
  from: number;
  to: number;
  when: EdgeCondition | undefined;
  /** Position in `graph.edges`. */
  index: number;
}

/** The graph by position, for loop analysis and ordering. */
export interface Links {
  edges: LinkedEdge[];
  out: LinkedEdge[][];
  in: LinkedEdge[][];
  /** Whether the node is a loop or a map. */
  isLoop: boolean[];
  positions: Map<string, number>;
}

/** Resolves edges to positions. Among nodes with the same id, the first counts; edges to unknown nodes are omitted. */
export function linkGraph(graph: Graph): Links {
  const positions = new Map<string, number>();
  graph.nodes.forEach((node, position) => {
    if (!positions.has(node.id)) positions.set(node.id, position);
  });
  const links: Links = {
    edges: [],
    out: graph.nodes.map(() => []),
    in: graph.nodes.map(() => []),
    isLoop: graph.nodes.map(repeats),
    positions,
  };
  graph.edges.forEach((edge, index) => {
    const from = positions.get(edge.source);
    const to = positions.get(edge.target);
    if (from === undefined || to === undefined) return;
    const linked: LinkedEdge = { from, to, when: edge.condition_value, index };
    links.edges.push(linked);
    links.out[from]!.push(linked);
    links.in[to]!.push(linked);
  });
  return links;
}

/** All nodes reachable from `starts`, including these, on paths that avoid `avoid`. */
export function reach(links: Links, starts: Iterable<number>, avoid = -1): Set<number> {
  const seen = new Set<number>();
  const open: number[] = [];
  const visit = (node: number): void => {
    if (node === avoid || seen.has(node)) return;
    seen.add(node);
    open.push(node);
  };
  for (const start of starts) visit(start);
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const edge of links.out[node]!) visit(edge.to);
  }
  return seen;
}

/**
 * Kahn's order over the edges without those in `skip`. Among nodes that are ready at the same time, the order in the
 * graph decides, so the result is deterministic. Omits nodes on a cycle and nodes after one.
 */
export function topologicalOrder(links: Links, skip: ReadonlySet<LinkedEdge>): number[] {
  const waiting = links.in.map((edges) =>
    edges.reduce((count, edge) => count + (skip.has(edge) ? 0 : 1), 0),
  );
  const order: number[] = [];
  waiting.forEach((count, node) => {
    if (count === 0) order.push(node);
  });
  for (let next = 0; next < order.length; next += 1) {
    for (const edge of links.out[order[next]!]!) {
      if (skip.has(edge)) continue;
      waiting[edge.to]! -= 1;
      if (waiting[edge.to] === 0) order.push(edge.to);
    }
  }
  return order;
}

/**
 * The groups of nodes on cycles over the edges without those in `skip`, each in the order of the graph. Tarjan's
 * algorithm with its own stack, since a chain can be a thousand nodes deep.
 */
export function findCycles(links: Links, skip: ReadonlySet<LinkedEdge>): number[][] {
  const size = links.out.length;
  const found = new Int32Array(size).fill(-1);
  const low = new Int32Array(size);
  const next = new Int32Array(size);
  const onStack = new Uint8Array(size);
  const stack: number[] = [];
  const cycles: number[][] = [];
  let counter = 0;
  const enter = (node: number, calls: number[]): void => {
    found[node] = low[node] = counter;
    counter += 1;
    onStack[node] = 1;
    stack.push(node);
    calls.push(node);
  };
  const close = (node: number): void => {
    const group: number[] = [];
    for (let member = -1; member !== node;) {
      member = stack.pop()!;
      onStack[member] = 0;
      group.push(member);
    }
    const selfEdge = links.out[node]!.some((edge) => edge.to === node && !skip.has(edge));
    if (group.length > 1 || selfEdge) cycles.push(group.sort((a, b) => a - b));
  };
  for (let root = 0; root < size; root += 1) {
    if (found[root] !== -1) continue;
    const calls: number[] = [];
    enter(root, calls);
    while (calls.length > 0) {
      const node = calls[calls.length - 1]!;
      const edge = links.out[node]![next[node]!];
      if (edge !== undefined) {
        next[node]! += 1;
        if (skip.has(edge)) continue;
        if (found[edge.to] === -1) enter(edge.to, calls);
        else if (onStack[edge.to]) low[node] = Math.min(low[node]!, found[edge.to]!);
        continue;
      }
      calls.pop();
      const parent = calls[calls.length - 1];
      if (parent !== undefined) low[parent] = Math.min(low[parent]!, low[node]!);
      if (low[node] === found[node]) close(node);
    }
  }
  return cycles.sort((a, b) => a[0]! - b[0]!);
}
