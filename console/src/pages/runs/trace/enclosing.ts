import type { Graph } from '#shared/contract/workflows/graph.ts';
import { analyseLoops, innermostLoops } from '#shared/graph/schedule/loops.ts';
import { linkGraph } from '#shared/graph/topology.ts';
import type { Drawing } from '#console/src/graph/drawn.ts';

/** The loops and maps of a graph, and the nodes in their bodies. */
export interface Enclosing {
  /** The innermost loop or map around a node; undefined outside of them. */
  loopOf: (nodeId: string) => string | undefined;
  /** Number of nodes directly in the body of a loop or map. */
  bodySize: (loopId: string) => number;
}

/** For a graph that cannot be read: every node is outside loops. */
export const nothingEncloses: Enclosing = { loopOf: () => undefined, bodySize: () => 0 };

/** Derives from the displayed part of a graph which loop repeats which nodes. */
export function enclosingOf({ nodes, edges }: Drawing): Enclosing {
  const graph = {
    nodes: nodes.map(({ id, kind }) => ({ id, kind })),
    edges: edges.map(({ source, target, conditionValue }) => ({
      source,
      target,
      ...(conditionValue !== undefined && { condition_value: conditionValue }),
    })),
  } as Graph;
  const loops = innermostLoops(nodes.length, analyseLoops(linkGraph(graph)).bodies);
  const around = new Map<string, string>();
  const sizes = new Map<string, number>();
  nodes.forEach(({ id }, position) => {
    const loop = nodes[loops[position] ?? -1]?.id;
    if (loop === undefined) return;
    around.set(id, loop);
    sizes.set(loop, (sizes.get(loop) ?? 0) + 1);
  });
  return { loopOf: (id) => around.get(id), bodySize: (id) => sizes.get(id) ?? 0 };
}
