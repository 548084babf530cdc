import type { GraphReport } from '../contract/graph.ts';
import { readCurrentGraph } from '../db/current-graph.ts';
import type { Db } from '../db/pool.ts';
import type { WorkflowScope } from '../db/workflows.ts';
import { notFound } from '../errors.ts';
import { checkGraphUntrusted } from '../platform/untrusted.ts';
import { builtinTools } from '../tools.ts';

/** Every error and warning of the graph that is saved. Throws AppError `not_found`. */
export async function validateWorkflow(db: Db, scope: WorkflowScope): Promise<GraphReport> {
  const current = await readCurrentGraph(db, scope);
  if (current === undefined) throw notFound('Workflow');
  const { valid, errors, warnings } = await checkGraphUntrusted(scope.workspaceId, current.graph, {
    tools: builtinTools,
    customTools: current.customTools,
  });
  return { valid, errors, warnings };
}
