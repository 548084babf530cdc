import {
  runViewBody,
  runViewListSchema,
  runViewParams,
  runViewSchema,
} from '#shared/contract/runs/run-view.ts';
import { listRunViews, removeRunView, saveRunView } from '#shared/db/runs/run-views.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { responses, nothing } from '#api/http/responses.ts';

/** Filters of the list of runs, saved under a name. */
export function runViewRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/run-views', {
    schema: {
      operationId: 'listRunViews',
      summary: 'List your saved views of the list of runs',
      description: 'At most 50, by name. Each member has their own.',
      response: responses({ 200: runViewListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor }) => ({ views: await listRunViews(db, actor) }),
  });

  app.put('/api/run-views/:name', {
    schema: {
      operationId: 'saveRunView',
      summary: 'Save filters of the list of runs under a name',
      description:
        'Instead of your view with this name. A link to the list shows the same to others.',
      params: runViewParams,
      body: runViewBody,
      response: responses({ 200: runViewSchema }, 'conflict'),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params: { name }, body: { filter } }) =>
      saveRunView(db, actor, { name, filter }),
  });

  app.delete('/api/run-views/:name', {
    schema: {
      operationId: 'removeRunView',
      summary: 'Remove a saved view',
      params: runViewParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params: { name } }, reply) => {
      await removeRunView(db, actor, name);
      return reply.code(204).send();
    },
  });
}
