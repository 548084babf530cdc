import '@xyflow/react/dist/style.css';
import { Badge, Box, useComputedColorScheme } from '@mantine/core';
import {
  Background,
  type Connection,
  Controls,
  type EdgeChange,
  type NodeChange,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import type { Drawing } from '../../../graph/drawn.ts';
import { edgeOf, edgeTypes } from '../../../graph/graph-view.tsx';
import { nodeSize, type Places } from '../../../graph/layout.ts';
import { openingOf, openingView } from '../../../graph/opening.ts';
import { type CardNode, kindNames, NodeCard } from '../../../graph/node-card.tsx';
import { routesOf } from '../../../graph/routes.ts';
import { ZoomVariable } from '../../../graph/zoom-variable.tsx';
import type { Place } from './draft.ts';
import { countByNode, countWords, type Mistake, type MistakeCount } from '../mistakes/mistakes.ts';

const nodeTypes = { card: NodeCard };
/** Maximum width of the drawing, without the space around it. */
const FRAME_PX = 480;
const MANY_NODES = 100;
const DELETE_KEYS = ['Delete', 'Backspace'];

/** The selection in the drawing. */
export interface Selection {
  nodes: readonly string[];
  /** IDs of drawn edges. */
  edges: readonly string[];
}

/** The cards at the positions of the draft. */
function useCards({
  mistakes,
  drawing,
  places,
  selection,
}: {
  mistakes: readonly Mistake[];
  drawing: Drawing;
  places: Places;
  selection: Selection;
}) {
  const counts = useMemo(() => countByNode(mistakes), [mistakes]);
  const standing = useMemo(
    () =>
      drawing.nodes.map(({ id, kind, label }): CardNode => {
        const count = counts.get(id);
        const words = count === undefined ? undefined : countWords(count);
        return {
          id,
          type: 'card',
          position: places.get(id) ?? { x: 0, y: 0 },
          data: {
            kind,
            label,
            ...(count !== undefined && { mark: <MistakeMark count={count} /> }),
            colour: colourOf(count),
          },
          ...nodeSize,
          measured: nodeSize,
          selected: selection.nodes.includes(id),
          ariaLabel: `${label}, ${kindNames[kind]}${words === undefined ? '' : `, ${words}`}`,
        };
      }),
    [drawing, places, counts, selection.nodes],
  );
  return { standing };
}

/** The cards and edges to draw, including dragged cards. */
function useCanvas({
  mistakes,
  drawing,
  places,
  selection,
}: {
  mistakes: readonly Mistake[];
  drawing: Drawing;
  places: Places;
  selection: Selection;
}) {
  // Dragged nodes follow the pointer; the draft receives their positions when the drag ends.
  const [dragged, setDragged] = useState<ReadonlyMap<string, Place>>(new Map());
  const { standing } = useCards({ mistakes, drawing, places, selection });
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
  const routes = useMemo(
    () => routesOf(drawing.edges, new Map([...places, ...dragged]), nodeSize),
    [drawing, places, dragged],
  );
  const edges = useMemo(
    () =>
      drawing.edges.flatMap((edge) => {
        const route = routes.get(edge.id);
        if (route === undefined) return [];
        return {
          ...edgeOf(edge, route),
          selected: selection.edges.includes(edge.id),
          ariaLabel: `Edge from ${edge.source} to ${edge.target}`,
        };
      }),
    [drawing, routes, selection.edges],
  );
  return { setDragged, dragged, nodes, edges };
}

interface EditorCanvasProps {
  drawing: Drawing;
  places: Places;
  mistakes: readonly Mistake[];
  selection: Selection;
  onSelect: (next: (current: Selection) => Selection) => void;
  /** The new positions of moved nodes. */
  onPlace: (moved: ReadonlyMap<string, Place>) => void;
  onConnect: (source: string, target: string) => void;
  onRemove: (selection: Selection) => void;
  height: number | string;
}

/** Handles moves and selections in the drawing. */
function canvasChanges({
  setDragged,
  dragged,
  onPlace,
  onSelect,
}: {
  setDragged: (dragged: ReadonlyMap<string, Place>) => void;
  dragged: ReadonlyMap<string, Place>;
  onPlace: EditorCanvasProps['onPlace'];
  onSelect: EditorCanvasProps['onSelect'];
}) {
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
  return { onNodesChange, onEdgesChange };
}

/**
 * The editable drawing: nodes are dragged, connected by their handles and removed by a key. The panels beside it offer
 * all of this without a mouse.
 */
export function EditorCanvas({
  drawing,
  places,
  mistakes,
  selection,
  onSelect,
  onPlace,
  onConnect,
  onRemove,
  height,
}: EditorCanvasProps) {
  const colorMode = useComputedColorScheme('light');
  const { setDragged, dragged, nodes, edges } = useCanvas({ mistakes, drawing, places, selection });
  const frame = useRef<HTMLDivElement>(null);
  const [flow, setFlow] = useState<ReactFlowInstance<CardNode>>();
  const only = selection.nodes.length === 1 ? selection.nodes[0] : undefined;
  useBroughtIntoView(flow, frame, only === undefined ? undefined : places.get(only));
  const { onNodesChange, onEdgesChange } = canvasChanges({
    setDragged,
    dragged,
    onPlace,
    onSelect,
  });
  return (
    <Box h={height} className="graph-frame" aria-label="Graph editor" role="region" ref={frame}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        colorMode={colorMode}
        onlyRenderVisibleElements={nodes.length > MANY_NODES}
        fitView
        // With padding: the view pans with a node dragged near its edge.
        fitViewOptions={{
          ...openingView,
          padding: 0.2,
          nodes: openingOf(nodes, undefined, FRAME_PX),
        }}
        minZoom={0.05}
        onInit={setFlow}
        deleteKeyCode={DELETE_KEYS}
        onNodesChange={onNodesChange}
        onEdgesChange={onEdgesChange}
        onConnect={({ source, target }: Connection) => onConnect(source, target)}
        onDelete={(gone) =>
          onRemove({
            nodes: gone.nodes.map(({ id }) => id),
            edges: gone.edges.map(({ id }) => id),
          })
        }
        proOptions={{ hideAttribution: true }}
      >
        <Background />
        <ZoomVariable frame={frame} />
        <Controls showInteractive={false} />
      </ReactFlow>
    </Box>
  );
}

/** Centers the view on a node that was selected elsewhere or just added, if it is out of view. */
function useBroughtIntoView(
  flow: ReactFlowInstance<CardNode> | undefined,
  frame: RefObject<HTMLElement | null>,
  place: Place | undefined,
): void {
  const { x, y } = place ?? {};
  useEffect(() => {
    const box = frame.current;
    if (flow === undefined || box === null || x === undefined || y === undefined) return;
    const { x: left, y: top, zoom } = flow.getViewport();
    const inside =
      x * zoom + left >= 0 &&
      y * zoom + top >= 0 &&
      (x + nodeSize.width) * zoom + left <= box.clientWidth &&
      (y + nodeSize.height) * zoom + top <= box.clientHeight;
    if (inside) return;
    void flow.setCenter(x + nodeSize.width / 2, y + nodeSize.height / 2, { zoom });
  }, [flow, frame, x, y]);
}

function MistakeMark({ count }: { count: MistakeCount }) {
  return (
    <Badge size="xs" tt="none" color={colourOf(count)} variant="filled" autoContrast>
      {countWords(count)}
    </Badge>
  );
}

const colourOf = (count: MistakeCount | undefined): string | undefined =>
  count === undefined ? undefined : count.errors > 0 ? 'red' : 'yellow';

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
