import '@xyflow/react/dist/style.css';
import { Box, useComputedColorScheme } from '@mantine/core';
import {
  Background,
  type Connection,
  Controls,
  type EdgeChange,
  MiniMap,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
} from '@xyflow/react';
import {
  type DragEvent,
  type KeyboardEvent,
  type MouseEvent as ReactMouseEvent,
  type RefObject,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Pin } from '#client/index.ts';
import type { DrawnEdge, Drawing } from '#console/src/graph/drawn.ts';
import { ZoomedOut } from '#console/src/graph/zoomed-out.tsx';
import { BodyFrames } from '#console/src/graph/body-frames.tsx';
import { type CardActions, CardActionsContext } from '#console/src/graph/card-actions.ts';
import { colourOnMap, edgeTypes, MAP_NODES } from '#console/src/graph/graph-view.tsx';
import { nodeSize } from '#console/src/graph/layout.ts';
import type { Place, Places } from '#console/src/graph/places.ts';
import { fitting } from '#console/src/graph/opening.ts';
import { type CardNode, NodeCard } from '#console/src/graph/node-card.tsx';
import type { PortId } from '#console/src/graph/ports.ts';
import { routesOf } from '#console/src/graph/routes.ts';
import { useEdgePorts } from '#console/src/graph/use-edge-ports.ts';
import { graphView as graphText } from '#console/src/messages/en/graph.ts';
import { editorCanvas as text } from '#console/src/messages/en/workflows/canvas.ts';
import type { Mistake } from '#console/src/pages/workflows/mistakes/mistakes.ts';
import type { RunCards } from '#console/src/pages/workflows/editor/run/run-cards.tsx';
import { useCards } from './canvas-cards.tsx';
import { useEdges } from './canvas-edges.ts';
import type { MenuAt } from './canvas-menu.tsx';
import { droppedItem, isItemDrag, type PaletteItem } from './palette.tsx';
import type { Adding } from '#console/src/pages/workflows/editor/draft.ts';
import type { Selection } from '#console/src/pages/workflows/editor/selection.ts';
import type { ViewRequest } from '#console/src/pages/workflows/editor/use-editor.ts';
import {
  type Flow,
  useBroughtIntoView,
  useGrownInView,
  useViewRequests,
} from './use-canvas-view.ts';

const nodeTypes = { card: NodeCard };
/** The width of the drawing until the width of the canvas is known. */
const FRAME_PX = 480;
const MANY_NODES = 100;
const DELETE_KEYS = ['Delete', 'Backspace'];
const SEVERAL_KEYS = ['Shift', 'Meta', 'Control'];

/** The view pans with a node dragged near its edge. */
const PADDING = 0.2;

interface EditorCanvasProps {
  drawing: Drawing;
  places: Places;
  mistakes: readonly Mistake[];
  selection: Selection;
  pins: readonly Pin[];
  runCards: RunCards;
  /** What the last run sent along an edge. */
  noteOf: (edge: DrawnEdge) => string | undefined;
  onSelect: (next: (current: Selection) => Selection) => void;
  /** The new positions of moved nodes. */
  onPlace: (moved: ReadonlyMap<string, Place>) => void;
  onConnect: (source: string, target: string, port: PortId) => void;
  onRemove: (selection: Selection) => void;
  /** Where the view is to be moved. */
  view: ViewRequest | undefined;
  /** Opens the palette to add a node there. */
  onAdd: (adding: Adding) => void;
  /** An item of the palette was dropped. */
  onDropItem: (item: PaletteItem, position: Place) => void;
  /** Tests a node; undefined for members who may not. */
  onTest: ((nodeId: string) => void) | undefined;
  /** Opens the fields of a node. */
  onOpen: (nodeId: string) => void;
  onMenu: (at: MenuAt) => void;
}

/** The cards and edges to draw, including dragged cards. */
function useCanvas({ drawing, places, selection, ...shown }: EditorCanvasProps) {
  // Dragged nodes follow the pointer. The draft receives their positions when the drag ends.
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map());
  const { mistakes, pins, runCards, noteOf, onAdd } = shown;
  const standing = useCards({
    mistakes,
    pins,
    runCards,
    drawing,
    places,
    selected: selection.nodes,
  });
  const nodes = useMemo(
    () =>
      dragged.size === 0
        ? standing
        : standing.map((node) => {
            const position = dragged.get(node.id);
            return position === undefined ? node : { ...node, position };
          }),
    [standing, dragged],
  );
  const shownAt = useMemo(
    () => (dragged.size === 0 ? places : new Map([...places, ...dragged])),
    [places, dragged],
  );
  const ports = useEdgePorts(drawing);
  const routes = useMemo(
    () => routesOf(drawing.edges, shownAt, nodeSize, ports.exitOf),
    [drawing.edges, shownAt, ports],
  );
  const edges = useEdges({
    ...{ edges: drawing.edges, ports, routes, noteOf, onAdd },
    selected: selection.edges,
  });
  return { setDragged, dragged, shownAt, nodes, edges };
}

/** Drops on the drawing: of an item of the palette, and of a new edge on empty space. */
function canvasDrops(
  flow: Flow | undefined,
  frame: RefObject<HTMLElement | null>,
  { onAdd, onDropItem }: EditorCanvasProps,
) {
  /** The card is centered on the point, or begins next to it. */
  const placeAt = (point: { x: number; y: number }, centred: boolean): Place | undefined => {
    const at = flow?.screenToFlowPosition(point);
    if (at === undefined) return undefined;
    return { x: at.x - (centred ? nodeSize.width / 2 : 0), y: at.y - nodeSize.height / 2 };
  };
  const onConnectEnd: OnConnectEnd = (event, { isValid, fromNode, fromHandle, toNode }) => {
    if (isValid === true || fromNode === null || toNode !== null) return;
    const point = 'clientX' in event ? event : event.changedTouches[0];
    const pointer = point && { x: point.clientX, y: point.clientY };
    const at = pointer && placeAt(pointer, false);
    if (pointer === undefined || at === undefined) return;
    const palette = { at: within(frame, pointer) };
    if (fromHandle.type === 'target') {
      onAdd({ before: fromNode.id, position: { ...at, x: at.x - nodeSize.width }, ...palette });
    } else {
      onAdd({ after: fromNode.id, port: portIn(fromHandle.id), position: at, ...palette });
    }
  };
  return {
    onConnectEnd,
    onDragOver: (event: DragEvent): void => {
      if (!isItemDrag(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'copy';
    },
    onDrop: (event: DragEvent): void => {
      const item = droppedItem(event);
      const at = placeAt({ x: event.clientX, y: event.clientY }, true);
      if (item === undefined || at === undefined) return;
      event.preventDefault();
      onDropItem(item, at);
    },
  };
}

/** Opens the context menu for what was clicked, which is then selected. */
function useCanvasMenu({ selection, onSelect, onMenu }: EditorCanvasProps) {
  const open = (event: ReactMouseEvent | MouseEvent, target: MenuAt['for']): void => {
    event.preventDefault();
    onMenu({ x: event.clientX, y: event.clientY, for: target });
  };
  return {
    onNodeContextMenu: (event: ReactMouseEvent, { id }: { id: string }): void => {
      if (!selection.nodes.includes(id)) onSelect(() => ({ nodes: [id], edges: [] }));
      open(event, 'nodes');
    },
    onSelectionContextMenu: (event: ReactMouseEvent): void => open(event, 'nodes'),
    onEdgeContextMenu: (event: ReactMouseEvent, { id }: { id: string }): void => {
      onSelect(() => ({ nodes: [], edges: [id] }));
      open(event, 'edge');
    },
    onPaneContextMenu: (event: ReactMouseEvent | MouseEvent): void => open(event, 'pane'),
  };
}

/**
 * The editable drawing: nodes are dragged, connected by their handles and removed by a key. The panels next to it offer
 * all of this without a mouse.
 */
export function EditorCanvas(props: EditorCanvasProps) {
  const { places, selection, onSelect, onPlace, onConnect, onRemove, onOpen } = props;
  const colorMode = useComputedColorScheme('light');
  const { setDragged, dragged, shownAt, nodes, edges } = useCanvas(props);
  const frame = useRef<HTMLDivElement>(null);
  const [flow, setFlow] = useState<Flow>();
  const framePx = useFramePx(frame);
  // New options would replace those of a later fit that has not happened yet.
  const opening = useMemo(
    () => ({ ...fitting(nodes, { framePx }), padding: PADDING }),
    // oxlint-disable-next-line react/exhaustive-deps
    [framePx],
  );
  const only = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  useBroughtIntoView(flow, frame, only === undefined ? undefined : places.get(only));
  const moved = useRef(false);
  useGrownInView(flow, frame, { ...props, moved });
  useViewRequests(flow, props);
  const onNodesChange = (changes: NodeChange<CardNode>[]): void => {
    const moves = changes.filter((change) => change.type === 'position');
    const moved = new Map(
      moves.flatMap(({ id, position }) =>
        position === undefined ? [] : [[id, position] as const],
      ),
    );
    if (moves.some(({ dragging }) => dragging === true)) {
      setDragged(new Map([...dragged, ...moved]));
    } else if (moves.length > 0) {
      setDragged(new Map());
      // Dropped, or moved by an arrow key.
      onPlace(new Map([...dragged, ...moved]));
    }
    if (!changes.some(({ type }) => type === 'select')) return;
    onSelect((current) => ({ ...current, nodes: chosenBy(changes, current.nodes) }));
  };
  const onEdgesChange = (changes: EdgeChange[]): void => {
    if (!changes.some(({ type }) => type === 'select')) return;
    onSelect((current) => ({ ...current, edges: chosenBy(changes, current.edges) }));
  };
  const { onConnectEnd, ...drops } = canvasDrops(flow, frame, props);
  const menus = useCanvasMenu(props);
  const { onAdd, onTest } = props;
  const cardActions = useMemo<CardActions>(
    () => ({
      onTest,
      onAddFrom: (after, port, handle) => {
        const { right: x, top: y } = handle.getBoundingClientRect();
        onAdd({ after, port, at: within(frame, { x, y }) });
      },
    }),
    [onAdd, onTest],
  );
  return (
    <Box
      className="graph-frame"
      aria-label={text.title}
      role="region"
      ref={frame}
      onKeyDown={(event) => {
        const id = openedBy(event);
        if (id !== undefined) onOpen(id);
      }}
      {...drops}
    >
      <CardActionsContext value={cardActions}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          colorMode={colorMode}
          onlyRenderVisibleElements={nodes.length > MANY_NODES}
          fitView
          fitViewOptions={opening}
          minZoom={0.05}
          onInit={setFlow}
          onMove={(event) => {
            // Without an event, the editor moved the view.
            if (event !== null) moved.current = true;
          }}
          deleteKeyCode={DELETE_KEYS}
          multiSelectionKeyCode={SEVERAL_KEYS}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          connectOnClick={false}
          onConnect={({ source, target, sourceHandle }: Connection) =>
            onConnect(source, target, portIn(sourceHandle))
          }
          onConnectEnd={onConnectEnd}
          onDelete={(gone) =>
            onRemove({
              nodes: gone.nodes.map(({ id }) => id),
              edges: gone.edges.map(({ id }) => id),
            })
          }
          {...menus}
          proOptions={{ hideAttribution: true }}
        >
          <Background />
          <ZoomedOut />
          <BodyFrames drawing={props.drawing} places={shownAt} />
          <Controls showInteractive={false} />
          {nodes.length > MAP_NODES && (
            <MiniMap<CardNode>
              pannable
              zoomable
              nodeColor={colourOnMap}
              ariaLabel={graphText.map}
            />
          )}
        </ReactFlow>
      </CardActionsContext>
    </Box>
  );
}

/** The width of the initial view, measured before the drawing is fitted into it. */
function useFramePx(frame: RefObject<HTMLElement | null>): number {
  const [framePx, setFramePx] = useState(FRAME_PX);
  useLayoutEffect(() => {
    if (frame.current !== null) setFramePx(frame.current.clientWidth / (1 + PADDING));
  }, [frame]);
  return framePx;
}

/** A point of the window in pixels of the frame. */
function within(frame: RefObject<HTMLElement | null>, { x, y }: Place): Place {
  const { left, top } = frame.current?.getBoundingClientRect() ?? { left: 0, top: 0 };
  return { x: x - left, y: y - top };
}

/** The port of a handle. Handles have the ids of their ports. */
const portIn = (handle: string | null | undefined): PortId => (handle ?? 'next') as PortId;

/** The node whose fields the key opens. */
function openedBy(event: KeyboardEvent): string | undefined {
  const id = (event.target as Element).getAttribute('data-id');
  if (event.key !== 'Enter' || id === null) return undefined;
  event.preventDefault();
  return id;
}

/** The selected IDs after the changes. */
function chosenBy(
  changes: readonly { type: string; id?: string; selected?: boolean }[],
  before: readonly string[],
): string[] {
  const chosen = new Set(before);
  for (const { type, id = '', selected } of changes) {
    if (type !== 'select') continue;
    if (selected === true) chosen.add(id);
    else chosen.delete(id);
  }
  return [...chosen];
}
