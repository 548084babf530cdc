import { z } from 'zod';
import { queueListQuery, queueSchema } from '#shared/contract/limits/queue.ts';
import { listQueues } from '#shared/db/limits/queue-list.ts';
import { limitsInput, limitsSchema } from '#shared/contract/limits/limits.ts';
import { setLimits, shownLimits } from '#shared/operations/limits/limits.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import { idParams, responses } from '#api/http/responses.ts';

const record: EditedRecord = {
  noun: 'workflow',
  schema: limitsSchema,
  read: (db, { actor, params }) =>
    shownLimits(db, { workspaceId: actor.workspaceId, workflowId: idOf(params) }),
};

export function limitRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/workflows/:id/limits', {
    schema: {
      operationId: 'getLimits',
      summary: 'Read the limits of a workflow',
      params: idParams,
      response: responses({ 200: limitsSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) =>
      shownLimits(db, { workspaceId: actor.workspaceId, workflowId: params.id }),
  });

  app.put('/api/workflows/:id/limits', {
    schema: {
      operationId: 'setLimits',
      summary: 'Replace the limits of a workflow',
      description:
        'They count for all versions and drafts, and for whatever starts a run: callers, webhooks, schedules, events, ' +
        'other workflows, reruns and forks. Rehearsals, tests of nodes and experiments have no limits. Runs in flight ' +
        'keep their slots, and queued ones their place; with a higher limit, the next ones start.',
      params: idParams,
      body: limitsInput,
      response: responses({ 200: limitsSchema }),
    },
    config: { capability: 'create_edit_workflows', record },
    handler: async ({ writes, actor, params, body }) => {
      await setLimits(writes, actor, params.id, body);
      return shownLimits(db, { workspaceId: actor.workspaceId, workflowId: params.id });
    },
  });

  app.get('/api/queues', {
    schema: {
      operationId: 'listQueues',
      summary: 'List who holds the slots of the limits, and who waits',
      querystring: queueListQuery,
      response: responses({ 200: z.array(queueSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => [
      ...(await listQueues(db, { workspaceId: actor.workspaceId, ...query })),
    ],
  });
}
