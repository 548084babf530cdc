import type { Graph, GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Issues } from '#shared/graph/issues.ts';
import type { Links } from '#shared/graph/topology.ts';
import { customToolName, onlyReads } from '#shared/tools.ts';

/** Warns about a gate with `recheck` that no read leads to. */
export function checkRecheck(issues: Issues, links: Links, { nodes }: Graph, at: number): void {
  const node = nodes[at]!;
  if (node.kind !== 'human_gate' || (node.recheck ?? false) === false) return;
  if (before(links, at).some((each) => mayOnlyRead(nodes[each]!))) return;
  const message = `Node '${node.id}': recheck repeats nothing, because no step before the gate only reads: remove it, or read with http_request (GET), entity_search or feed_list`;
  issues.warning('gate_rechecks_nothing', message, {
    node_id: node.id,
    path: `nodes[${at}].recheck`,
  });
}

/** Whether a registered tool only reads is not known here. */
const mayOnlyRead = (node: GraphNode): boolean =>
  node.kind === 'tool' &&
  (customToolName(node.tool_name) !== undefined ||
    onlyReads(node.tool_name, node.params['method']));

/** The nodes that lead to a node. */
function before(links: Links, at: number): number[] {
  const seen = new Set<number>();
  const open = [at];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const { from } of links.in[next]!) {
      if (seen.has(from)) continue;
      seen.add(from);
      open.push(from);
    }
  }
  return [...seen];
}
