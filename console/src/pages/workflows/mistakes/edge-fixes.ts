import type { Graph } from '#client/index.ts';
import { fixes as text } from '#console/src/messages/en/workflows/mistakes.ts';
import { freeId } from '#console/src/pages/workflows/editor/ids.ts';
import { isRecord, type JsonRecord } from '#console/src/parts/data/record.ts';

interface Fix {
  label: string;
  graph: Graph;
}

type Branch = 'true' | 'false';

interface Edge {
  source: string;
  target: string;
  branch: unknown;
}

const edgesOf = ({ edges }: Graph): Edge[] =>
  edges.flatMap((edge) =>
    isRecord(edge)
      ? [
          {
            source: String(edge['source']),
            target: String(edge['target']),
            branch: edge['condition_value'],
          },
        ]
      : [],
  );

const idOf = (node: unknown): string => (isRecord(node) ? String(node['id']) : '');

const withEdge = (graph: Graph, source: string, target: string, branch?: Branch): Graph => ({
  ...graph,
  edges: [...graph.edges, { source, target, ...(branch && { condition_value: branch }) }],
});

/** What is reached from these nodes, nearest first, without going through `except`. */
function reachedFrom(graph: Graph, starts: readonly string[], except: string): string[] {
  const edges = edgesOf(graph);
  const reached = [...new Set(starts)].filter((id) => id !== except);
  for (const id of reached) {
    for (const { source, target } of edges) {
      if (source === id && target !== except && !reached.includes(target)) reached.push(target);
    }
  }
  return reached;
}

/** The missing branch of a condition leads to the merge that the other one leads to. */
export function branchToMerge(graph: Graph, condition: JsonRecord): Fix | undefined {
  const id = idOf(condition);
  const out = edgesOf(graph).filter(({ source }) => source === id);
  const missing = (['true', 'false'] as const).filter((branch) =>
    out.every((edge) => edge.branch !== branch),
  );
  const [branch] = missing;
  if (branch === undefined || missing.length > 1) return undefined;
  const starts = out.flatMap(({ target, branch: given }) => (given === 'error' ? [] : [target]));
  const merges = new Set(
    graph.nodes.filter((node) => isRecord(node) && node['kind'] === 'merge').map(idOf),
  );
  const merge = reachedFrom(graph, starts, id).find((each) => merges.has(each));
  if (merge === undefined) return undefined;
  return {
    label: text.addBranch(text.branches[branch], merge),
    graph: withEdge(graph, id, merge, branch),
  };
}

const NODE_WIDTH = 260;

/** A first node for each item, which returns it. */
export function bodyAdded(graph: Graph, map: JsonRecord): Fix {
  const id = idOf(map);
  const body = freeId(graph, 'tool');
  const { position } = map;
  const node = {
    ...{ id: body, kind: 'tool', tool_name: 'json_transform' },
    params: { expression: `${id}.item` },
    ...(isRecord(position) && {
      position: { x: Number(position['x']) + NODE_WIDTH, y: Number(position['y']) },
    }),
  };
  const added = { ...graph, nodes: [...graph.nodes, node] };
  return {
    label: text.addBody,
    graph: withEdge(withEdge(added, id, body, 'true'), body, id),
  };
}

/** The last node of a body leads back, if there is only one. */
export function returnAdded(graph: Graph, repeating: JsonRecord): Fix | undefined {
  const id = idOf(repeating);
  const edges = edgesOf(graph);
  const starts = edges
    .filter(({ source, branch }) => source === id && branch === 'true')
    .map(({ target }) => target);
  const ends = reachedFrom(graph, starts, id).filter((each) =>
    edges.every(({ source }) => source !== each),
  );
  const [last] = ends;
  if (last === undefined || ends.length > 1) return undefined;
  return { label: text.leadBack(last, id), graph: withEdge(graph, last, id) };
}
