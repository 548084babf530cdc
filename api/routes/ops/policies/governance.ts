import {
  governanceEventListQuery,
  governanceEventListSchema,
} from '#shared/contract/policies/governance.ts';
import { listGovernanceEvents } from '#shared/db/policies/governance.ts';
import { responses } from '#api/http/responses.ts';
import type { App, RouteContext } from '#api/deps.ts';

export function governanceRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/governance/events', {
    schema: {
      operationId: 'listGovernanceEvents',
      summary: 'List decisions of policies, budgets and overrides, newest first',
      querystring: governanceEventListQuery,
      response: responses({ 200: governanceEventListSchema }),
    },
    config: { capability: 'view' },
    handler: async (request) => [
      ...(await listGovernanceEvents(db, request.actor.workspaceId, request.query)),
    ],
  });
}
