import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';

/** The graph as the documents describe it: which node belongs to which body, and the order of the nodes. */
export interface Plan {
  graph: Graph;
  nodes: Map<string, GraphNode>;
  /** The innermost loop or map whose body contains the node; undefined outside of them. */
  body: Map<string, string>;
  /** A node comes after all that lead to it. */
  order: string[];
}

export function planOf(graph: Graph): Plan {
  const nodes = new Map(graph.nodes.map((node) => [node.id, node]));
  const heads = graph.nodes.filter(({ kind }) => kind === 'loop' || kind === 'map');
  const starts = startsOf(graph, heads);
  const bodies = heads.map(({ id }) => ({ id, members: bodyOf(graph, id, starts) }));
  // A smaller body is inside of a larger one.
  bodies.sort((a, b) => b.members.size - a.members.size);
  const body = new Map(bodies.flatMap(({ id, members }) => [...members].map((m) => [m, id])));
  return { graph, nodes, body, order: orderOf(graph, body) };
}

/** The nodes that edges lead to from some nodes on, without passing the head. */
function reached({ edges }: Graph, from: Iterable<string>, head?: string): Set<string> {
  const found = new Set<string>();
  const visit = (id: string): void => {
    if (id === head || found.has(id)) return;
    found.add(id);
    for (const { source, target } of edges) if (source === id) visit(target);
  };
  for (const id of from) visit(id);
  return found;
}

/** What the 'true' edges of a loop or map lead to, up to the edges back. */
const insideOf = (graph: Graph, head: string): Set<string> =>
  reached(graph, targetsOf(graph, head, true), head);

const targetsOf = ({ edges }: Graph, head: string, inBody: boolean): string[] =>
  edges
    .filter(({ source, condition_value: when }) => source === head && (when === 'true') === inBody)
    .map(({ target }) => target);

/** The nodes without incoming edges; and the loops and maps that otherwise nothing leads to but their bodies. */
function startsOf(graph: Graph, heads: Graph['nodes']): string[] {
  const { nodes, edges } = graph;
  const starts = nodes.map(({ id }) => id).filter((id) => edges.every((e) => e.target !== id));
  for (const { id } of heads) {
    const inside = insideOf(graph, id);
    const before = edges.filter(({ target, source }) => target === id && source !== id);
    if (reached(graph, starts).has(id)) continue;
    if (before.every(({ source }) => inside.has(source))) starts.push(id);
  }
  return starts;
}

/** The inside of a loop or map without what is also reached around it. */
function bodyOf(graph: Graph, head: string, starts: string[]): Set<string> {
  const around = reached(graph, [...starts, ...targetsOf(graph, head, false)], head);
  return new Set([...insideOf(graph, head)].filter((id) => !around.has(id)));
}

/** Whether the edge leads back to its own source, or to a loop or map around it: nothing waits for it. */
export function leadsBack(
  body: Plan['body'],
  { source, target }: { source: string; target: string },
): boolean {
  if (source === target) return true;
  for (let around = body.get(source); around !== undefined; around = body.get(around)) {
    if (around === target) return true;
  }
  return false;
}

/** One after the other the nodes all of whose sources are placed: what an earlier node leads to comes first. */
function orderOf({ nodes, edges }: Graph, body: Plan['body']): string[] {
  const waits = edges.filter((edge) => !leadsBack(body, edge));
  const order: string[] = [];
  const isReady = (id: string, placed: string[]): boolean =>
    waits.every(({ target, source }) => target !== id || placed.includes(source));
  order.push(...nodes.map(({ id }) => id).filter((id) => isReady(id, [])));
  for (let at = 0; at < order.length; at += 1) {
    const placed = order.slice(0, at + 1);
    for (const { source, target } of waits) {
      if (source === order[at] && !order.includes(target) && isReady(target, placed)) {
        order.push(target);
      }
    }
  }
  return order;
}
