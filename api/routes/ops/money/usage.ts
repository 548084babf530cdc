import {
  breakdownQuery,
  metricsOverviewSchema,
  type UsageBreakdown,
  usageBreakdownSchema,
  usageSchema,
} from '#shared/contract/money/usage.ts';
import { readOverview, readUsage } from '#shared/db/money/usage.ts';
import { readUsageBreakdown } from '#shared/db/money/usage-breakdown.ts';
import { responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { createCoalescedReads } from '#api/load/coalesced-reads.ts';

export function usageRoutes(app: App, { db }: RouteContext): void {
  // This reads as many rows as there are runs, so concurrent requests share one read.
  const breakdowns = createCoalescedReads<UsageBreakdown>();

  app.get('/api/usage', {
    schema: {
      operationId: 'getUsage',
      summary: 'Read the use of the plan this month',
      response: responses({ 200: usageSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => readUsage(db, { workspaceId: request.actor.workspaceId }),
  });

  app.get('/api/usage/breakdown', {
    schema: {
      operationId: 'getUsageBreakdown',
      summary: 'Read the cost of runs, by workflow, by model and by day',
      querystring: breakdownQuery,
      response: responses({ 200: usageBreakdownSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor: { workspaceId }, query: { days } }) =>
      breakdowns.get(`${workspaceId} ${days}`, () => readUsageBreakdown(db, { workspaceId, days })),
  });

  app.get('/api/metrics/overview', {
    schema: {
      operationId: 'getMetricsOverview',
      summary: 'Read the results of runs, in total and by day',
      response: responses({ 200: metricsOverviewSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => readOverview(db, { workspaceId: request.actor.workspaceId }),
  });
}
