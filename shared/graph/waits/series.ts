import type { CompiledGraph } from '#shared/graph/compile.ts';
import type { ReadyNode } from '#shared/graph/schedule/scheduler.ts';

/**
 * Names the executions of a node that follow each other, in the iterations of loops. None of them takes an event that an
 * earlier one took. Items of maps each have their own.
 */
export function seriesOf(
  { nodes, regions }: CompiledGraph,
  { node_id: id, iteration }: Pick<ReadyNode, 'node_id' | 'iteration'>,
): string {
  if (iteration.length === 0) return id;
  const around: number[] = [];
  const node = nodes.findIndex((each) => each.id === id);
  for (let head = regions[node]!; head !== -1; head = regions[head]!) around.unshift(head);
  const places = iteration.map((place, depth) =>
    nodes[around[depth]!]!.kind === 'loop' ? '*' : place,
  );
  return `${id}#${places.join('.')}`;
}
