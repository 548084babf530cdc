import { EdgeLabelRenderer, ViewportPortal } from '@xyflow/react';
import { useMemo } from 'react';
import { graphView as text } from '#console/src/messages/en/graph.ts';
import { Message } from '#console/src/messages/message.tsx';
import { framesOf } from './bodies.ts';
import type { Drawing } from './drawn.ts';
import { nodeSize } from './layout.ts';
import type { Places } from './places.ts';

/** Frames behind the cards that a loop or a map repeats. Must be inside ReactFlow. */
export function BodyFrames({ drawing, places }: { drawing: Drawing; places: Places | undefined }) {
  const frames = useMemo(
    () => (places === undefined ? [] : framesOf(drawing, places, nodeSize)),
    [drawing, places],
  );
  if (frames.length === 0) return null;
  return (
    <>
      <ViewportPortal>
        {frames.map(({ id, x, y, width, height }) => (
          <div
            key={id}
            className="graph-body-frame"
            style={{ transform: `translate(${x}px, ${y}px)`, width, height }}
          />
        ))}
      </ViewportPortal>
      {/* Above the edges, which cross a frame anywhere. */}
      <EdgeLabelRenderer>
        {frames.map(({ id, label, kind, x, y, width }) => (
          <div
            key={id}
            className="graph-body-label"
            style={{ transform: `translate(${x}px, ${y}px)`, maxWidth: width }}
            title={label}
          >
            <Message text={text.repeated[kind]} values={{ node: label }} />
          </div>
        ))}
      </EdgeLabelRenderer>
    </>
  );
}
