import { useEffect, useState } from 'react';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { usePlaces } from '#console/src/graph/graph-view.tsx';
import { nodeSize } from '#console/src/graph/layout.ts';
import type { Place, Places } from '#console/src/graph/places.ts';

/**
 * The positions of a draft's nodes. While a changed drawing is being laid out, nodes keep their positions and new ones
 * follow their parent, so that nothing jumps or disappears. Undefined before the first layout.
 */
export function useDraftPlaces(drawing: Drawing): Places | undefined {
  const places = usePlaces(drawing);
  const [before, setBefore] = useState<Places>();
  useEffect(() => {
    if (places !== undefined) setBefore(places);
  }, [places]);
  if (places !== undefined) return places;
  return before === undefined ? undefined : withNewcomers(drawing, before);
}

export const GAP = 72;

function withNewcomers({ nodes, edges }: Drawing, before: Places): Places {
  const places = new Map(before);
  for (const { id, position } of nodes) {
    if (position !== undefined) places.set(id, position);
    if (places.has(id)) continue;
    const parent = edges.find(({ target }) => target === id)?.source;
    places.set(id, besides(places, parent));
  }
  return places;
}

/** The position of a new node: to the right of its parent, or else of all nodes. */
export function besides(places: Places, parent: string | undefined): Place {
  const from = parent === undefined ? undefined : places.get(parent);
  if (from !== undefined) return freeBelow(places, { x: from.x + nodeSize.width + GAP, y: from.y });
  const all = [...places.values()];
  if (all.length === 0) return { x: 0, y: 0 };
  return {
    x: all.reduce((most, { x }) => Math.max(most, x), -Infinity) + nodeSize.width + GAP,
    y: all[0]?.y ?? 0,
  };
}

/** The first position at or below `at` that no card covers. */
function freeBelow(places: Places, at: Place): Place {
  const near = [...places.values()].filter(({ x }) => Math.abs(x - at.x) < nodeSize.width);
  let { y } = at;
  while (near.some((place) => Math.abs(place.y - y) < nodeSize.height)) y += nodeSize.height + 24;
  return { x: at.x, y };
}
