import { openWaitPage, waitQuery } from '#shared/contract/waits/open-wait.ts';
import { listOpenWaits } from '#shared/db/waits/list.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { responses } from '#api/http/responses.ts';

export function waitRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/waits', {
    schema: {
      operationId: 'listWaits',
      summary: 'List what open runs wait for, newest first',
      querystring: waitQuery,
      response: responses({ 200: openWaitPage }),
    },
    config: { capability: 'view' },
    handler: ({ actor, query }) => listOpenWaits(db, actor, query),
  });
}
