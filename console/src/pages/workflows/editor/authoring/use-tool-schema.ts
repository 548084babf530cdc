import { useQuery } from '@tanstack/react-query';
import type { JsonObject } from '#client/index.ts';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { useEvaluator } from './use-node-scope.ts';

/** The schema of a tool's parameters; undefined if it has none, is unknown or is still loading. */
export function useToolSchema(tool: string): JsonObject | undefined {
  const evaluator = useEvaluator();
  const { data: custom } = useQuery(toolsQuery);
  return evaluator?.schemaOfTool(tool, custom ?? []);
}
