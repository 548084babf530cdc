import { nodeSize } from './layout.ts';
import type { CardNode } from './node-card.tsx';

/** How a picture opens: as small as can still be read, and no larger than it is drawn. */
export const openingView = { minZoom: 0.5, maxZoom: 1, padding: 0.08 } as const;

const HEIGHT = 1_200;

/**
 * The nodes that a picture shows at first: all where they can be read, else those after the selected or the first one.
 * `framePx` is the most that the frame is wide.
 */
export function openingOf(
  nodes: readonly CardNode[],
  selected: string | undefined,
  framePx: number,
): { id: string }[] {
  const width = Math.min(framePx, window.innerWidth) / openingView.minZoom - nodeSize.width;
  const from = nodes.find(({ id }) => id === selected) ?? nodes[0];
  if (from === undefined || fits(nodes, width)) return [...nodes];
  const { x, y } = from.position;
  return nodes.filter(
    ({ position }) =>
      position.x >= x - nodeSize.width &&
      position.x <= x + width - nodeSize.width &&
      Math.abs(position.y - y) <= HEIGHT / 2,
  );
}

function fits(nodes: readonly CardNode[], width: number): boolean {
  const xs = nodes.map(({ position }) => position.x);
  const ys = nodes.map(({ position }) => position.y);
  return Math.max(...xs) - Math.min(...xs) <= width && Math.max(...ys) - Math.min(...ys) <= HEIGHT;
}
