import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { runsKey } from './runs.ts';
import { workflowsKey } from './workflows.ts';

const SHOWN_RUNS = 20;

/** The newest runs whose state a node can be tested with. */
export const testRunsQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...runsKey, 'of-workflow', workflowId],
    queryFn: async ({ signal }) => {
      const filter = { mode: 'live', limit: SHOWN_RUNS } as const;
      return (await api().listWorkflowRuns(workflowId, filter, { signal })).runs;
    },
  });

export const pinsKey = (workflowId: string) => [...workflowsKey, 'pins', workflowId] as const;

/** The member's pin of a node, with its output; null without one. */
export const pinQuery = (workflowId: string, nodeId: string) =>
  queryOptions({
    queryKey: [...pinsKey(workflowId), nodeId],
    queryFn: async ({ signal }) => (await api().findPin(workflowId, nodeId, { signal })) ?? null,
  });

/** The member's pinned outputs of a workflow. */
export const pinsQuery = (workflowId: string) =>
  queryOptions({
    queryKey: pinsKey(workflowId),
    queryFn: ({ signal }) => api().listPins(workflowId, { signal }),
  });
