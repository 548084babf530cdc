import type { Graph } from '#client/index.ts';
import { fixes as text } from '#console/src/messages/en/workflows/mistakes.ts';
import { isRecord, type JsonRecord, valueAt, withAt } from '#console/src/parts/data/record.ts';
import { bodyAdded, branchToMerge, returnAdded } from './edge-fixes.ts';
import type { Mistake } from './mistakes.ts';

/** A change that removes a mistake, and its name. */
export interface Fix {
  label: string;
  graph: Graph;
}

/** What removes a mistake about an edge: the edge has to go. */
const EDGE_CODES = new Set(['dangling_edge', 'duplicate_edge', 'error_edge_not_allowed']);

/** What removes a mistake about a field that does nothing: the field has to go. */
const FIELD_CODES: Partial<Record<string, string>> = {
  approval_without_effect: text.removeApproval,
  gate_rechecks_nothing: text.removeRecheck,
  gate_covers_nothing: text.removeCovers,
  gate_reminds_too_late: text.removeReminder,
};

/** The change that removes a mistake, if it is a single one that needs no decision. */
export function fixOf(mistake: Mistake, graph: Graph): Fix | undefined {
  const { code, severity, edge, path = '' } = mistake;
  if (edge !== undefined) return fixOfEdge({ code, severity, edge }, graph);
  const [, at = '', field = ''] = /^nodes\[(\d+)\](?:\.(.+))?$/.exec(path) ?? [];
  const node = graph.nodes[Number(at)];
  if (at === '' || !isRecord(node)) return undefined;
  const withNode = (next: JsonRecord): Graph => ({
    ...graph,
    nodes: graph.nodes.with(Number(at), next),
  });
  return field === ''
    ? fixOfNode(code, graph, node)
    : fixOfField(mistake, { node, field, withNode });
}

function fixOfEdge(
  { code, severity, edge: at }: Pick<Mistake, 'code' | 'severity'> & { edge: number },
  graph: Graph,
): Fix | undefined {
  if (severity === 'error' && EDGE_CODES.has(code)) {
    return { label: text.removeEdge, graph: { ...graph, edges: graph.edges.toSpliced(at, 1) } };
  }
  const edge = graph.edges[at];
  if (code !== 'condition_value_ignored' || !isRecord(edge)) return undefined;
  const always = withAt(edge, 'condition_value', undefined);
  return { label: text.takeAlways, graph: { ...graph, edges: graph.edges.with(at, always) } };
}

function fixOfNode(code: string, graph: Graph, node: JsonRecord): Fix | undefined {
  switch (code) {
    case 'condition_branch_missing':
      return branchToMerge(graph, node);
    case 'map_without_body':
      return bodyAdded(graph, node);
    case 'map_without_return':
    case 'loop_without_return':
      return returnAdded(graph, node);
    default:
      return undefined;
  }
}

interface Place {
  node: JsonRecord;
  /** The path in the node. */
  field: string;
  withNode: (next: JsonRecord) => Graph;
}

function fixOfField(mistake: Mistake, { node, field, withNode }: Place): Fix | undefined {
  const { code, severity } = mistake;
  const without = (): Graph => withNode(withAt(node, field, undefined));
  const label = FIELD_CODES[code];
  if (label !== undefined) return { label, graph: without() };
  switch (code) {
    case 'gate_too_few_approvers':
      return severity === 'error' && field.endsWith('required')
        ? { label: text.requireOne, graph: without() }
        : undefined;
    case 'unknown_key':
      return field.includes('[')
        ? undefined
        : { label: text.removeParameter(field), graph: without() };
    case 'unknown_param': {
      const name = field.slice('params.'.length);
      const { [name]: _, ...others } = isRecord(node['params']) ? node['params'] : {};
      return { label: text.removeParameter(name), graph: withNode({ ...node, params: others }) };
    }
    case 'key_not_set':
      return fixOfReference(mistake, { node, field, withNode });
    default:
      return undefined;
  }
}

/** The key that the check suggests. */
const MEANT = /; did you mean '([^']+)'\?$/;

/** A misspelled key is replaced; in a template, a reference to a key that nothing sets can go. */
function fixOfReference(
  { message, position }: Mistake,
  { node, field, withNode }: Place,
): Fix | undefined {
  const given = valueAt(node, field);
  if (typeof given !== 'string' || position === undefined) return undefined;
  const replaced = (from: number, to: number, by: string): Graph =>
    withNode(withAt(node, field, given.slice(0, from) + by + given.slice(to)));
  const meant = MEANT.exec(message)?.[1];
  const key = /^[\p{L}_$][\p{L}\p{N}_$]*/u.exec(given.slice(position))?.[0] ?? '';
  if (meant !== undefined && key !== '') {
    return { label: text.use(meant), graph: replaced(position, position + key.length, meant) };
  }
  const end = given.indexOf('}', position);
  if (given[position - 1] !== '{' || end === -1) return undefined;
  return {
    label: text.removeReference(given.slice(position - 1, end + 1)),
    graph: replaced(position - 1, end + 1, ''),
  };
}
