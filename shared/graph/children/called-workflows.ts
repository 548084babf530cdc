import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { Json } from '#shared/json.ts';
import { workflowOf } from '#shared/tools.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { agentToolsOf, offeredNamesOf } from '#shared/graph/node-tools.ts';

/** A workflow as a node, or a tool of an agent, refers to it. */
export interface CalledWorkflow {
  /** Id or exact name. */
  workflow: string;
  /** Undefined: the current version. */
  version?: number | undefined;
}

/** Why a call cannot work, by `callKey`. Plain data, since checks can run on another thread. */
export type CallProblems = Record<
  string,
  { code: 'workflow_unknown' | 'workflow_cycle'; message: string }
>;

export const callKey = ({ workflow, version }: CalledWorkflow): string =>
  JSON.stringify([workflow, version ?? null]);

/** The workflows that a node calls, and those that its model can call, each with its path in the node. */
export function calledBy(node: GraphNode): (CalledWorkflow & { path: string })[] {
  if (node.kind === 'workflow') return [{ ...node, path: 'workflow' }];
  if (node.kind !== 'agent') return [];
  return agentToolsOf(node).flatMap(({ name }, at) => {
    const workflow = workflowOf(name);
    return workflow === undefined ? [] : [{ workflow, path: `tools[${at}]` }];
  });
}

/** The workflows that a saved graph calls. A draft can have any JSON in place of a node. */
export function calledIn(graph: Json): CalledWorkflow[] {
  const nodes = isObject(graph) ? graph['nodes'] : undefined;
  return Array.isArray(nodes) ? nodes.flatMap(calledByDrawn) : [];
}

function calledByDrawn(node: Json): CalledWorkflow[] {
  if (!isObject(node)) return [];
  const { kind, workflow, version } = node;
  if (kind === 'workflow' && typeof workflow === 'string') {
    return [{ workflow, version: drawnVersion(version) }];
  }
  return kind === 'agent' ? offeredWorkflowsOf(node).map((name) => ({ workflow: name })) : [];
}

/** The workflows that a saved node offers to its model, by id or name. */
export const offeredWorkflowsOf = (node: Parameters<typeof offeredNamesOf>[0]): string[] =>
  offeredNamesOf(node).flatMap((name) => workflowOf(name) ?? []);

/** A version as saved, a number or its text; undefined for anything else. */
export function drawnVersion(drawn: Json | undefined): number | undefined {
  const version = typeof drawn === 'string' ? Number(drawn) : drawn;
  const whole = typeof version === 'number' && Number.isSafeInteger(version);
  return whole && version > 0 && version < 2 ** 31 ? version : undefined;
}
