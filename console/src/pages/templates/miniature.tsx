import type { MantineColor } from '@mantine/core';
import { useMemo } from 'react';
import type { NodeKind } from '../../../../shared/contract/graph.ts';
import type { Graph } from '../../../../client/index.ts';
import { box, pictureOf } from './picture.ts';

const colours: Record<NodeKind, MantineColor> = {
  agent: 'indigo',
  tool: 'cyan',
  condition: 'grape',
  loop: 'grape',
  map: 'grape',
  workflow: 'teal',
  human_gate: 'yellow',
  merge: 'gray',
};

/** The shape of a graph, without loading the full graph view. */
export function Miniature({ graph, height = 96 }: { graph: Graph; height?: number }) {
  const { boxes, lines, width, height: tall } = useMemo(() => pictureOf(graph), [graph]);
  const kinds = new Set(boxes.map(({ kind }) => kind));
  return (
    <svg
      viewBox={`0 0 ${width} ${tall}`}
      width="100%"
      height={height}
      role="img"
      aria-label={`Graph of ${boxes.length} nodes${kinds.has('human_gate') ? ', with a human gate' : ''}`}
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
      {boxes.map(({ id, kind, x, y }) => (
        <rect
          key={id}
          x={x}
          y={y}
          width={box.width}
          height={box.height}
          rx={16}
          fill={`var(--mantine-color-${colours[kind]}-filled)`}
          stroke="var(--mantine-color-body)"
          strokeWidth={6}
        />
      ))}
    </svg>
  );
}
