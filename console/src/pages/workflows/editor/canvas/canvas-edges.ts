import { useMemo, useState } from 'react';
import type { DrawnEdge } from '#console/src/graph/drawn.ts';
import { edgeOf, type EdgePorts } from '#console/src/graph/edges.ts';
import type { RouteEdge } from '#console/src/graph/route-edge.tsx';
import type { Route } from '#console/src/graph/routes.ts';
import { editorCanvas as text } from '#console/src/messages/en/workflows/canvas.ts';
import type { Adding } from '#console/src/pages/workflows/editor/draft.ts';

interface Known {
  from: DrawnEdge;
  route: Route;
  ports: EdgePorts;
  note: string | undefined;
  selected: boolean;
  edge: RouteEdge;
}

/** The edges of the drawing, each with a button that inserts a node. Unchanged edges are the same objects. */
export function useEdges({
  edges,
  ports,
  routes,
  noteOf,
  selected,
  onAdd,
}: {
  edges: readonly DrawnEdge[];
  ports: EdgePorts;
  routes: ReadonlyMap<string, Route>;
  /** What the last run sent along an edge. */
  noteOf: (edge: DrawnEdge) => string | undefined;
  selected: readonly string[];
  onAdd: (adding: Adding) => void;
}): RouteEdge[] {
  const [known] = useState(() => new Map<string, Known>());
  return useMemo(() => {
    const chosen = new Set(selected);
    return edges.flatMap((from) => {
      const route = routes.get(from.id);
      if (route === undefined) return [];
      const isChosen = chosen.has(from.id);
      const before = known.get(from.id);
      const note = noteOf(from);
      const same =
        before?.from === from &&
        before.route === route &&
        before.ports === ports &&
        before.note === note &&
        before.selected === isChosen;
      if (same) return [before.edge];
      const drawn = edgeOf(from, route, { ports, note });
      const edge: RouteEdge = {
        ...drawn,
        data: { route, ...drawn.data, onInsert: () => onAdd({ into: from.at }) },
        selected: isChosen,
        ariaLabel: text.edge(from.source, from.target),
      };
      known.set(from.id, { from, route, ports, note, selected: isChosen, edge });
      return [edge];
    });
  }, [edges, ports, routes, noteOf, selected, onAdd, known]);
}
