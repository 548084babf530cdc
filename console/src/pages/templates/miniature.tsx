import { useMemo } from 'react';
import type { Graph } from '#client/index.ts';
import { kindColour } from '#console/src/graph/kinds.ts';
import { miniature as text } from '#console/src/messages/en/templates.ts';
import { box, pictureOf } from './picture.ts';

/** In boxes. */
const LEAST_WIDE = 7;
const LEAST_TALL = 3;

/** The shape of a graph, without loading the full graph view. */
export function Miniature({ graph, height = 96 }: { graph: Graph; height?: number }) {
  const { boxes, lines, width, height: tall } = useMemo(() => pictureOf(graph), [graph]);
  // A graph of two nodes is not displayed larger than one of five.
  const w = Math.max(width, LEAST_WIDE * box.width);
  const h = Math.max(tall, LEAST_TALL * box.height);
  const kinds = new Set(boxes.map(({ kind }) => kind));
  return (
    <svg
      viewBox={`${(width - w) / 2} ${(tall - h) / 2} ${w} ${h}`}
      width="100%"
      height={height}
      role="img"
      aria-label={
        kinds.has('human_gate') ? text.labelWithGate(boxes.length) : text.label(boxes.length)
      }
    >
      {lines.map(({ id, from, to }) => (
        <line
          key={id}
          x1={from.x}
          y1={from.y}
          x2={to.x}
          y2={to.y}
          stroke="var(--mantine-color-dimmed)"
          strokeWidth={5}
        />
      ))}
      {boxes.map(({ id, kind, title, x, y }) => (
        <rect
          key={id}
          x={x}
          y={y}
          width={box.width}
          height={box.height}
          rx={16}
          fill={kindColour(kind)}
          stroke="var(--mantine-color-body)"
          strokeWidth={6}
        >
          <title>{title}</title>
        </rect>
      ))}
    </svg>
  );
}
