import '@xyflow/react/dist/style.css';
import { Box, Loader, Center, useComputedColorScheme } from '@mantine/core';
import { Background, Controls, type Edge, MarkerType, ReactFlow } from '@xyflow/react';
import { useEffect, useMemo, useState } from 'react';
import type { Graph } from '../../../client/index.ts';
import { type Drawing, drawingOf } from './drawn.ts';
import { layOut, nodeSize, type Places } from './layout.ts';
import { type CardNode, NodeCard, type NodeCardData } from './node-card.tsx';

const nodeTypes = { card: NodeCard };

/** Beyond this, cards outside of the window are not drawn. */
const MANY_NODES = 100;

/**
 * A picture of a graph to look at. Nodes without a place of their own are laid out in a worker. `cardOf` adds what is
 * known of a node; `edgeOf` what is known of a connection.
 */
export function GraphView({
  graph,
  cardOf,
  takenEdge,
  selected,
  onSelect,
  height = 420,
}: {
  graph: Graph;
  cardOf?: (nodeId: string) => Partial<NodeCardData>;
  /** Whether the run went this way; undefined while that is open. */
  takenEdge?: (source: string, target: string) => boolean | undefined;
  selected?: string | undefined;
  onSelect?: (nodeId: string | undefined) => void;
  height?: number | string;
}) {
  const drawing = useMemo(() => drawingOf(graph), [graph]);
  const places = usePlaces(drawing);
  const colorMode = useComputedColorScheme('light');
  const nodes = useMemo(
    () =>
      drawing.nodes.map(({ id, kind, label }): CardNode => ({
        id,
        type: 'card',
        position: places?.get(id) ?? { x: 0, y: 0 },
        data: { kind, label, ...cardOf?.(id) },
        width: nodeSize.width,
        height: nodeSize.height,
        selected: id === selected,
        ariaLabel: `${label}, ${kind}${spokenOf(cardOf?.(id))}`,
      })),
    [drawing, places, cardOf, selected],
  );
  const edges = useMemo(
    () => drawing.edges.map((edge) => edgeOf(edge, takenEdge?.(edge.source, edge.target))),
    [drawing, takenEdge],
  );
  if (places === undefined) {
    return (
      <Center h={height}>
        <Loader size="sm" aria-label="Laying the graph out" />
      </Center>
    );
  }
  return (
    <Box h={height} aria-label="Graph" role="region">
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        colorMode={colorMode}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        onlyRenderVisibleElements={nodes.length > MANY_NODES}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: 0.15 }}
        minZoom={0.05}
        onNodeClick={(_event, node) => onSelect?.(node.id)}
        onPaneClick={() => onSelect?.(undefined)}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <Controls showInteractive={false} />
      </ReactFlow>
    </Box>
  );
}

const spokenOf = (card: Partial<NodeCardData> | undefined): string =>
  card?.spoken === undefined ? '' : `, ${card.spoken}`;

/** A connection as it is drawn; one that was not taken fades. */
export function edgeOf(
  { id, source, target, conditionValue }: Drawing['edges'][number],
  taken?: boolean,
): Edge {
  return {
    id,
    source,
    target,
    ...(conditionValue !== undefined && { label: conditionValue }),
    markerEnd: { type: MarkerType.ArrowClosed },
    animated: false,
    style: { opacity: taken === false ? 0.3 : 1, strokeWidth: taken === true ? 2 : 1.2 },
  };
}

/** Where the nodes stand: where people put them, if they put all of them somewhere, else where the layout does. */
export function usePlaces(drawing: Drawing): Places | undefined {
  const given = useMemo(() => givenPlaces(drawing), [drawing]);
  const shape = JSON.stringify([
    drawing.nodes.map(({ id }) => id),
    drawing.edges.map(({ source, target }) => [source, target]),
  ]);
  const [laidOut, setLaidOut] = useState<{ shape: string; places: Places }>();
  useEffect(() => {
    if (given !== undefined) return;
    const controller = new AbortController();
    layOut(drawing, controller.signal).then(
      (places) => setLaidOut({ shape, places }),
      // Whoever asked is gone, or the worker cannot be had: a row is better than nothing.
      () => {
        if (!controller.signal.aborted) setLaidOut({ shape, places: inARow(drawing) });
      },
    );
    return () => controller.abort();
    // The drawing is made anew with each read of the run; only its shape matters here.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [shape, given]);
  if (given !== undefined) return given;
  return laidOut?.shape === shape ? laidOut.places : undefined;
}

function givenPlaces({ nodes }: Drawing): Places | undefined {
  const placed = nodes.flatMap(({ id, position }) =>
    position === undefined ? [] : [[id, position] as const],
  );
  return placed.length === nodes.length ? new Map(placed) : undefined;
}

const inARow = ({ nodes }: Drawing): Places =>
  new Map(nodes.map(({ id }, index) => [id, { x: index * (nodeSize.width + 40), y: 0 }]));
