import { z } from 'zod';
import { emptyBody, offsetQuery } from '#shared/contract/common.ts';
import {
  dataDeliveryQuery,
  dataEndpointInput,
  dataEndpointSchema,
  deliveryListSchema,
  deliverySchema,
  endpointEventListSchema,
  endpointEventQuery,
  endpointUpdate,
  newDataEndpointSchema,
  redeliveredSchema,
  redeliverInput,
  rotatedSecretSchema,
} from '#shared/contract/data/outbound.ts';
import {
  pingEndpoint,
  readDeliveryOf,
  redeliver,
  redeliverRange,
} from '#shared/db/webhooks/deliveries.ts';
import { deleteEndpoint, listEndpoints, readEndpoint } from '#shared/db/webhooks/endpoints.ts';
import {
  changeEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
} from '#shared/operations/webhooks/endpoints.ts';
import { deliveryParams, idParams, nothing, responses } from '#api/http/responses.ts';
import { deliveryPage, eventPage } from '#api/data/delivery-page.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { type EditedRecord, idOf } from '#api/http/conditional.ts';
import type { App, RouteContext } from '#api/deps.ts';

const record: EditedRecord = {
  noun: 'endpoint',
  schema: dataEndpointSchema,
  read: (db, { actor, params }) => readEndpoint(db, actor, idOf(params)),
};

/** Webhook endpoints and their deliveries, for members, who also see those of keys. */
export function memberEndpointRoutes(app: App, context: RouteContext): void {
  const { db } = context;

  app.get('/api/webhooks', {
    schema: {
      operationId: 'listWebhookEndpoints',
      summary: 'List webhook endpoints, newest first',
      querystring: offsetQuery,
      response: responses({ 200: z.array(dataEndpointSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => [...(await listEndpoints(db, actor, query))],
  });

  app.get('/api/webhooks/:id', {
    schema: {
      operationId: 'getWebhookEndpoint',
      summary: 'Read a webhook endpoint',
      params: idParams,
      response: responses({ 200: dataEndpointSchema }),
    },
    config: { capability: 'view', record },
    handler: async ({ actor, params }) => readEndpoint(db, actor, params.id),
  });

  app.post('/api/webhooks', {
    schema: {
      operationId: 'createWebhookEndpoint',
      summary: 'Register a webhook endpoint',
      description:
        'Returns the secret that signs deliveries, only this once. At most 50 endpoints for live records, and 50 ' +
        'for demo records. Keys of the data API do not see an endpoint that subscribes to events of runs.',
      body: dataEndpointInput,
      response: responses({ 201: newDataEndpointSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', idempotent: true, headers: ['Location'] },
    handler: async (request, reply) => {
      const { actor, body } = request;
      const endpoint = await answerOnce(context, request, reply, async (tx) => ({
        answer: await registerEndpoint({ ...context, db: tx }, actor, body),
      }));
      const location = `/api/webhooks/${endpoint.id}`;
      return reply.code(201).header('location', location).send(endpoint);
    },
  });

  app.put('/api/webhooks/:id', {
    schema: {
      operationId: 'updateWebhookEndpoint',
      summary: 'Change the address or the events of a webhook endpoint',
      description: 'Changes the fields in the body. Pending deliveries go to the new address.',
      params: idParams,
      body: endpointUpdate,
      response: responses({ 200: dataEndpointSchema }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params, body }) =>
      changeEndpoint({ ...context, db: writes }, actor, params.id, body),
  });

  app.delete('/api/webhooks/:id', {
    schema: {
      operationId: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint and its pending deliveries',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { capability: 'manage_workspace', record },
    handler: async ({ writes, actor, params }, reply) => {
      await deleteEndpoint(writes, actor, params.id);
      return reply.code(204).send();
    },
  });

  app.post('/api/webhooks/:id/rotate-secret', {
    schema: {
      operationId: 'rotateWebhookEndpointSecret',
      summary: 'Replace the secret of a webhook endpoint; the new one is shown this once',
      description: 'Deliveries are also signed with the previous secret for 24 hours.',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: rotatedSecretSchema }),
    },
    config: { capability: 'manage_workspace', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const { actor, params } = request;
        return { answer: await rotateEndpointSecret({ ...context, db: tx }, actor, params.id) };
      }),
  });

  deliveryRoutes(app, context);
}

function deliveryRoutes(app: App, context: RouteContext): void {
  app.get('/api/webhooks/:id/deliveries', {
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook endpoint, newest first, each with its attempts',
      description: 'Kept for 30 days.',
      params: idParams,
      querystring: dataDeliveryQuery,
      response: responses({ 200: deliveryListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params, query }) => deliveryPage(context, actor, params.id, query),
  });

  app.get('/api/webhooks/:id/deliveries/:delivery_id', {
    schema: {
      operationId: 'getWebhookDelivery',
      summary: 'Read a delivery with its attempts',
      params: deliveryParams,
      response: responses({ 200: deliverySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params: { id, delivery_id } }) =>
      readDeliveryOf(context.db, actor, { endpointId: id, deliveryId: delivery_id }),
  });

  app.get('/api/webhooks/:id/events', {
    schema: {
      operationId: 'listWebhookEvents',
      summary: 'List the events of a webhook endpoint with their bodies, oldest first',
      description:
        'The `body` has the bytes that a delivery has, so a program can forward it with a signature of its own, as ' +
        '`ops listen` does. Times are those at which transactions began, so an event can appear behind later ones for ' +
        'some seconds. Kept for 30 days. A listener whose events are not read for 24 hours is deleted.',
      params: idParams,
      querystring: endpointEventQuery,
      response: responses({ 200: endpointEventListSchema }),
    },
    // Who can register an endpoint receives the same bodies.
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params, query }) => eventPage(context, actor, params.id, query),
  });

  app.post('/api/webhooks/:id/ping', {
    schema: {
      operationId: 'pingWebhookEndpoint',
      summary: 'Send a ping to a webhook endpoint',
      description: 'An event of the type `ping`, whether the endpoint subscribes to it or not.',
      params: idParams,
      body: emptyBody,
      response: responses({ 201: deliverySchema }),
    },
    config: { capability: 'manage_workspace', idempotent: true },
    handler: async (request, reply) => {
      const delivery = await answerOnce(context, request, reply, async (tx) => ({
        answer: await pingEndpoint(tx, request.actor, request.params.id),
      }));
      return reply.code(201).send(delivery);
    },
  });

  app.post('/api/webhooks/:id/deliveries/:delivery_id/redeliver', {
    schema: {
      operationId: 'redeliverWebhookDelivery',
      summary: 'Redeliver one delivery',
      description:
        'A delivery that has ended, delivered or failed, starts again with all its attempts.',
      params: deliveryParams,
      body: emptyBody,
      response: responses({ 200: deliverySchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const { id: endpointId, delivery_id: deliveryId } = request.params;
        return { answer: await redeliver(tx, request.actor, { endpointId, deliveryId }) };
      }),
  });

  app.post('/api/webhooks/:id/redeliver', {
    schema: {
      operationId: 'redeliverWebhookDeadLetters',
      summary: 'Redeliver dead letters, all or those of events of a range, oldest first',
      description: 'With `status` `all`, delivered ones, too.',
      params: idParams,
      body: redeliverInput,
      response: responses({ 200: redeliveredSchema }),
    },
    config: { capability: 'manage_workspace', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const { actor, params, body } = request;
        return { answer: await redeliverRange(tx, actor, params.id, body ?? undefined) };
      }),
  });
}
