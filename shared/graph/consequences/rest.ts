import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import { repeats } from '#shared/graph/kinds.ts';
import type { WalkedEdge } from '#shared/graph/dry-run/layout.ts';
import type { Json } from '#shared/json.ts';
import { iterationOf, type RunState } from '#shared/graph/schedule/run-state.ts';

/** A node of the rest of a run. A loop that has begun gives two: what is left of its iteration, and the later ones. */
interface RestNode {
  /** The position in the run's graph. */
  node: number;
  /** The known iterations of the loops and maps around its next step, outermost first, up to the first unknown one. */
  iteration: number[];
  /** It has begun, so nothing can keep it from happening. */
  open: boolean;
  /** An edge that is settled leads to it. */
  reached: boolean;
  /** Of a map that the answer has begun. */
  items: readonly Json[] | undefined;
  /** The loop in progress whose later iterations contain it, or are it. */
  later: number | undefined;
}

/** What is left of a run, or of one item of a map, as a graph of its own. */
export interface RestOfGraph {
  nodes: GraphNode[];
  edges: WalkedEdge[];
  regions: number[];
  places: RestNode[];
}

interface Building {
  run: RunState;
  /** Whether a step that is ready, or a map in progress, had begun before. */
  isOpen: (node: number) => boolean;
  rest: RestOfGraph;
  /** Where the nodes of the present iterations are in the rest. */
  at: Map<number, number>;
}

/**
 * The rest of a scope: what has not ended in it, in the present iterations of its loops, followed by the loops' later
 * iterations. `isOpen`: whether a node that is ready or running had begun before.
 */
export function restOf(run: RunState, isOpen: (node: number) => boolean): RestOfGraph {
  const rest: RestOfGraph = { nodes: [], edges: [], regions: [], places: [] };
  const building: Building = { run, isOpen, rest, at: new Map() };
  addPresent(building, run.item?.map ?? -1);
  for (const edge of run.graph.edges) {
    const from = building.at.get(edge.from);
    const to = building.at.get(edge.to);
    if (from === undefined || to === undefined || edge.back === true) continue;
    // The body of a loop or map is added as a whole, with its edges.
    if (run.graph.regions[edge.to] === edge.from) continue;
    rest.edges.push({ ...edge, from, to });
  }
  return rest;
}

/** Adds what is left of the present iteration around `head`. Returns the positions of its nodes in the rest. */
function addPresent(building: Building, head: number): number[] {
  const { run, isOpen, rest, at } = building;
  const added: number[] = [];
  const members = head === -1 ? rootsOf(run) : run.members[head]!;
  for (const node of members) {
    const phase = run.phases[node]!;
    if (phase === 'settled' || phase === 'skipped') continue;
    const original = run.graph.nodes[node]!;
    const round = run.loops.get(node)?.round;
    const open = phase !== 'waiting' && isOpen(node);
    const place: RestNode = {
      ...{ node, open },
      iteration: iterationOf(run, node),
      reached: run.reached[node]!,
      items: open ? undefined : run.maps.get(node)?.items,
      later: undefined,
    };
    if (original.kind === 'loop' && phase === 'running' && round !== undefined) {
      const before = addPresent(building, node);
      const left = { ...original, max_iterations: Math.max(0, original.max_iterations - round) };
      const later = { ...place, open: false, later: node };
      const after = addWhole(building, later, left, -1);
      for (const from of before) rest.edges.push({ from, to: after, when: 'ended' });
      at.set(node, after);
      added.push(...before, after);
      continue;
    }
    const position = addWhole(building, place, original, -1);
    at.set(node, position);
    added.push(position);
  }
  return added;
}

/** The nodes outside of loops and maps. */
const rootsOf = ({ graph: { nodes, regions } }: RunState): number[] =>
  nodes.flatMap((_, node) => (regions[node] === -1 ? [node] : []));

/** Adds a node with its whole body. Returns its position in the rest. */
function addWhole(
  { run, rest }: Building,
  place: RestNode,
  node: GraphNode,
  region: number,
): number {
  const position = rest.nodes.length;
  rest.nodes.push(node);
  rest.regions.push(region);
  rest.places.push(place);
  // What happens in a map in progress is not caused by anything that follows.
  if (!repeats(node) || place.open) return position;
  const own = new Map([[place.node, position]]);
  for (const member of run.members[place.node]!) {
    const inner = {
      ...{ node: member, iteration: place.iteration, open: false, reached: false },
      ...{ items: undefined, later: place.later },
    };
    own.set(member, addWhole({ run, rest } as Building, inner, run.graph.nodes[member]!, position));
  }
  for (const { from, to, ...edge } of run.graph.edges) {
    const [start, end] = [own.get(from), own.get(to)];
    if (start === undefined || end === undefined) continue;
    // Edges out of the loop or map are not part of its body.
    if (start === position && run.graph.regions[to] !== place.node && to !== place.node) continue;
    rest.edges.push({ ...edge, from: start, to: end });
  }
  return position;
}
