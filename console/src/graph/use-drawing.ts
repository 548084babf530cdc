import { useMemo, useState } from 'react';
import type { Graph } from '#client/index.ts';
import { type Drawing, drawingOf } from './drawn.ts';

/**
 * The drawing of a graph that is being edited. Its lists stay the same objects while nothing in them changes, so that
 * typing in one node neither routes the edges nor lays out the nodes again.
 */
export function useDrawing(graph: Graph): Drawing {
  const drawn = useMemo(() => drawingOf(graph), [graph]);
  const nodes = useSame(drawn.nodes);
  const edges = useSame(drawn.edges);
  return useMemo(() => ({ nodes, edges }), [nodes, edges]);
}

/** The previous list, if its items are the same. */
export function useSame<Item>(list: Item[]): Item[] {
  const [known, setKnown] = useState(list);
  const same =
    known === list ||
    (known.length === list.length && known.every((item, at) => Object.is(item, list[at])));
  if (!same) setKnown(list);
  return same ? known : list;
}
