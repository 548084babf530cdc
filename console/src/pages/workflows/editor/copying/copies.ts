import type { Graph } from '#client/index.ts';
import { nodeKinds } from '#shared/graph/kinds.ts';
import type { Place, Places } from '#console/src/graph/places.ts';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';
import { freeIdLike, idOf } from '#console/src/pages/workflows/editor/ids.ts';
import { withNewKeys } from './references.ts';

/** Copied nodes with the edges among them. */
export interface Copied {
  nodes: readonly JsonRecord[];
  edges: readonly JsonRecord[];
}

/** Distance of a copy from its original. */
const OFFSET = 40;

/** The nodes with these ids and the edges among them. Each node has its displayed position. */
export function copyOf(graph: Graph, ids: readonly string[], places: Places): Copied {
  const wanted = new Set<unknown>(ids);
  const nodes = graph.nodes.filter(isRecord).filter((node) => wanted.has(node['id']));
  return {
    nodes: nodes.map((node) => {
      const position = places.get(String(node['id']));
      return position === undefined ? node : { ...node, position };
    }),
    edges: graph.edges
      .filter(isRecord)
      .filter(({ source, target }) => wanted.has(source) && wanted.has(target)),
  };
}

/** What a paste adds to a graph. */
export interface Pasted {
  graph: Graph;
  /** The ids of the new nodes. */
  ids: string[];
}

/**
 * The graph with the copied nodes under unused ids and output keys, and with the edges among them. Their texts read the
 * copies instead of the originals. `at` is the position of the top left node; by default, next to its original. Without
 * positions in the graph, the copies have none either, and are laid out with the others.
 */
export function pasted(graph: Graph, { nodes, edges }: Copied, at?: Place): Pasted {
  const taken = new Set([...graph.nodes.map(idOf), ...graph.nodes.map(outputKeyOf)]);
  const ids = new Map<string, string>();
  const keys = new Map<string, string>();
  for (const node of nodes) {
    const id = String(node['id']);
    ids.set(id, freeIdLike(id, taken));
    const output = outputKeyOf(node);
    if (typeof output === 'string') keys.set(output, freeIdLike(output, taken));
  }
  for (const [id, copy] of ids) keys.set(id, copy);
  const move = moveTo(nodes, at);
  const placed = graph.nodes.every((node) => isRecord(node) && isRecord(node['position']));
  const copies = nodes.map((node) => {
    const { position: _, ...rest } = withNewKeys(node, keys);
    const output = outputKeyOf(node);
    return {
      ...rest,
      id: ids.get(String(node['id'])),
      ...(typeof output === 'string' && { output_key: keys.get(output) }),
      ...(placed && { position: move(node) }),
    };
  });
  const linked = edges.map(({ id: _, source, target, ...edge }) => ({
    source: ids.get(String(source)),
    target: ids.get(String(target)),
    ...edge,
  }));
  return {
    graph: { ...graph, nodes: [...graph.nodes, ...copies], edges: [...graph.edges, ...linked] },
    ids: [...ids.values()],
  };
}

const outputKeyOf = (node: unknown): unknown => (isRecord(node) ? node['output_key'] : undefined);

/** Where each copy goes. */
function moveTo(nodes: readonly JsonRecord[], at: Place | undefined): (node: JsonRecord) => Place {
  const known = nodes.map(placeOf);
  const left = Math.min(...known.map(({ x }) => x));
  const top = Math.min(...known.map(({ y }) => y));
  const by = at === undefined ? { x: OFFSET, y: OFFSET } : { x: at.x - left, y: at.y - top };
  return (node) => {
    const { x, y } = placeOf(node);
    return { x: Math.round(x + by.x), y: Math.round(y + by.y) };
  };
}

function placeOf({ position }: JsonRecord): Place {
  const { x, y } = isRecord(position) ? position : {};
  return { x: numberOf(x), y: numberOf(y) };
}

const numberOf = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : 0;

const MARK = 'workflow_nodes';
/** The maximum length of a clipboard text. */
const MOST_CHARACTERS = 2_000_000;

/** Copied nodes as clipboard text. */
export const clipboardText = ({ nodes, edges }: Copied): string =>
  JSON.stringify({ [MARK]: nodes, edges }, null, 2);

/** The nodes in a clipboard text; undefined if it contains none. */
export function clipboardNodes(text: string): Copied | undefined {
  if (text.length > MOST_CHARACTERS || !text.includes(MARK)) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(parsed)) return undefined;
  const nodes = recordsIn(parsed[MARK]).filter(
    ({ id, kind }) => typeof id === 'string' && nodeKinds.some((known) => known === kind),
  );
  const ids = new Set(nodes.map(({ id }) => id));
  const edges = recordsIn(parsed['edges']).filter(
    ({ source, target }) => ids.has(source) && ids.has(target),
  );
  return nodes.length === 0 ? undefined : { nodes, edges };
}

const recordsIn = (list: unknown): JsonRecord[] =>
  Array.isArray(list) ? list.filter(isRecord) : [];
