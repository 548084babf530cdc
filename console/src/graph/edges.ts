import { MarkerType } from '@xyflow/react';
import { graphView as text } from '#console/src/messages/en/graph.ts';
import { bodiesOf } from './bodies.ts';
import type { DrawnEdge, Drawing } from './drawn.ts';
import { type PortId, portOf, portsOf, usedPorts } from './ports.ts';
import type { RouteEdge } from './route-edge.tsx';
import type { ExitOf, Route } from './routes.ts';

/** What the edges of a drawing need to know about its nodes. */
export interface EdgePorts {
  portOf: (edge: Pick<DrawnEdge, 'source' | 'conditionValue'>) => PortId;
  exitOf: ExitOf;
  /** For an edge back to the loop or map around it: what follows. */
  returnOf: (edge: Pick<DrawnEdge, 'source' | 'target'>) => string | undefined;
}

const MIDDLE = 0.5;

export function edgePorts(drawing: Drawing): EdgePorts {
  const nodes = new Map(drawing.nodes.map((node) => [node.id, node]));
  const used = usedPorts(drawing);
  const bodies = new Map(bodiesOf(drawing).map((body) => [body.head.id, body]));
  const portOfEdge: EdgePorts['portOf'] = ({ source, conditionValue }) => {
    const node = nodes.get(source);
    return node === undefined ? 'next' : portOf(node.kind, conditionValue);
  };
  return {
    portOf: portOfEdge,
    exitOf: (edge) => {
      const node = nodes.get(edge.source);
      if (node === undefined) return MIDDLE;
      const id = portOfEdge(edge);
      const port = portsOf(node, used.get(edge.source)).find((each) => each.id === id);
      return port?.at ?? MIDDLE;
    },
    returnOf: ({ source, target }) => {
      const body = bodies.get(target);
      if (body === undefined || !body.members.has(source)) return undefined;
      return body.head.kind === 'map' ? text.next.map : text.next.loop;
    },
  };
}

const errorColour = 'var(--graph-failed)';

/** An edge to render. Edges that were not taken are faded; error edges are dashed and red. */
export function edgeOf(
  edge: DrawnEdge,
  route: Route,
  {
    ports,
    taken,
    note,
  }: { ports: EdgePorts; taken?: boolean | undefined; note?: string | undefined },
): RouteEdge {
  const { id, source, target } = edge;
  const port = ports.portOf(edge);
  const failed = port === 'error';
  return {
    id,
    type: 'route',
    source,
    target,
    sourceHandle: port,
    data: {
      route,
      faded: taken === false,
      note: note ?? ports.returnOf(edge),
    },
    markerEnd: {
      type: MarkerType.ArrowClosed,
      color: failed ? errorColour : 'var(--graph-line)',
    },
    animated: false,
    style: {
      opacity: taken === false ? 0.3 : 1,
      strokeWidth: taken === true ? 2 : 1.2,
      ...(failed && { stroke: errorColour, strokeDasharray: '5 4' }),
    },
  };
}
