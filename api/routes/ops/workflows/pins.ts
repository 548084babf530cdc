import {
  pinBody,
  pinListSchema,
  pinSchema,
  pinsQuery,
} from '#shared/contract/workflows/node-test.ts';
import { findPin, listPins, removePin } from '#shared/db/workflows/pins.ts';
import { pinOutput } from '#shared/operations/workflows/pin-output.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { idParams, nodeParams, nothing, responses } from '#api/http/responses.ts';

/** Outputs that members pin from past runs, for tests of nodes. */
export function pinRoutes(app: App, { db }: RouteContext): void {
  app.get('/api/workflows/:id/pins', {
    schema: {
      operationId: 'listPins',
      summary: 'List your pinned outputs of a workflow',
      description: 'At most 100, by node. Each member has their own.',
      params: idParams,
      querystring: pinsQuery,
      response: responses({ 200: pinListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params, query }) => ({
      pins:
        query.node_id === undefined
          ? await listPins(db, actor, params.id)
          : await findPin(db, actor, params.id, query.node_id),
    }),
  });

  app.put('/api/workflows/:id/pins/:node_id', {
    schema: {
      operationId: 'savePin',
      summary: 'Pin the output of a node from a past run',
      description:
        'Keeps a copy of the output, or the given `output`, for your node tests with `pins`, instead of the one pinned before. Runs do not use it.',
      params: nodeParams,
      body: pinBody,
      response: responses({ 200: pinSchema }, 'conflict', 'unprocessable'),
    },
    config: { capability: 'run_workflows' },
    handler: async ({ actor, params, body }) => {
      const place = { runId: body.run_id, nodeId: params.node_id, stepKey: body.step_key };
      return pinOutput(db, actor, params.id, place, body.output);
    },
  });

  app.delete('/api/workflows/:id/pins/:node_id', {
    schema: {
      operationId: 'removePin',
      summary: 'Remove your pinned output of a node',
      params: nodeParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'run_workflows' },
    handler: async ({ actor, params }, reply) => {
      await removePin(db, actor, params.id, params.node_id);
      return reply.code(204).send();
    },
  });
}
