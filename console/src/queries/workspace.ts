import { queryOptions } from '@tanstack/react-query';
import { api } from '#console/src/api.ts';
import { tagged } from './tagged.ts';

export const workspaceQuery = queryOptions({
  queryKey: ['workspace'],
  queryFn: ({ signal }) => api().getWorkspace({ signal }),
});

export const usageQuery = queryOptions({
  queryKey: ['usage'],
  queryFn: ({ signal }) => api().getUsage({ signal }),
});

export const metricsQuery = queryOptions({
  queryKey: ['metrics'],
  queryFn: ({ signal }) => api().getMetricsOverview({ signal }),
});

export const alertsKey = ['alerts'] as const;

/** What the workspace sends alerts for, and where they go. */
export const alertsQuery = queryOptions({
  queryKey: alertsKey,
  queryFn: ({ signal }) => api().getAlerts({ signal }),
});

export const secretsKey = ['secrets'] as const;

/** The secrets of the workspace, by name. Their values are not readable. */
export const secretsQuery = queryOptions({
  queryKey: secretsKey,
  queryFn: ({ signal }) => api().listSecrets({}, { signal }),
});

export const connectionsKey = ['connections'] as const;

/** The connections to other services, by name, with the status of the reader's own accounts. */
export const connectionsQuery = queryOptions({
  queryKey: connectionsKey,
  queryFn: ({ signal }) => api().listConnections({}, { signal }),
});

/** Well-known services to connect to. They only change with the version. */
export const connectionPresetsQuery = queryOptions({
  queryKey: ['connection-presets'],
  queryFn: ({ signal }) => api().listConnectionPresets({}, { signal }),
  staleTime: Infinity,
});

export const toolsKey = ['tools'] as const;

/** The custom tools of the workspace. */
export const toolsQuery = queryOptions({
  queryKey: toolsKey,
  queryFn: ({ signal }) => api().listTools({}, { signal }),
});

export const pricesKey = ['prices'] as const;

/** The workspace's own model prices, which override the built-in ones. */
export const pricesQuery = queryOptions({
  queryKey: pricesKey,
  queryFn: async ({ signal }) => tagged(await api().getPrices({ signal })),
});

export const keysKey = ['keys'] as const;

/** API keys, newest first, including revoked ones. */
export const keysQuery = queryOptions({
  queryKey: keysKey,
  queryFn: ({ signal }) => api().listApiKeys({}, { signal }),
});

export const templatesQuery = queryOptions({
  queryKey: ['templates'],
  queryFn: ({ signal }) => api().listTemplates({ signal }),
});

/** Runs and cost of the last `days` days by workflow, model and day. */
export const breakdownQuery = (days: number) =>
  queryOptions({
    queryKey: ['usage', 'breakdown', days],
    queryFn: ({ signal }) => api().getUsageBreakdown({ days }, { signal }),
  });

export const webhooksKey = ['webhooks'] as const;

export const webhookQuery = (workflowId: string) =>
  queryOptions({
    queryKey: [...webhooksKey, workflowId],
    queryFn: ({ signal }) => api().getWebhook(workflowId, { signal }),
  });

/** The saved views of the list of runs. */
export const runViewsQuery = queryOptions({
  queryKey: ['run-views'],
  queryFn: ({ signal }) => api().listRunViews({ signal }),
});
