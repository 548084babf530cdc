import { BaseEdge, type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import { memo } from 'react';
import { pathOf, type Route } from './routes.ts';

type RouteEdgeData = { route: Route; faded?: boolean; error?: boolean };
export type RouteEdge = Edge<RouteEdgeData, 'route'>;

/** An edge along its route, with its label where it leaves the card. */
export const RouteEdgeView = memo(function RouteEdgeView({
  id,
  data,
  label,
  markerEnd,
  style,
  interactionWidth,
}: EdgeProps<RouteEdge>) {
  if (data === undefined) return null;
  const { points, label: at } = data.route;
  return (
    <>
      <BaseEdge
        id={id}
        path={pathOf(points)}
        {...(markerEnd !== undefined && { markerEnd })}
        {...(style !== undefined && { style })}
        {...(interactionWidth !== undefined && { interactionWidth })}
      />
      {label !== undefined && (
        <EdgeLabelRenderer>
          <div
            className="graph-edge-label"
            data-faded={data.faded === true || undefined}
            data-error={data.error === true || undefined}
            data-side={at.side}
            style={{ left: at.x, top: at.y }}
          >
            {label}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
});
