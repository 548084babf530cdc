import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { tagged } from './tagged.ts';

export const queuesKey = ['queues'] as const;
export const limitsKey = ['limits'] as const;

const READ_EVERY_MS = 5_000;

/** Who holds the slots of the limits, and who waits. */
export const queuesQuery = (workflowId: string | undefined) =>
  queryOptions({
    queryKey: [...queuesKey, workflowId],
    queryFn: ({ signal }) => api().listQueues({ workflow_id: workflowId }, { signal }),
    refetchInterval: READ_EVERY_MS,
  });

export const limitsQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...limitsKey, workflowId],
    queryFn: async ({ signal }) => tagged(await api().getLimits(workflowId, { signal })),
  });
