import type { GraphReport } from '../contract/graph.ts';
import type { Db } from '../db/pool.ts';
import { readWorkflow, type WorkflowScope } from '../db/workflows.ts';
import { checkGraph } from '../graph-check.ts';
import type { Json } from '../json.ts';
import { builtinTools } from '../tools.ts';

const noCustomTools: ReadonlySet<string> = new Set();

/** Every error and warning of the graph that is saved. Throws AppError `not_found`. */
export async function validateWorkflow(db: Db, scope: WorkflowScope): Promise<GraphReport> {
  const { graph } = await readWorkflow(db, scope);
  const { valid, errors, warnings } = checkGraph(graph as unknown as Json, {
    tools: builtinTools,
    customTools: noCustomTools,
  });
  return { valid, errors, warnings };
}
