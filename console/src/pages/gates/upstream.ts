import type { Graph, Step } from '#client/index.ts';
import type { EdgeCondition, NodeKind } from '#shared/contract/workflows/graph.ts';
import { rejection as text } from '#console/src/messages/en/approvals.ts';
import { drawingOf } from '#console/src/graph/drawn.ts';

/** Whether nodes of a kind only pass on the output of others. */
const passesOn: Record<NodeKind, boolean> = {
  agent: false,
  tool: false,
  condition: true,
  loop: true,
  map: true,
  workflow: false,
  human_gate: false,
  code: false,
  wait: false,
  merge: true,
};

/**
 * The latest successful steps of the nodes before a gate, which the decision is about. Conditions, loops and merges are
 * replaced by the nodes before them. After a map, its list is taken and not its items. They are in run order.
 * `iteration`: only those of this iteration of the loops and maps around the gate; by default, the latest.
 */
export function stepsBefore(
  graph: Graph,
  nodeId: string,
  steps: readonly Step[],
  iteration: readonly number[] = [],
): Step[] {
  const { nodes, edges } = drawingOf(graph);
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const makers = new Set<string>();
  const seen = new Set([nodeId]);
  const open = [nodeId];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { source, conditionValue } of edges.filter(({ target }) => target === at)) {
      if (seen.has(source)) continue;
      seen.add(source);
      const kind = kinds.get(source);
      // After its last item, a map has an output of its own: the list.
      const isList = kind === 'map' && conditionValue !== 'true';
      if (kind !== undefined && passesOn[kind] && !isList) open.push(source);
      else makers.add(source);
    }
  }
  const latest = new Map<string, Step>();
  for (const step of steps) {
    // An agent's output is that of its own step.
    if (step.parent_step_key !== undefined) continue;
    if (!makers.has(step.node_id) || step.status !== 'success') continue;
    if (isWithin(step.iteration, iteration)) latest.set(step.node_id, step);
  }
  return steps.filter((step) => latest.get(step.node_id) === step);
}

const isWithin = (one: readonly number[], other: readonly number[]): boolean =>
  one.every((number, at) => at >= other.length || number === other[at]);

/** Describes the effect of a rejection on the run. */
export function rejectionOf(graph: Graph, nodeId: string): string {
  const { edges } = drawingOf(graph);
  const answered = (result: EdgeCondition): boolean =>
    edges.some(({ source, conditionValue }) => source === nodeId && conditionValue === result);
  if (answered('false')) return text.takesRejected;
  return answered('error') ? text.takesError : text.fails;
}
