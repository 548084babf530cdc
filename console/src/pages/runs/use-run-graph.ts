import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Graph, Run } from '#client/index.ts';
import { type Drawing, drawingOf } from '#console/src/graph/drawn.ts';
import { versionQuery } from '#console/src/queries/workflows.ts';

export interface RunGraph {
  /** Undefined until it was read. */
  graph: Graph | undefined;
  drawing: Drawing | undefined;
  error: Error | null;
  refetch: () => unknown;
}

/** The graph that a run executes: its own for a run of a draft, otherwise that of its version. */
export function useRunGraph(
  run: Pick<Run, 'workflow_id' | 'workflow_version' | 'graph'> | undefined,
): RunGraph {
  const own = run?.graph;
  const { data, error, refetch } = useQuery({
    ...versionQuery(run?.workflow_id ?? '', run?.workflow_version ?? 0),
    enabled: run !== undefined && own === undefined,
  });
  const graph = (own as Graph | undefined) ?? data?.graph;
  const drawing = useMemo(() => (graph === undefined ? undefined : drawingOf(graph)), [graph]);
  return { graph, drawing, error, refetch };
}
