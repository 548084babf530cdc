import dagre from '@dagrejs/dagre';

export interface LayoutRequest {
  ticket: number;
  nodes: string[];
  /** `port` is the place of the edge's port on its card, from the top. */
  edges: { source: string; target: string; port: number }[];
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
  const nodesep = data.groups.length === 0 ? 36 : GROUPED_PX;
  graph.setGraph({ rankdir: 'LR', nodesep, ranksep: 88, ranker: rankerFor(nodes.length) });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { ...nodeSize });
  data.edges.forEach(({ source, target }, at) => graph.setEdge(source, target, {}, String(at)));
  if (nodes.length <= MANY) groupIn(graph, data);
  dagre.layout(graph);
  const at = (id: string): { x: number; y: number } => graph.node(id) as { x: number; y: number };
  const up = isUpsideDown(data.edges, (id) => at(id).y) ? -1 : 1;
  const places = nodes.map((id) => {
    const { x, y } = at(id);
    return { id, x: x - nodeSize.width / 2, y: up * y - nodeSize.height / 2 };
  });
  const answer: LayoutAnswer = { ticket, places };
  self.postMessage(answer);
});

/** The distance between cards where one can be inside a frame, with the frame's label. */
const GROUPED_PX = 56;

/** Whether more edges from lower ports lead up than down, so that they cross those from upper ports. */
function isUpsideDown(edges: LayoutRequest['edges'], heightOf: (id: string) => number): boolean {
  const bySource = Map.groupBy(edges, ({ source }) => source);
  let crossed = 0;
  for (const leaving of bySource.values()) {
    const inOrder = leaving.toSorted((a, b) => a.port - b.port);
    for (const [index, { port, target }] of inOrder.entries()) {
      const before = inOrder[index - 1];
      if (before === undefined || before.port === port) continue;
      crossed += Math.sign(heightOf(before.target) - heightOf(target));
    }
  }
  return crossed > 0;
}

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
