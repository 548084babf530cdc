import dagre from '@dagrejs/dagre';
import type { LayoutAnswer, LayoutRequest } from './layout.ts';

/** Lays out graphs outside of the page's thread, which a thousand nodes would block for seconds. */
self.addEventListener('message', ({ data }: MessageEvent<LayoutRequest>) => {
  const { ticket, nodes, edges, nodeSize } = data;
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'LR', nodesep: 36, ranksep: 72, ranker: rankerFor(nodes.length) });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of nodes) graph.setNode(id, { ...nodeSize });
  edges.forEach(({ source, target }, index) => graph.setEdge(source, target, {}, String(index)));
  dagre.layout(graph);
  const places = nodes.map((id) => {
    const { x, y } = graph.node(id) as { x: number; y: number };
    return { id, x: x - nodeSize.width / 2, y: y - nodeSize.height / 2 };
  });
  const answer: LayoutAnswer = { ticket, places };
  self.postMessage(answer);
});

/** Network simplex looks best, but takes quadratic time. */
const rankerFor = (nodes: number): string => (nodes > 300 ? 'longest-path' : 'network-simplex');
