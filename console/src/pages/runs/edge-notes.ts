import type { DrawnEdge, Drawing } from '#console/src/graph/drawn.ts';
import { tallies } from '#console/src/messages/en/runs/steps.ts';
import { repeats } from '#shared/graph/kinds.ts';
import type { Items } from './items.ts';
import type { NodeStates } from './node-states.ts';

/** What the run sent along an edge; undefined where it sends one thing at most. */
export type NoteOf = (edge: DrawnEdge) => string | undefined;

/** Counts the items that went along the edges into and within the bodies of loops and maps. */
export function edgeNotes(
  { nodes, edges }: Drawing,
  items: Items,
  stepsOf: NodeStates['stepsOf'],
): NoteOf {
  const heads = new Set(nodes.filter(repeats).map(({ id }) => id));
  const arriving = new Map<string, number>();
  for (const { target } of edges) arriving.set(target, (arriving.get(target) ?? 0) + 1);
  return ({ source, target, conditionValue }) => {
    if (heads.has(source)) {
      const tally = conditionValue === 'true' ? items.ofNode(source) : undefined;
      return tally === undefined || tally.total === 0 ? undefined : tallies[tally.of](tally.total);
    }
    // Of several edges to one node, the record does not say which of them a step came from.
    const tally =
      heads.has(target) || arriving.get(target) !== 1 ? undefined : items.ofNode(target);
    if (tally === undefined) return undefined;
    const skipped = stepsOf(target).filter(({ status }) => status === 'skipped').length;
    const count = tally.total - skipped;
    return count <= 0 ? undefined : tallies[tally.of](count);
  };
}
