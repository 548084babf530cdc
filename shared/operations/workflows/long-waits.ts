import type { Graph, GraphIssue } from '#shared/contract/workflows/graph.ts';
import { readPlan } from '#shared/db/people/workspaces.ts';
import type { Db } from '#shared/db/pool.ts';
import { longWaits } from '#shared/graph/validate/long-waits.ts';
import { plans } from '#shared/people/plans.ts';

/** Warnings about waits that are longer than the workspace's plan keeps runs. */
export async function longWaitsOf(
  db: Db,
  workspaceId: string,
  graph: Graph | undefined,
): Promise<GraphIssue[]> {
  if (graph?.nodes.some(({ kind }) => kind === 'wait') !== true) return [];
  return longWaits(graph, plans[await readPlan(db, workspaceId)].runsKeptDays);
}
