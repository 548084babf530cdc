import { canFail, isBranching } from '#shared/graph/kinds.ts';
import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Issues } from '#shared/graph/issues.ts';
import { analyseLoops, type LoopAnalysis } from '#shared/graph/schedule/loops.ts';
import {
  findCycles,
  reach,
  topologicalOrder,
  type LinkedEdge,
  type Links,
} from '#shared/graph/topology.ts';
import type { Unreadable } from './context.ts';

/** The basis of later checks. Only an acyclic graph has it. */
export interface Structure {
  order: number[];
  loops: LoopAnalysis;
}

/** The maximum number of node ids in a message. */
const MAX_LISTED = 20;

/**
 * Checks cycles, loop bodies, branches and reachability. Undefined when the graph has cycles or invalid nodes: an
 * invalid node may be meant as the loop of a cycle.
 */
export function checkStructure(
  issues: Issues,
  graph: Graph,
  links: Links,
  unreadable: Unreadable,
): Structure | undefined {
  checkBranches(issues, graph, links, unreadable);
  if (unreadable.size > 0) return undefined;
  const loops = analyseLoops(links);
  checkLoops(issues, graph, links, loops);
  const order = topologicalOrder(links, loops.back);
  if (order.length < graph.nodes.length) checkCycles(issues, graph, links, loops);
  const reached = reach(links, loops.roots);
  graph.nodes.forEach(({ id }, node) => {
    if (reached.has(node)) return;
    issues.warning('unreachable', `Node '${id}' is never reached from a start of the graph`, {
      node_id: id,
      path: `nodes[${node}]`,
    });
  });
  return order.length === graph.nodes.length ? { order, loops } : undefined;
}

function checkBranches(issues: Issues, graph: Graph, links: Links, unreadable: Unreadable): void {
  graph.nodes.forEach((graphNode, node) => {
    const { id, kind } = graphNode;
    if (unreadable.has(node) || links.positions.get(id) !== node) return;
    const out = links.out[node]!;
    if (kind === 'condition') {
      const missing = (['true', 'false'] as const).filter(
        (value) => !out.some((edge) => edge.when === value),
      );
      if (missing.length > 0) {
        const message = `Condition '${id}' has no edge for ${missing.map((value) => `'${value}'`).join(' and none for ')}`;
        issues.warning('condition_branch_missing', message, {
          node_id: id,
          path: `nodes[${node}]`,
        });
      }
    }
    if (!canFail(graphNode)) reportErrorEdges(issues, graph, graphNode, out);
    if (isBranching(graphNode)) return;
    for (const edge of out) {
      if (edge.when === undefined || edge.when === 'error') continue;
      const message = `The edge from '${id}' to '${idOf(graph, edge.to)}' is always taken: only conditions, loops, maps and gates branch`;
      issues.warning('condition_value_ignored', message, {
        node_id: id,
        path: `edges[${edge.index}].condition_value`,
      });
    }
  });
}

function reportErrorEdges(
  issues: Issues,
  graph: Graph,
  { id, kind }: GraphNode,
  out: readonly LinkedEdge[],
): void {
  for (const edge of out) {
    if (edge.when !== 'error') continue;
    const message = `The edge from '${id}' to '${idOf(graph, edge.to)}' is never taken: a ${kind} has no errors to catch; start it at the agent, tool, map, workflow or gate whose error it handles`;
    issues.error('error_edge_not_allowed', message, {
      node_id: id,
      path: `edges[${edge.index}].condition_value`,
    });
  }
}

function checkLoops(issues: Issues, graph: Graph, links: Links, loops: LoopAnalysis): void {
  // An edge across two borders is reported once, for the innermost loop. Outer bodies come first.
  const depth = new Map(loops.bodies.map(({ loop }, at) => [loop, at]));
  const innermost = (crossings: LoopAnalysis['entries']): Map<LinkedEdge, number> =>
    new Map(
      crossings
        .sort((a, b) => depth.get(a.loop)! - depth.get(b.loop)!)
        .map(({ edge, loop }) => [edge, loop]),
    );
  for (const [edge, loop] of innermost(loops.entries)) reportEntry(issues, graph, edge, loop);
  for (const [edge, loop] of innermost(loops.escapes)) {
    const message = `The edge ${nameOf(graph, edge)} leaves the body of ${loopName(graph, loop)}; leave it through the ${graph.nodes[loop]!.kind}`;
    issues.error('loop_body_escape', message, {
      node_id: idOf(graph, edge.from),
      path: `edges[${edge.index}]`,
    });
  }
  for (const edge of loops.strays) {
    const message = `The 'true' edge ${nameOf(graph, edge)} leads to a node that is also reached around the ${graph.nodes[edge.from]!.kind}, so it is never taken`;
    issues.warning('loop_edge_not_taken', message, {
      node_id: idOf(graph, edge.from),
      path: `edges[${edge.index}]`,
    });
  }
  const returning = new Set([...loops.back].map((edge) => edge.to));
  links.isLoop.forEach((isLoop, node) => {
    if (!isLoop) return;
    if (graph.nodes[node]!.kind === 'map') {
      checkBody(issues, graph, links, loops, node);
      return;
    }
    if (returning.has(node)) return;
    const message = `Nothing in the body of loop '${idOf(graph, node)}' leads back to it, so it iterates once at most`;
    issues.warning('loop_without_return', message, {
      node_id: idOf(graph, node),
      path: `nodes[${node}]`,
    });
  });
}

/** A map needs a body, and the body needs an edge back that ends an item. */
function checkBody(
  issues: Issues,
  graph: Graph,
  links: Links,
  { back, bodies }: LoopAnalysis,
  map: number,
): void {
  const id = idOf(graph, map);
  const at = { node_id: id, path: `nodes[${map}]` };
  const body = bodies.find(({ loop }) => loop === map)?.nodes;
  if (!links.out[map]!.some((edge) => edge.when === 'true' && edge.to !== map)) {
    const message = `Map '${id}' has no body: draw a 'true' edge to the node that each item starts with`;
    issues.error('map_without_body', message, at);
  } else if (![...back].some((edge) => edge.to === map && body?.has(edge.from) === true)) {
    const message = `Nothing in the body of map '${id}' leads back to it: draw an edge from its last node to the map`;
    issues.error('map_without_return', message, at);
  }
}

function reportEntry(issues: Issues, graph: Graph, edge: LinkedEdge, loop: number): void {
  const message = `The edge ${nameOf(graph, edge)} leads into the body of ${loopName(graph, loop)} from outside; enter it through the ${graph.nodes[loop]!.kind}`;
  issues.error('loop_body_entry', message, {
    node_id: idOf(graph, edge.to),
    path: `edges[${edge.index}]`,
  });
}

function checkCycles(issues: Issues, graph: Graph, links: Links, loops: LoopAnalysis): void {
  const reported = new Set(loops.entries.map(({ edge }) => edge));
  for (const cycle of findCycles(links, loops.back)) {
    for (const { edge, loop } of entriesOf(links, loops, cycle)) {
      if (!reported.has(edge)) reportEntry(issues, graph, edge, loop);
      reported.add(edge);
    }
    const ids = cycle.slice(0, MAX_LISTED).map((node) => `'${idOf(graph, node)}'`);
    const more = cycle.length > ids.length ? ` and ${cycle.length - ids.length} more` : '';
    const hint = cycle.some((node) => links.isLoop[node])
      ? "only what the 'true' edges of a loop or map alone reach may lead back to it"
      : 'only a loop or map may repeat';
    issues.error('cycle', `The nodes ${ids.join(', ')}${more} form a cycle; ${hint}`, {
      node_id: idOf(graph, cycle[0]!),
      path: `nodes[${cycle[0]}]`,
    });
  }
}

// An edge from outside into a loop's body removes the nodes after it from the body, and the rest looks like a cycle.
// The message therefore names that edge.
function entriesOf(
  links: Links,
  loops: LoopAnalysis,
  cycle: readonly number[],
): LoopAnalysis['entries'] {
  const loop = cycle.find((node) => links.isLoop[node]);
  const inside = loop === undefined ? undefined : loops.inside.get(loop);
  if (loop === undefined || inside === undefined) return [];
  return cycle
    .filter((node) => node !== loop && inside.has(node))
    .flatMap((node) => links.in[node]!)
    .filter((edge) => edge.from !== loop && !inside.has(edge.from))
    .map((edge) => ({ edge, loop }));
}

/** `loop 'l'` or `map 'm'`. */
const loopName = (graph: Graph, loop: number): string =>
  `${graph.nodes[loop]!.kind} '${idOf(graph, loop)}'`;

function idOf(graph: Graph, node: number): string {
  return graph.nodes[node]!.id;
}

function nameOf(graph: Graph, edge: LinkedEdge): string {
  return `from '${idOf(graph, edge.from)}' to '${idOf(graph, edge.to)}'`;
}
