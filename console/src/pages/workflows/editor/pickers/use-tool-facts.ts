import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { workflowsQuery } from '#console/src/queries/workflows.ts';
import { toolsQuery } from '#console/src/queries/workspace.ts';
import { toolFacts, type ToolFacts } from './tool-facts.ts';

const NONE: readonly never[] = [];

/** What is known about the tools of the workspace. */
export function useToolFacts(): (tool: string) => ToolFacts {
  const custom = useQuery(toolsQuery).data ?? NONE;
  const workflows = useQuery(workflowsQuery).data ?? NONE;
  return useMemo(() => (tool) => toolFacts(tool, custom, workflows), [custom, workflows]);
}
