import type { Tx } from '../db/pool.ts';
import type { Graph } from '../contract/graph.ts';
import { AppError } from '../errors.ts';
import { checkGraph } from '../graph-check.ts';
import { builtinTools } from '../tools.ts';

/** How many reasons a refusal spells out. All of them are in the answer of `validate`. */
const MAX_REASONS = 5;

const noCustomTools: ReadonlySet<string> = new Set();

/** Versions never change, so a checked one stays checked; the oldest is forgotten first. */
const MAX_REMEMBERED = 200;
const remembered = new Map<string, Graph>();

/**
 * The graph as it will run, with defaults filled in. Throws AppError `graph_invalid` with the reasons when it
 * cannot run in this workspace.
 */
export async function checkRunnable(
  _tx: Tx,
  workflow: { workflowId: string; version: number; graph: unknown },
): Promise<Graph> {
  const key = `${workflow.workflowId}@${workflow.version}`;
  const known = remembered.get(key);
  if (known !== undefined) return known;
  const graph = requireValid(workflow.graph);
  remembered.set(key, graph);
  const oldest = remembered.keys().next();
  if (remembered.size > MAX_REMEMBERED && oldest.done !== true) remembered.delete(oldest.value);
  return graph;
}

function requireValid(graph: unknown): Graph {
  const report = checkGraph(graph, { tools: builtinTools, customTools: noCustomTools });
  if (report.graph !== undefined && report.valid) return report.graph;
  const reasons = report.errors.slice(0, MAX_REASONS).map((issue) => issue.message);
  const more = report.errors.length - reasons.length;
  throw new AppError(
    'graph_invalid',
    `Workflow graph invalid: ${reasons.join('; ')}${more > 0 ? `; and ${more} more` : ''}`,
  );
}
