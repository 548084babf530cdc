import type { ReactFlowInstance } from '@xyflow/react';
import { type RefObject, useEffect, useRef } from 'react';
import type { Drawing } from '#console/src/graph/drawn.ts';
import { nodeSize } from '#console/src/graph/layout.ts';
import type { CardNode } from '#console/src/graph/node-card.tsx';
import { bringIntoView, fitting, isInView } from '#console/src/graph/opening.ts';
import type { Place, Places } from '#console/src/graph/places.ts';
import type { RouteEdge } from '#console/src/graph/route-edge.tsx';
import type { Selection } from '#console/src/pages/workflows/editor/selection.ts';
import type { ViewRequest } from '#console/src/pages/workflows/editor/use-editor.ts';

export type Flow = ReactFlowInstance<CardNode, RouteEdge>;
type Frame = RefObject<HTMLElement | null>;

/** Centers the view on a node that was selected elsewhere or just added, if it is out of view. */
export function useBroughtIntoView(
  flow: Flow | undefined,
  frame: Frame,
  place: Place | undefined,
): void {
  const { x, y } = place ?? {};
  useEffect(() => {
    const box = frame.current;
    if (flow === undefined || box === null || x === undefined || y === undefined) return;
    bringIntoView(flow, { x, y }, box);
  }, [flow, frame, x, y]);
}

/** Fits a graph that has grown, until the user moves the view. Added nodes can move others out of it. */
export function useGrownInView(
  flow: Flow | undefined,
  frame: Frame,
  {
    drawing,
    places,
    selection,
    moved,
  }: { drawing: Drawing; places: Places; selection: Selection; moved: RefObject<boolean> },
): void {
  const shown = useRef<Drawing['nodes']>(undefined);
  const chosen = useRef(selection.nodes);
  useEffect(() => {
    chosen.current = selection.nodes;
  });
  useEffect(() => {
    const box = frame.current;
    if (flow === undefined || box === null) return;
    const before = (shown.current ??= drawing.nodes);
    if (moved.current || drawing.nodes.length <= before.length) return;
    if ([...places.values()].every((place) => isInView(flow, place, box))) return;
    const selected = chosen.current.at(-1);
    // The view learns of new cards after this.
    const nodes = [...places].map(([id, position]) => ({ id, position }));
    void flow.fitView(fitting(nodes, { selected, framePx: box.clientWidth }));
  }, [flow, frame, drawing.nodes, places, moved]);
}

const ALL = { padding: 0.1, maxZoom: 1 };
/** The zoom at which the text of a found card is readable. */
const READABLE = 0.8;

/** Moves the view as the toolbar and the search ask. */
export function useViewRequests(
  flow: Flow | undefined,
  { view, places }: { view: ViewRequest | undefined; places: Places },
): void {
  const current = useRef(places);
  useEffect(() => {
    current.current = places;
  });
  useEffect(() => {
    if (flow === undefined || view === undefined) return;
    if (view.type === 'all') {
      void flow.fitView(ALL);
      return;
    }
    const place = current.current.get(view.id);
    if (place === undefined) return;
    const zoom = Math.max(READABLE, flow.getZoom());
    void flow.setCenter(place.x + nodeSize.width / 2, place.y + nodeSize.height / 2, { zoom });
  }, [flow, view]);
}
