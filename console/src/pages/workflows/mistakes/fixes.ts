import type { Graph } from '#client/index.ts';
import { fixes as text } from '#console/src/messages/en/workflows/mistakes.ts';
import { isRecord, withAt } from '#console/src/parts/data/record.ts';
import type { Mistake } from './mistakes.ts';

/** A change that removes a mistake, and its name. */
export interface Fix {
  label: string;
  graph: Graph;
}

/** What removes a mistake about an edge: the edge has to go. */
const EDGE_CODES = new Set(['dangling_edge', 'duplicate_edge']);

/** The change that removes a mistake, if it is a single one that needs no decision. */
export function fixOf({ code, severity, edge, path = '' }: Mistake, graph: Graph): Fix | undefined {
  if (severity === 'error' && edge !== undefined && EDGE_CODES.has(code)) {
    return { label: text.removeEdge, graph: { ...graph, edges: graph.edges.toSpliced(edge, 1) } };
  }
  const [, at = '', field = ''] = /^nodes\[(\d+)\]\.(.+)$/.exec(path) ?? [];
  const node = graph.nodes[Number(at)];
  if (at === '' || !isRecord(node)) return undefined;
  const withField = (name: string, value: unknown): Graph => ({
    ...graph,
    nodes: graph.nodes.with(Number(at), withAt(node, name, value)),
  });
  switch (code) {
    case 'gate_too_few_approvers':
      return severity === 'error' && field.endsWith('required')
        ? { label: text.requireOne, graph: withField(field, undefined) }
        : undefined;
    case 'approval_without_effect':
      return { label: text.removeApproval, graph: withField(field, undefined) };
    case 'unknown_param': {
      const name = field.slice('params.'.length);
      const { [name]: _, ...others } = isRecord(node['params']) ? node['params'] : {};
      return { label: text.removeParameter(name), graph: withField('params', others) };
    }
    default:
      return undefined;
  }
}
