import dagre from '@dagrejs/dagre';

export interface LayoutRequest {
  ticket: number;
  nodes: string[];
  edges: { source: string; target: string }[];
  /** Groups of nodes that must stay together, outer groups before inner ones. */
  groups: string[][];
  nodeSize: { width: number; height: number };
}

export interface LayoutAnswer {
  ticket: number;
  places: { id: string; x: number; y: number }[];
}

/** Lays out graphs outside the page's thread, which a thousand nodes would block for seconds. */
self.addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  const { ticket, nodes, nodeSize } = data;
  const graph = new dagre.graphlib.Graph({ multigraph: true, compound: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 36, ranksep: 72, ranker: rankerFor(nodes.length) });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { ...nodeSize });
  data.edges.forEach(({ source, target }, at) => graph.setEdge(source, target, {}, String(at)));
  if (nodes.length <= MANY) groupIn(graph, data);
  dagre.layout(graph);
  const places = nodes.map((id) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 };
  });
  const answer: LayoutAnswer = { ticket, places };
  self.postMessage(answer);
});

/** Above this number, everything that takes quadratic time is left out: groups, and the ranker that looks best. */
const MANY = 300;

function groupIn(
  graph: InstanceType<typeof dagre.graphlib.Graph>,
  { nodes, groups }: LayoutRequest,
): void {
  const groupOf = new Map<string, string>();
  groups.forEach((members, at) => {
    // No node id contains this character.
    const group = `\u0000${at}`;
    graph.setNode(group, {});
    const outer = members.map((id) => groupOf.get(id)).find((one) => one !== undefined);
    if (outer !== undefined) graph.setParent(group, outer);
    for (const id of members) groupOf.set(id, group);
  });
  for (const id of nodes) {
    const group = groupOf.get(id);
    if (group !== undefined) graph.setParent(id, group);
  }
}

const rankerFor = (nodes: number): string => (nodes > MANY ? 'longest-path' : 'network-simplex');
