import type { Graph } from '#client/index.ts';
import type { EdgeCondition, NodeKind } from '#shared/contract/workflows/graph.ts';
import type { Place } from '#console/src/graph/places.ts';
import { conditionOf, type PortId } from '#console/src/graph/ports.ts';
import { branchingKinds, failingKinds, nodeKinds, repeats } from '#shared/graph/kinds.ts';
import { isRecord, type JsonRecord, valueAt, withAt } from '#console/src/parts/data/record.ts';
import { idOf } from './ids.ts';

/** Where the palette adds a node. */
export type Adding = Pick<Addition, 'after' | 'port' | 'before' | 'into' | 'position'> & {
  /** Where the palette opens, in pixels of the drawing; by default in its corner. */
  at?: Place | undefined;
};

/** A graph being edited, with its undo and redo history. */
export interface Draft {
  graph: Graph;
  /** Oldest first. */
  past: readonly Graph[];
  /** Last undone first. */
  future: readonly Graph[];
  /** The target of the latest change; the next change to the same target belongs to the same undo step. */
  touched: string | undefined;
}

export type Branch = EdgeCondition;

export type DraftAction =
  | ({ type: 'add'; id: string; kind: NodeKind } & Addition)
  /** Sets a field by its path in the node, like `retry.max_attempts`; undefined removes it. */
  | { type: 'set'; id: string; field: string; value: unknown }
  | { type: 'rename'; id: string; to: string }
  | { type: 'connect'; source: string; target: string; branch?: Branch | undefined }
  /** Edges are identified by their index in the graph. */
  | { type: 'branch'; edge: number; branch: Branch | undefined }
  | { type: 'remove'; nodes: readonly string[]; edges: readonly number[] }
  | { type: 'place'; places: ReadonlyMap<string, Place> }
  /** `touched` names a continuous change, like typing in one field. */
  | { type: 'replace'; graph: Graph; touched?: string }
  | { type: 'undo' }
  | { type: 'redo' }
  /** Starts over, without undo history. */
  | { type: 'load'; graph: Graph };

/** Where a new node goes, and its other initial fields. */
export interface Addition {
  position?: Place | undefined;
  /** Fields in addition to the required ones of its kind. */
  fields?: JsonRecord | undefined;
  /** The node that an edge to the new one comes from. */
  after?: string | undefined;
  /** The port that this edge leaves; by default, the first one without an edge. */
  port?: PortId | undefined;
  /** The node that an edge from the new one goes to. */
  before?: string | undefined;
  /** The edge that it is inserted into, by its index in the graph. */
  into?: number | undefined;
  /** New positions of other nodes, which make room. */
  moved?: ReadonlyMap<string, Place> | undefined;
}

/** Limit of undo steps. */
const MOST_STEPS = 200;

export const draftOf = (graph: Graph): Draft => ({
  graph,
  past: [],
  future: [],
  touched: undefined,
});

/** The next draft. An impossible change, such as an edge to an unknown node, leaves the draft unchanged. */
export function changeDraft(draft: Draft, action: DraftAction): Draft {
  switch (action.type) {
    case 'undo':
      return undone(draft);
    case 'redo':
      return redone(draft);
    case 'load':
      return draftOf(action.graph);
    default: {
      const graph = changed(draft.graph, action);
      return graph === draft.graph ? draft : stepped(draft, graph, touchOf(action));
    }
  }
}

function stepped(draft: Draft, graph: Graph, touched: string | undefined): Draft {
  const continuesEdit = touched !== undefined && touched === draft.touched;
  const past = continuesEdit ? draft.past : [...draft.past, draft.graph].slice(-MOST_STEPS);
  return { graph, past, future: [], touched };
}

function undone(draft: Draft): Draft {
  const graph = draft.past.at(-1);
  if (graph === undefined) return draft;
  return {
    graph,
    past: draft.past.slice(0, -1),
    future: [draft.graph, ...draft.future],
    touched: undefined,
  };
}

function redone(draft: Draft): Draft {
  const [graph, ...future] = draft.future;
  if (graph === undefined) return draft;
  return { graph, past: [...draft.past, draft.graph], future, touched: undefined };
}

type Change = Exclude<DraftAction, { type: 'undo' | 'redo' | 'load' }>;

function touchOf(action: Change): string | undefined {
  if (action.type === 'set') return `${action.id} ${action.field}`;
  return action.type === 'replace' ? action.touched : undefined;
}

function changed(graph: Graph, action: Change): Graph {
  switch (action.type) {
    case 'add':
      return withNode(graph, action);
    case 'set':
      return withField(graph, action);
    case 'rename':
      return renamed(graph, action.id, action.to);
    case 'connect':
      return connected(graph, action);
    case 'branch':
      return branched(graph, action.edge, action.branch);
    case 'remove':
      return without(graph, new Set(action.nodes), new Set(action.edges));
    case 'place':
      return placed(graph, action.places);
    case 'replace':
      return action.graph;
  }
}

const repeatingKinds = nodeKinds.filter((kind) => repeats({ kind }));

/** The required fields of a new node, by kind. */
const beginnings: Record<NodeKind, JsonRecord> = {
  agent: { prompt: '', model: 'mock' },
  tool: { tool_name: 'json_transform', params: { expression: 'null' } },
  code: {
    source: 'export default (state) => {\n  return { done: true };\n};\n',
    language: 'javascript',
  },
  condition: { expression: 'true' },
  loop: { expression: 'false', max_iterations: 5 },
  map: { items: '[]', concurrency: 10 },
  workflow: { workflow: '', input: {} },
  human_gate: { prompt: '' },
  wait: { seconds: 60 },
  merge: {},
};

function withNode(
  graph: Graph,
  {
    id,
    kind,
    position,
    fields,
    after,
    port,
    before,
    into,
    moved,
  }: Extract<DraftAction, { type: 'add' }>,
): Graph {
  if (nodeOf(graph, id) !== undefined) return graph;
  const node = {
    id,
    kind,
    ...structuredCopy(beginnings[kind]),
    ...fields,
    ...(position && { position }),
  };
  const rest = moved === undefined ? graph : placed(graph, moved);
  let next: Graph = { ...rest, nodes: [...rest.nodes, node] };
  if (into !== undefined) next = insertedInto(next, into, id);
  if (after !== undefined) {
    const branch = port === undefined ? freeBranch(graph, after) : conditionOf(port);
    next = connected(next, { source: after, target: id, branch });
  }
  if (before === undefined) return next;
  return connected(next, { source: id, target: before, branch: onwardBranch(next, id) });
}

/** Redirects the edge to the node, and adds another one from there to its previous target. */
function insertedInto(graph: Graph, at: number, id: string): Graph {
  const edge = graph.edges[at];
  if (!isRecord(edge)) return graph;
  const target = edge['target'];
  const led = { ...graph, edges: graph.edges.with(at, { ...edge, target: id }) };
  return connected(led, { source: id, target: String(target), branch: onwardBranch(led, id) });
}

/** The branch of the edge that leaves a new node: a loop or map continues where its body ends. */
function onwardBranch(graph: Graph, id: string): Branch | undefined {
  const node = nodeOf(graph, id);
  return hasKindIn(node, repeatingKinds) ? undefined : freeBranch(graph, id);
}

const structuredCopy = (fields: JsonRecord): JsonRecord =>
  JSON.parse(JSON.stringify(fields)) as JsonRecord;

function withField(
  graph: Graph,
  { id, field, value }: Extract<DraftAction, { type: 'set' }>,
): Graph {
  return withNodes(graph, (node) =>
    node['id'] === id && valueAt(node, field) !== value ? withAt(node, field, value) : node,
  );
}

/** Also renames a node in its edges. A taken or empty ID changes nothing. */
function renamed(graph: Graph, id: string, to: string): Graph {
  if (to === '' || to === id || nodeOf(graph, to) !== undefined) return graph;
  if (nodeOf(graph, id) === undefined) return graph;
  const end = (value: unknown): unknown => (value === id ? to : value);
  return {
    ...withNodes(graph, (node) => (node['id'] === id ? { ...node, id: to } : node)),
    edges: graph.edges.map((edge) =>
      isRecord(edge) && (edge['source'] === id || edge['target'] === id)
        ? { ...edge, source: end(edge['source']), target: end(edge['target']) }
        : edge,
    ),
  };
}

function connected(
  graph: Graph,
  { source, target, branch }: Omit<Extract<DraftAction, { type: 'connect' }>, 'type'>,
): Graph {
  if (nodeOf(graph, source) === undefined || nodeOf(graph, target) === undefined) return graph;
  const drawn = graph.edges.some(
    (edge) =>
      isRecord(edge) &&
      edge['source'] === source &&
      edge['target'] === target &&
      edge['condition_value'] === branch,
  );
  if (drawn) return graph;
  const edge = { source, target, ...(branch && { condition_value: branch }) };
  return { ...graph, edges: [...graph.edges, edge] };
}

function branched(graph: Graph, at: number, branch: Branch | undefined): Graph {
  const edge = graph.edges[at];
  if (!isRecord(edge) || edge['condition_value'] === branch) return graph;
  return { ...graph, edges: graph.edges.with(at, withAt(edge, 'condition_value', branch)) };
}

/** Also removes the edges of removed nodes. */
function without(graph: Graph, nodes: ReadonlySet<unknown>, edges: ReadonlySet<number>): Graph {
  const keptNodes = graph.nodes.filter((node) => !nodes.has(idOf(node)));
  const keptEdges = graph.edges.filter(
    (edge, at) =>
      !edges.has(at) &&
      !(isRecord(edge) && (nodes.has(edge['source']) || nodes.has(edge['target']))),
  );
  if (keptNodes.length === graph.nodes.length && keptEdges.length === graph.edges.length) {
    return graph;
  }
  return { ...graph, nodes: keptNodes, edges: keptEdges };
}

function placed(graph: Graph, places: ReadonlyMap<string, Place>): Graph {
  return withNodes(graph, (node) => {
    const place = places.get(String(node['id']));
    if (place === undefined) return node;
    // Integers keep the JSON readable.
    return { ...node, position: { x: Math.round(place.x), y: Math.round(place.y) } };
  });
}

function withNodes(graph: Graph, change: (node: JsonRecord) => JsonRecord): Graph {
  const nodes = graph.nodes.map((node) => (isRecord(node) ? change(node) : node));
  return nodes.some((node, at) => node !== graph.nodes[at]) ? { ...graph, nodes } : graph;
}

/** The node, not validated; the first one if an ID is duplicated. */
export function nodeOf(graph: Graph, id: string): JsonRecord | undefined {
  return graph.nodes.find((node): node is JsonRecord => isRecord(node) && node['id'] === id);
}

const hasKindIn = (node: JsonRecord | undefined, kinds: readonly unknown[]): boolean =>
  kinds.includes(node?.['kind']);

/** The results of the node that its edges can require; empty if they are always taken. */
export const branchesOf = (node: JsonRecord | undefined): Branch[] => [
  ...(hasKindIn(node, branchingKinds) ? (['true', 'false'] as const) : []),
  ...(hasKindIn(node, failingKinds) ? (['error'] as const) : []),
];

/** The most likely branch of the next edge from a node: the first one without an edge. */
export function freeBranch(graph: Graph, source: string): Branch | undefined {
  const branches = branchesOf(nodeOf(graph, source)).filter((branch) => branch !== 'error');
  const used = new Set(
    graph.edges.flatMap((edge) =>
      isRecord(edge) && edge['source'] === source ? [edge['condition_value']] : [],
    ),
  );
  return branches.find((branch) => !used.has(branch));
}
