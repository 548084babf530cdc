import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { outputKey, type CompiledEdge, type CompiledGraph } from '#shared/graph/compile.ts';
import { repeats } from '#shared/graph/kinds.ts';
import { type BitRows, createBitRows } from '#shared/graph/schedule/bit-rows.ts';

/** An edge of a graph. `ended`: an order only; it is taken when its source has ended or is skipped. */
export type WalkedEdge = Omit<CompiledEdge, 'when'> & { when?: CompiledEdge['when'] | 'ended' };

/** A compiled graph in the form that the dry run uses. */
export interface Layout {
  nodes: readonly GraphNode[];
  /** Incoming and outgoing edges per node, without back edges. */
  into: WalkedEdge[][];
  out: WalkedEdge[][];
  /** Back edges by their loop or map. */
  back: WalkedEdge[][];
  regions: readonly number[];
  /** The loops and maps around a node, innermost first. */
  around: number[][];
  /** The same as a table: whether a node is in the body of a loop or map. */
  inside: BitRows;
  /** All nodes in the body of a loop or map; empty for other nodes. */
  bodies: number[][];
  /** An order in which each node comes after all nodes that lead to it. `ends` marks the end of a loop or map. */
  order: { node: number; ends: boolean }[];
  /** Per node: those that only begin after it has ended, within an iteration. */
  follows: BitRows;
  /** Per state key: the nodes that write it. */
  writers: ReadonlyMap<string, number[]>;
  hasErrorEdge: boolean[];
  /** Whether the run continues if the node fails: it has error edges, or it is in an item whose failure is caught. */
  isCaught: boolean[];
}

/** `isItem`: the graph is a part of an item whose failure is caught. */
export function layoutOf(
  {
    nodes,
    edges,
    regions,
  }: Pick<CompiledGraph, 'nodes' | 'regions'> & { edges: readonly WalkedEdge[] },
  isItem = false,
): Layout {
  const size = nodes.length;
  const lists = () => nodes.map((): WalkedEdge[] => []);
  const layout = { into: lists(), out: lists(), back: lists() };
  for (const edge of edges) {
    if (edge.back) {
      layout.back[edge.to]!.push(edge);
      continue;
    }
    layout.out[edge.from]!.push(edge);
    layout.into[edge.to]!.push(edge);
  }
  const next = successors(layout.out, nodes, regions);
  const order = sorted(next);
  const follows = createBitRows(next.length, size);
  for (const at of order.toReversed()) {
    for (const to of next[at]!) {
      if (to < size) follows.add(at, to);
      follows.unite(at, to);
    }
  }
  const around = nodes.map((_, node) => regionsAround(regions, node));
  const bodies = nodes.map((): number[] => []);
  const inside = createBitRows(size, size);
  around.forEach((heads, node) => {
    for (const head of heads) {
      bodies[head]!.push(node);
      inside.add(node, head);
    }
  });
  // Also those that lead back to a loop or map.
  const hasErrorEdge = nodes.map(() => false);
  for (const { from, when } of edges) if (when === 'error') hasErrorEdge[from] = true;
  const endsItem = (head: number): boolean => {
    const node = nodes[head]!;
    return node.kind === 'map' && (node.on_item_error === 'collect' || hasErrorEdge[head]!);
  };
  return {
    nodes,
    ...layout,
    regions,
    around,
    inside,
    bodies,
    order: order.map((at) => ({ node: at % size, ends: at >= size })),
    follows,
    writers: writersOf(nodes),
    hasErrorEdge,
    isCaught: hasErrorEdge.map((own, at) => isItem || own || around[at]!.some(endsItem)),
  };
}

/** The successors of each node. The end of a loop or map, at `size` positions after it, follows its body. */
function successors(
  out: WalkedEdge[][],
  nodes: readonly GraphNode[],
  regions: readonly number[],
): number[][] {
  const size = nodes.length;
  const next = Array.from({ length: 2 * size }, (): number[] => []);
  nodes.forEach((node, at) => {
    const end = repeats(node) ? at + size : at;
    for (const { to } of out[at]!) next[regions[to] === at ? at : end]!.push(to);
    if (end !== at) next[at]!.push(end);
    if (regions[at] !== -1) next[end]!.push(regions[at]! + size);
  });
  return next;
}

/** Kahn's order. Nodes that repeat nothing have no end, so their ends are left out. */
function sorted(next: number[][]): number[] {
  const size = next.length / 2;
  const waiting = new Int32Array(next.length);
  for (const targets of next) for (const to of targets) waiting[to]! += 1;
  const order: number[] = [];
  for (let at = 0; at < size; at += 1) if (waiting[at] === 0) order.push(at);
  for (let done = 0; done < order.length; done += 1) {
    for (const to of next[order[done]!]!) {
      waiting[to]! -= 1;
      if (waiting[to] === 0) order.push(to);
    }
  }
  return order;
}

function regionsAround(regions: readonly number[], node: number): number[] {
  const around: number[] = [];
  for (let at = regions[node]!; at !== -1; at = regions[at]!) around.push(at);
  return around;
}

function writersOf(nodes: readonly GraphNode[]): Map<string, number[]> {
  const writers = new Map<string, number[]>();
  nodes.forEach((node, at) => {
    // Caught errors and the items of a map are written under the node's id.
    for (const key of new Set([outputKey(node), node.id])) {
      writers.set(key, [...(writers.get(key) ?? []), at]);
    }
  });
  return writers;
}
