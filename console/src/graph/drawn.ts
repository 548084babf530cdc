import type { EdgeCondition, NodeKind } from '#shared/contract/workflows/graph.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';
import type { Graph } from '#client/index.ts';

/** The displayed fields of a node. A draft can contain anything, so other fields are not validated. */
export interface DrawnNode {
  id: string;
  kind: NodeKind;
  label: string;
  position: { x: number; y: number } | undefined;
  /** The node as saved in the graph. */
  node: Record<string, unknown>;
}

export interface DrawnEdge {
  id: string;
  source: string;
  target: string;
  conditionValue: EdgeCondition | undefined;
  /** Its index in the graph's edges. */
  at: number;
}

export interface Drawing {
  nodes: DrawnNode[];
  edges: DrawnEdge[];
}

/** The part of a graph that can be displayed: nodes with a unique id and a known kind, and the edges between them. */
export function drawingOf(graph: Graph): Drawing {
  const nodes = new Map<string, DrawnNode>();
  for (const node of graph.nodes.filter(isObject)) {
    const { id, kind, label, position } = node;
    if (typeof id !== 'string' || nodes.has(id) || !isKind(kind)) continue;
    nodes.set(
      id,
      remembered(drawnNodes, node, () => ({
        id,
        kind,
        label: typeof label === 'string' && label !== '' ? label : id,
        position: isPosition(position) ? position : undefined,
        node,
      })),
    );
  }
  const edges = graph.edges.flatMap((edge, at): DrawnEdge[] => {
    if (!isObject(edge)) return [];
    const { source, target, condition_value: value } = edge;
    if (typeof source !== 'string' || typeof target !== 'string') return [];
    if (!nodes.has(source) || !nodes.has(target)) return [];
    const known = drawnEdges.get(edge);
    if (known?.at === at) return [known];
    const drawn = {
      // Includes the index, because two nodes can have several edges, and edge ids in a draft can repeat.
      id: `${at}:${source}>${target}`,
      source,
      target,
      conditionValue: isCondition(value) ? value : undefined,
      at,
    };
    drawnEdges.set(edge, drawn);
    return [drawn];
  });
  return { nodes: [...nodes.values()], edges };
}

/**
 * Caches the displayed nodes and edges of graphs. Graphs are never changed in place, so the same node object always
 * gives the same displayed object, and views can compare by identity.
 */
const drawnNodes = new WeakMap<object, DrawnNode>();
const drawnEdges = new WeakMap<object, DrawnEdge>();

function remembered<Key extends object, Value>(
  known: WeakMap<Key, Value>,
  key: Key,
  make: () => Value,
): Value {
  const before = known.get(key);
  if (before !== undefined) return before;
  const made = make();
  known.set(key, made);
  return made;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isKind = (value: unknown): value is NodeKind => nodeKinds.includes(value as NodeKind);

const isCondition = (value: unknown): value is EdgeCondition =>
  value === 'true' || value === 'false' || value === 'error';

const isPosition = (value: unknown): value is { x: number; y: number } =>
  isObject(value) && Number.isFinite(value['x']) && Number.isFinite(value['y']);
