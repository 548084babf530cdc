import { pageQuery } from '../../../shared/contract/common.ts';
import { approvalListSchema } from '../../../shared/contract/run.ts';
import { listApprovals } from '../../../shared/db/runs/runs.ts';
import { answers } from '../../http/responses.ts';
import { shownGate } from '../../identity/shown-gates.ts';
import type { App, RouteContext } from '../../deps.ts';

export function approvalRoutes(app: App, { db }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/approvals',
    schema: {
      tags: ['Runs'],
      operationId: 'listApprovals',
      summary: 'List open gates, oldest first',
      querystring: pageQuery,
      response: answers({ 200: approvalListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => {
      const page = await listApprovals(db, { workspaceId: actor.workspaceId, ...query });
      return { ...page, approvals: page.approvals.map((gate) => shownGate(actor, gate)) };
    },
  });
}
