import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';

export const webhooksKey = ['webhooks'] as const;

export const webhookQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...webhooksKey, workflowId],
    queryFn: ({ signal }) => api().getWebhook(workflowId, { signal }),
  });
