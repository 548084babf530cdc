import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '#client/index.ts';
import { workflowOf } from '#shared/tools.ts';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { useEvaluator } from './use-node-scope.ts';

/**
 * The schema of a tool's parameters, or of the input of a workflow as a tool; undefined if it has none, is unknown or is
 * still loading.
 */
export function useToolSchema(tool: string): JsonObject | undefined {
  const evaluator = useEvaluator();
  const { data: custom } = useQuery(toolsQuery);
  const { data: workflows } = useQuery(workflowsQuery);
  const reference = workflowOf(tool);
  if (reference === undefined) return evaluator?.schemaOfTool(tool, custom ?? []);
  const named = workflows?.find(({ id, name }) => id === reference || name === reference);
  return named?.input_schema ?? undefined;
}
