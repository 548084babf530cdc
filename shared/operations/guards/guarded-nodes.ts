import type { Graph } from '#shared/contract/workflows/graph.ts';
import type { Db } from '#shared/db/pool.ts';
import { readCalledGraphs } from '#shared/db/children/called-workflows.ts';
import { calledBy } from '#shared/graph/children/called-workflows.ts';
import { guardedNodesUntrusted } from '#shared/platform/threads/untrusted.ts';
import { type Candidate, compareWithCurrent } from './weakened-writes.ts';

/**
 * The gates and approvals before the nodes of a graph and of the present versions of the workflows it calls; see
 * `guardedNodes`. `above` is the guard before all of them. Throws AppError `invalid` when it takes too long,
 * WorkBusyError.
 */
export async function guardedNodesOf(
  db: Db,
  { workspaceId, graph, above }: { workspaceId: string; graph: Graph; above?: string | undefined },
): Promise<Record<string, string>> {
  const children = await readCalledGraphs(db, workspaceId, graph.nodes.flatMap(calledBy));
  return guardedNodesUntrusted(workspaceId, { graph, children, above });
}

/**
 * Like `guardedNodesOf`, for a version or draft of a workflow: includes guards that only the current version has before
 * a node.
 */
export async function guardedNodesOfChosen(
  db: Db,
  chosen: Candidate,
): Promise<Record<string, string>> {
  const guarded = await guardedNodesOf(db, chosen);
  const compared = await compareWithCurrent(db, chosen);
  for (const { nodeId, guard } of compared?.less ?? []) {
    guarded[nodeId] ??= `in the current version, ${guard}`;
  }
  return guarded;
}
