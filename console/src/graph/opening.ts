import { nodeSize } from './layout.ts';
import type { ReactFlowInstance } from '@xyflow/react';
import type { CardNode } from './node-card.tsx';
import type { Place } from './places.ts';

/** The zoom buttons are at the left edge, over the graph. */
const BUTTONS_PX = 52;

/** The initial view: next to the buttons, zoomed out only as far as text is readable, and never zoomed in. */
export const openingView = {
  minZoom: 0.5,
  maxZoom: 1,
  padding: { left: `${BUTTONS_PX}px`, right: 0.08, y: 0.08 },
} as const;

const HEIGHT = 1_200;

type Placed = Pick<CardNode, 'id' | 'position'>;

/**
 * How to fit the initial view: all nodes if they fit, else those near and after the selected or first node.
 * `framePx` is the maximum width of the frame.
 */
export const fitting = (
  nodes: readonly Placed[],
  { selected, framePx }: { selected?: string | undefined; framePx: number },
) => ({
  ...openingView,
  nodes: openingOf(nodes, selected, Math.min(framePx, window.innerWidth) / openingView.minZoom),
});

/** `width` is in graph coordinates. */
function openingOf(
  nodes: readonly Placed[],
  selected: string | undefined,
  width: number,
): { id: string }[] {
  const room = width - nodeSize.width;
  const from = nodes.find(({ id }) => id === selected) ?? nodes[0];
  if (from === undefined || fits(nodes, room)) return [...nodes];
  const { x, y } = from.position;
  return nodes.filter(
    ({ position }) =>
      position.x >= x - nodeSize.width &&
      position.x <= x + room - nodeSize.width &&
      Math.abs(position.y - y) <= HEIGHT / 2,
  );
}

function fits(nodes: readonly Placed[], width: number): boolean {
  const xs = nodes.map(({ position }) => position.x);
  const ys = nodes.map(({ position }) => position.y);
  return Math.max(...xs) - Math.min(...xs) <= width && Math.max(...ys) - Math.min(...ys) <= HEIGHT;
}

/** Whether a card is completely within the frame. */
export function isInView(
  flow: Pick<ReactFlowInstance, 'getViewport'>,
  { x, y }: Place,
  frame: HTMLElement,
): boolean {
  const { x: left, y: top, zoom } = flow.getViewport();
  return (
    x * zoom + left >= 0 &&
    y * zoom + top >= 0 &&
    (x + nodeSize.width) * zoom + left <= frame.clientWidth &&
    (y + nodeSize.height) * zoom + top <= frame.clientHeight
  );
}

/** Centers the view on a card that is not completely within the frame, zoomed in to at least `minZoom`. */
export function bringIntoView(
  flow: Pick<ReactFlowInstance, 'getViewport' | 'setCenter'>,
  { x, y }: Place,
  frame: HTMLElement,
  minZoom = 0,
): void {
  if (isInView(flow, { x, y }, frame)) return;
  const center = { x: x + nodeSize.width / 2, y: y + nodeSize.height / 2 };
  void flow.setCenter(center.x, center.y, { zoom: Math.max(flow.getViewport().zoom, minZoom) });
}
