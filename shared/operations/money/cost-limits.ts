import { overridesOf } from '#shared/contract/money/price.ts';
import type { Graph, GraphIssue } from '#shared/contract/workflows/graph.ts';
import { readStepSettings } from '#shared/db/policies/policies.ts';
import { readRunLimits } from '#shared/db/money/run-limits.ts';
import type { Db } from '#shared/db/pool.ts';
import type { WorkflowScope } from '#shared/db/workflows/workflows.ts';
import { costWarnings } from '#shared/graph/validate/costs.ts';

/** Warnings about what a workflow's cap and budgets mean for the agents in a graph. */
export async function costWarningsOf(
  db: Db,
  scope: WorkflowScope,
  graph: Graph | undefined,
): Promise<GraphIssue[]> {
  if (graph?.nodes.some(({ kind }) => kind === 'agent') !== true) return [];
  const limits = await readRunLimits(db, scope);
  if (!limits.limited) return [];
  const { prices } = await readStepSettings(db, scope.workspaceId);
  return costWarnings(graph, { ...limits, prices: overridesOf(prices) });
}
