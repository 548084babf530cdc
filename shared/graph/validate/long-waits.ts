import type { Graph, GraphIssue, GraphNode } from '#shared/contract/workflows/graph.ts';
import { parseSeconds } from '#shared/tools.ts';

const DAY_SECONDS = 86_400;

/** A warning for each wait whose time is known to be longer than runs are kept; null: they are kept without a limit. */
export function longWaits({ nodes }: Graph, keptDays: number | null): GraphIssue[] {
  if (keptDays === null) return [];
  return nodes.flatMap((node, at) => {
    const [field, seconds] = longestOf(node);
    if (seconds <= keptDays * DAY_SECONDS) return [];
    return [
      {
        code: 'wait_longer_than_kept',
        message: `Node '${node.id}': it can wait ${Math.ceil(seconds / DAY_SECONDS)} days, but the plan keeps runs for ${keptDays} days and then cancels them: wait for less time, or use another plan`,
        node_id: node.id,
        path: `nodes[${at}].${field}`,
      },
    ];
  });
}

/** The field that says how long a node waits, and its seconds; 0 where they are not known before the run. */
function longestOf(node: GraphNode): [field: string, seconds: number] {
  if (node.kind !== 'wait') return ['', 0];
  if (node.timeout_seconds !== undefined) return ['timeout_seconds', node.timeout_seconds];
  const parsed = parseSeconds(node.seconds);
  return ['seconds', 'error' in parsed ? 0 : parsed.seconds];
}
