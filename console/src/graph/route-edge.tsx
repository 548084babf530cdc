import { IconPlus } from '@tabler/icons-react';
import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import { graphView as text } from '#console/src/messages/en/graph.ts';
import { middleOf, pathOf, type Route } from './routes.ts';
import type { Point } from './obstacles.ts';

type RouteEdgeData = {
  route: Route;
  faded?: boolean;
  /** What a run sent along it, or what it leads back to. */
  note?: string | undefined;
  /** Inserts a node into the edge. */
  onInsert?: () => void;
};
export type RouteEdge = Edge<RouteEdgeData, 'route'>;

/** An edge along its route, with what a run sent along it. */
export const RouteEdgeView = memo(function RouteEdgeView({
  id,
  data,
  markerEnd,
  style,
  interactionWidth,
}: EdgeProps<RouteEdge>) {
  if (data === undefined) return null;
  const { note } = data;
  const { points, label: at } = data.route;
  return (
    <>
      <BaseEdge
        id={id}
        path={pathOf(points)}
        markerEnd={markerEnd}
        style={style}
        interactionWidth={interactionWidth}
      />
      {note !== undefined && (
        <EdgeLabelRenderer>
          <div
            className="graph-edge-note"
            data-faded={data.faded === true || undefined}
            data-side={at.side}
            style={{ left: at.x, top: at.y }}
          >
            {note}
          </div>
        </EdgeLabelRenderer>
      )}
      {data.onInsert !== undefined && (
        <InsertButton at={middleOf(points)} onInsert={data.onInsert} />
      )}
    </>
  );
});

/** Not a tab stop, because a graph has hundreds of edges, and an edge's panel and menu insert by keyboard. */
function InsertButton({ at, onInsert }: { at: Point; onInsert: () => void }) {
  return (
    <EdgeLabelRenderer>
      <button
        type="button"
        tabIndex={-1}
        className="graph-edge-insert nodrag nopan"
        style={{ left: at.x, top: at.y }}
        aria-label={text.insert}
        title={text.insert}
        onClick={(event) => {
          event.stopPropagation();
          onInsert();
        }}
      >
        <IconPlus size={10} stroke={2.5} aria-hidden />
      </button>
    </EdgeLabelRenderer>
  );
}
