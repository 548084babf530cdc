import '@xyflow/react/dist/style.css';
import './graph.css';
import { Box, Center, Loader, useComputedColorScheme } from '@mantine/core';
import {
  Background,
  Controls,
  MiniMap,
  type NodeChange,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Graph } from '#client/index.ts';
import type { EdgeCondition } from '#shared/contract/workflows/graph.ts';
import { words } from '#console/src/messages/en/words.ts';
import { graphView as text } from '#console/src/messages/en/graph.ts';
import { type DrawnEdge, type DrawnNode, type Drawing, drawingOf } from './drawn.ts';
import { edgeOf } from './edges.ts';
import { kindColour } from './kinds.ts';
import { layOut, nodeSize } from './layout.ts';
import type { Places } from './places.ts';
import { cardOf, type CardNode, NodeCard, type NodeCardData } from './node-card.tsx';
import { bringIntoView, fitting, openingView } from './opening.ts';
import { RouteEdgeView } from './route-edge.tsx';
import { usedPorts } from './ports.ts';
import { routesOf } from './routes.ts';
import { ZoomedOut } from './zoomed-out.tsx';
import { useSame } from './use-drawing.ts';
import { useEdgePorts } from './use-edge-ports.ts';
import { BodyFrames } from './body-frames.tsx';

const nodeTypes = { card: NodeCard };
export const edgeTypes = { route: RouteEdgeView };

/** Above this number, cards outside the frame are not rendered. */
const MANY_NODES = 100;
/** Above this number, a map shows where the frame is. */
export const MAP_NODES = 20;
const EDGES_PER_FRAME = 100;
/** The maximum width that pages have for a graph. */
const FRAME_PX = 1_000;

/** Data of a node that is not in the graph. The same object means that nothing has changed. */
export type CardOf = (nodeId: string) => Partial<NodeCardData> | undefined;

/** Fits the graph to its frame until the user moves it, and keeps the selected card in view. */
function useFraming({
  selected,
  places,
  onSelect,
}: {
  selected?: string | undefined;
  places: Places | undefined;
  onSelect: ((nodeId: string | undefined) => void) | undefined;
}) {
  const [flow, setFlow] = useState<ReactFlowInstance<CardNode>>();
  const frame = useRef<HTMLDivElement>(null);
  const moved = useRef(false);
  const refit = useCallback(() => {
    if (flow === undefined || moved.current) return;
    const framePx = frame.current?.clientWidth ?? FRAME_PX;
    void flow.fitView(fitting(flow.getNodes(), { selected, framePx }));
  }, [flow, selected]);
  useResized(frame, places !== undefined, refit);
  // The initial view is for the widest frame.
  useEffect(() => {
    refit();
    // oxlint-disable-next-line react/exhaustive-deps
  }, [flow]);
  const follow = useCallback(
    (changes: NodeChange<CardNode>[]) => {
      const selection = changes.filter((change) => change.type === 'select');
      if (selection.length === 0) return;
      onSelect?.(selection.find((change) => change.selected)?.id);
    },
    [onSelect],
  );
  useEffect(() => {
    const place = selected === undefined ? undefined : places?.get(selected);
    if (flow === undefined || place === undefined || frame.current === null) return;
    bringIntoView(flow, place, frame.current, openingView.minZoom);
  }, [flow, places, selected]);
  const onMove = useCallback((event: unknown) => {
    // Without an event, the page moved the view, not the user.
    if (event !== null) moved.current = true;
  }, []);
  return { frame, setFlow, onMove, follow };
}

/** The cards and edges to render. They have no positions until the layout is ready. */
function useDrawn({
  graph,
  cardOf: given,
  selected,
  takenEdge,
  noteOf,
}: Pick<GraphViewProps, 'graph' | 'cardOf' | 'selected' | 'takenEdge' | 'noteOf'>) {
  const drawing = useMemo(() => drawingOf(graph), [graph]);
  const places = usePlaces(drawing);
  const colorMode = useComputedColorScheme('light');
  const nodes = useNodes(drawing, places, given, selected);
  const ports = useEdgePorts(drawing);
  const routes = useMemo(
    () => routesOf(drawing.edges, places ?? new Map(), nodeSize, ports.exitOf),
    [drawing.edges, places, ports],
  );
  const edges = useMemo(
    () =>
      drawing.edges.flatMap((edge) => {
        const route = routes.get(edge.id);
        const taken = takenEdge?.(edge.source, edge.target, edge.conditionValue);
        const note = noteOf?.(edge);
        return route === undefined ? [] : [edgeOf(edge, route, { ports, taken, note })];
      }),
    [drawing, routes, ports, takenEdge, noteOf],
  );
  const drawnEdges = useGradually(edges, places !== undefined);
  return { drawing, places, nodes, drawnEdges, colorMode, edges };
}

interface GraphViewProps {
  graph: Graph;
  /** The name of the region, unlike that of another graph on the page. */
  label?: string;
  cardOf?: CardOf;
  /** Whether the run took this edge; undefined while undecided. */
  takenEdge?: (
    source: string,
    target: string,
    conditionValue: EdgeCondition | undefined,
  ) => boolean | undefined;
  /** What the run sent along an edge. */
  noteOf?: ((edge: DrawnEdge) => string | undefined) | undefined;
  selected?: string | undefined;
  onSelect?: (nodeId: string | undefined) => void;
  height?: number | string;
}

/**
 * A read-only view of a graph. A worker lays out the nodes unless all of them have positions. `cardOf` adds data to
 * nodes, `takenEdge` to edges. Users select nodes with a click, or with Tab and Enter.
 */
export function GraphView({
  graph,
  label = words.graph,
  cardOf,
  takenEdge,
  noteOf,
  selected,
  onSelect,
  height = 420,
}: GraphViewProps) {
  const { drawing, places, nodes, drawnEdges, colorMode, edges } = useDrawn({
    graph,
    cardOf,
    selected,
    takenEdge,
    noteOf,
  });
  const { frame, setFlow, onMove, follow } = useFraming({ selected, places, onSelect });

  if (places === undefined) return <LayingOut height={height} />;
  const many = nodes.length > MANY_NODES;
  return (
    <Box h={height} className="graph-frame" data-fixed aria-label={label} role="region" ref={frame}>
      <ReactFlow
        nodes={nodes}
        edges={drawnEdges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={colorMode}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        onlyRenderVisibleElements={many}
        fitView
        fitViewOptions={fitting(nodes, { selected, framePx: FRAME_PX })}
        minZoom={0.05}
        onInit={setFlow}
        onMove={onMove}
        onNodesChange={follow}
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <ZoomedOut />
        <BodyFrames drawing={drawing} places={places} />
        <Controls showInteractive={false} />
        {nodes.length > MAP_NODES && drawnEdges === edges && (
          <MiniMap<CardNode> pannable zoomable nodeColor={colourOnMap} ariaLabel={text.map} />
        )}
      </ReactFlow>
    </Box>
  );
}

const LayingOut = ({ height }: { height: number | string }) => (
  <Center h={height} className="graph-frame">
    <Loader size="sm" aria-label={text.layingOut} />
  </Center>
);

/**
 * The start of a long list, and more with each frame once it is `ready`, because rendering a thousand edges at once
 * blocks the page for half a second. Returns the list itself when it is complete.
 */
function useGradually<T>(items: T[], ready: boolean): T[] {
  const [count, setCount] = useState(EDGES_PER_FRAME);
  const all = count >= items.length;
  useEffect(() => {
    if (!ready || all) return;
    const next = requestAnimationFrame(() => setCount(count + EDGES_PER_FRAME));
    return () => cancelAnimationFrame(next);
  }, [ready, all, count]);
  return useMemo(() => (all ? items : items.slice(0, count)), [all, items, count]);
}

/** The cards to render. Unchanged cards are the same objects, so they are not rendered again. */
function useNodes(
  drawing: Drawing,
  places: Places | undefined,
  given: CardOf | undefined,
  selected: string | undefined,
): CardNode[] {
  const [drawn] = useState(
    () => new Map<string, { card: unknown; from: DrawnNode; used: unknown; node: CardNode }>(),
  );
  return useMemo(() => {
    const ports = usedPorts(drawing);
    return drawing.nodes.map((from) => {
      const { id } = from;
      const card = given?.(id);
      const used = ports.get(id);
      const position = places?.get(id) ?? ORIGIN;
      const known = drawn.get(id);
      const same =
        known?.card === card &&
        known?.from === from &&
        known.used === used &&
        known.node.position === position &&
        known.node.selected === (id === selected);
      if (known !== undefined && same) return known.node;
      const node = cardOf(from, { used, position, selected: id === selected, card });
      drawn.set(id, { card, from, used, node });
      return node;
    });
  }, [drawing, places, given, selected, drawn]);
}

const ORIGIN = { x: 0, y: 0 };

/** Calls back when the width of the frame changes, because a panel was opened beside it or the window was resized. */
function useResized(
  frame: RefObject<HTMLElement | null>,
  ready: boolean,
  onResize: () => void,
): void {
  const latest = useRef(onResize);
  useEffect(() => {
    latest.current = onResize;
  }, [onResize]);
  useEffect(() => {
    const box = frame.current;
    if (!ready || box === null) return;
    let width = box.clientWidth;
    const observer = new ResizeObserver(() => {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      latest.current();
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, [frame, ready]);
}

/** The color of a card on the map of a graph. */
export const colourOnMap = ({ data }: CardNode): string =>
  data.colour === undefined ? kindColour(data.kind) : `var(--mantine-color-${data.colour}-filled)`;

/** The positions of the nodes: those saved in the graph if every node has one, otherwise those of the layout. */
export function usePlaces(drawing: Drawing): Places | undefined {
  const ids = useSame(drawing.nodes.map(({ id }) => id));
  const positions = useSame(drawing.nodes.map(({ position }) => position));
  const given = useMemo(() => givenPlaces(ids, positions), [ids, positions]);
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
      // Aborted, or the worker failed. Without a layout, the nodes form a row.
      () => {
        if (!controller.signal.aborted) setLaidOut({ shape, places: inARow(drawing) });
      },
    );
    return () => controller.abort();
    // Each read of the run creates a new drawing, but only its shape matters here.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [shape, given]);
  if (given !== undefined) return given;
  return laidOut?.shape === shape ? laidOut.places : undefined;
}

/** The positions of the nodes with these ids, if all have one. */
function givenPlaces(
  ids: readonly string[],
  positions: readonly DrawnNode['position'][],
): Places | undefined {
  const placed = ids.flatMap((id, at) => {
    const position = positions[at];
    return position === undefined ? [] : [[id, position] as const];
  });
  return placed.length === ids.length ? new Map(placed) : undefined;
}

const inARow = ({ nodes }: Drawing): Places =>
  new Map(nodes.map(({ id }, index) => [id, { x: index * (nodeSize.width + 40), y: 0 }]));
