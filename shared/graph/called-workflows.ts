import type { GraphNode } from '../contract/graph.ts';
import type { Json } from '../json.ts';
import { isObject } from './json-value.ts';

/** A workflow as a node names it. */
export interface CalledWorkflow {
  /** Id or exact name. */
  workflow: string;
  /** Undefined: the current one. */
  version?: number | undefined;
}

/** Why a call cannot work, by `callKey`. Plain data, since checks can run on another thread. */
export type CallProblems = Record<
  string,
  { code: 'workflow_unknown' | 'workflow_cycle'; message: string }
>;

export const callKey = ({ workflow, version }: CalledWorkflow): string =>
  JSON.stringify([workflow, version ?? null]);

/** The workflows that a node calls. */
export const calledBy = (node: GraphNode): CalledWorkflow[] =>
  node.kind === 'workflow' ? [node] : [];

/** Whether a graph, as drawn, may call workflows. */
export function callsWorkflows(graph: Json): boolean {
  const nodes = isObject(graph) ? graph['nodes'] : undefined;
  return (
    Array.isArray(nodes) && nodes.some((node) => isObject(node) && node['kind'] === 'workflow')
  );
}
