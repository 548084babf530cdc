import type { CompiledGraph } from '#shared/graph/compile.ts';
import { iterationIn, nodeIdOf } from '#shared/graph/schedule/step-key.ts';

/**
 * Whether a step can follow a gate's step: along the edges, or in a later iteration of a loop. `outside`: it follows the
 * map around the gate, so it is only counted.
 */
export function relation(
  graph: CompiledGraph,
  gate: string,
  step: string,
): 'listed' | 'outside' | 'none' {
  const [gateId, stepId] = [nodeIdOf(gate), nodeIdOf(step)];
  const [around, other] = [headsOf(graph, gateId), headsOf(graph, stepId)];
  const isMap = (head: number): boolean => graph.nodes[head]!.kind === 'map';
  const start = graph.nodes.findIndex(({ id }) => id === gateId);
  let depth = 0;
  for (; depth < around.length; depth += 1) {
    const head = around[depth]!;
    const same = other[depth] === head && iterationIn(gate)[depth] === iterationIn(step)[depth];
    if (same) continue;
    const outside = around.slice(depth).some(isMap) ? 'outside' : 'listed';
    if (other[depth] !== head) return along(graph, head, stepId) ? outside : 'none';
    if (isMap(head)) return 'none';
    return iterationIn(step)[depth]! > iterationIn(gate)[depth]! ? outside : 'none';
  }
  return along(graph, start, stepId) ? 'listed' : 'none';
}

/** The loops and maps around each node, outermost first. */
function headsOf({ nodes, regions }: CompiledGraph, id: string): number[] {
  const heads: number[] = [];
  const at = nodes.findIndex((node) => node.id === id);
  if (at === -1) return heads;
  for (let head = regions[at]!; head !== -1; head = regions[head]!) heads.unshift(head);
  return heads;
}

function along({ nodes, edges, regions }: CompiledGraph, start: number, stepId: string): boolean {
  const found = new Set<number>();
  const open = [start];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { from, to, back } of edges) {
      if (from !== at || back === true || found.has(to)) continue;
      if (at === start && regions[to] === start) continue;
      found.add(to);
      open.push(to);
    }
  }
  const target = nodes.findIndex(({ id }) => id === stepId);
  if (target === -1) return false;
  const around = [target];
  for (let head = regions[target]!; head !== -1; head = regions[head]!) around.push(head);
  return around.some((at) => found.has(at));
}
