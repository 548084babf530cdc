import { metricsOverviewSchema, usageSchema } from '../../../shared/contract/usage.ts';
import { readOverview, readUsage } from '../../../shared/db/usage.ts';
import { answers } from '../../answers.ts';
import type { App, RouteContext } from '../../deps.ts';

const tags = ['Workspace'];

export function usageRoutes(app: App, { db }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/usage',
    schema: {
      tags,
      operationId: 'getUsage',
      summary: 'Read what was used of the plan this month',
      response: answers({ 200: usageSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => readUsage(db, { workspaceId: request.actor.workspaceId }),
  });

  app.route({
    method: 'GET',
    url: '/api/metrics/overview',
    schema: {
      tags,
      operationId: 'getMetricsOverview',
      summary: 'Read how the runs went, in all and by day',
      response: answers({ 200: metricsOverviewSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => readOverview(db, { workspaceId: request.actor.workspaceId }),
  });
}
