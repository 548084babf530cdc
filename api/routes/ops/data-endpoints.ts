import { z } from 'zod';
import { emptyBody, offsetQuery } from '../../../shared/contract/common.ts';
import {
  dataDeliveryQuery,
  dataEndpointInput,
  dataEndpointSchema,
  deliveryListSchema,
  deliverySchema,
  endpointUpdate,
  newDataEndpointSchema,
  redeliveredSchema,
  redeliverInput,
  rotatedSecretSchema,
} from '../../../shared/contract/data/outbound.ts';
import {
  pingEndpoint,
  readDeliveryOf,
  redeliver,
  redeliverDead,
} from '../../../shared/db/deliveries/deliveries.ts';
import {
  deleteEndpoint,
  listEndpoints,
  readEndpoint,
} from '../../../shared/db/deliveries/endpoints.ts';
import {
  changeEndpoint,
  registerEndpoint,
  rotateEndpointSecret,
} from '../../../shared/operations/data/endpoints.ts';
import { answers, deliveryParams, endpointParams, nothing } from '../../http/responses.ts';
import { deliveryPage } from '../../data/delivery-page.ts';
import type { App, RouteContext } from '../../deps.ts';

const tags = ['Data'];

/** The endpoints of `/v1/webhooks` and their deliveries, for members, who see those of both modes. */
export function dataEndpointRoutes(app: App, context: RouteContext): void {
  readEndpoints(app, context);
  createAndChange(app, context);
  deleteAndRotate(app, context);
  readDeliveries(app, context);
  deliver(app, context);
}

function readEndpoints(app: App, { db }: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/data/endpoints',
    schema: {
      tags,
      operationId: 'listEndpoints',
      summary: 'List webhook endpoints of the data API, newest first',
      querystring: offsetQuery,
      response: answers({ 200: z.array(dataEndpointSchema) }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, query }) => [...(await listEndpoints(db, actor, query))],
  });

  app.route({
    method: 'GET',
    url: '/api/data/endpoints/:id',
    schema: {
      tags,
      operationId: 'getEndpoint',
      summary: 'Read a webhook endpoint',
      params: endpointParams,
      response: answers({ 200: dataEndpointSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params }) => readEndpoint(db, actor, params.id),
  });
}

function createAndChange(app: App, context: RouteContext): void {
  app.route({
    method: 'POST',
    url: '/api/data/endpoints',
    schema: {
      tags,
      operationId: 'createEndpoint',
      summary: 'Register a webhook endpoint',
      description:
        'Returns the secret that signs deliveries, only this once. At most 50 endpoints for live records, and 50' +
        'for demo records.',
      body: dataEndpointInput,
      response: answers({ 201: newDataEndpointSchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace', headers: ['Location'] },
    handler: async ({ actor, body }, reply) => {
      const endpoint = await registerEndpoint(context, actor, body);
      const location = `/api/data/endpoints/${endpoint.id}`;
      return reply.code(201).header('location', location).send(endpoint);
    },
  });

  app.route({
    method: 'PUT',
    url: '/api/data/endpoints/:id',
    schema: {
      tags,
      operationId: 'updateEndpoint',
      summary: 'Change the address or the events of a webhook endpoint',
      description: 'Changes the fields in the body. Pending deliveries go to the new address.',
      params: endpointParams,
      body: endpointUpdate,
      response: answers({ 200: dataEndpointSchema }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params, body }) => changeEndpoint(context, actor, params.id, body),
  });
}

function deleteAndRotate(app: App, context: RouteContext): void {
  const { db } = context;

  app.route({
    method: 'DELETE',
    url: '/api/data/endpoints/:id',
    schema: {
      tags,
      operationId: 'deleteEndpoint',
      summary: 'Delete a webhook endpoint and its pending deliveries',
      params: endpointParams,
      response: answers({ 204: nothing }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params }, reply) => {
      await deleteEndpoint(db, actor, params.id);
      return reply.code(204).send();
    },
  });

  app.route({
    method: 'POST',
    url: '/api/data/endpoints/:id/rotate-secret',
    schema: {
      tags,
      operationId: 'rotateEndpointSecret',
      summary: 'Replace the secret of a webhook endpoint; the new one is shown this once',
      description: 'Deliveries are also signed with the previous secret for 24 hours.',
      params: endpointParams,
      body: emptyBody,
      response: answers({ 200: rotatedSecretSchema }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params }) => rotateEndpointSecret(context, actor, params.id),
  });
}

function readDeliveries(app: App, context: RouteContext): void {
  app.route({
    method: 'GET',
    url: '/api/data/endpoints/:id/deliveries',
    schema: {
      tags,
      operationId: 'listDeliveries',
      summary: 'List the deliveries of a webhook endpoint, newest first, each with its attempts',
      description: 'Kept for 30 days.',
      params: endpointParams,
      querystring: dataDeliveryQuery,
      response: answers({ 200: deliveryListSchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params, query }) => deliveryPage(context, actor, params.id, query),
  });

  app.route({
    method: 'GET',
    url: '/api/data/endpoints/:id/deliveries/:delivery_id',
    schema: {
      tags,
      operationId: 'getDelivery',
      summary: 'Read a delivery with its attempts',
      params: deliveryParams,
      response: answers({ 200: deliverySchema }),
    },
    config: { capability: 'view' },
    handler: async ({ actor, params: { id, delivery_id } }) =>
      readDeliveryOf(context.db, actor, { endpointId: id, deliveryId: delivery_id }),
  });
}

function deliver(app: App, { db }: RouteContext): void {
  app.route({
    method: 'POST',
    url: '/api/data/endpoints/:id/ping',
    schema: {
      tags,
      operationId: 'pingEndpoint',
      summary: 'Send a ping to a webhook endpoint',
      description: 'An event of the type `ping`, whether the endpoint subscribes to it or not.',
      params: endpointParams,
      body: emptyBody,
      response: answers({ 201: deliverySchema }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params }, reply) =>
      reply.code(201).send(await pingEndpoint(db, actor, params.id)),
  });

  app.route({
    method: 'POST',
    url: '/api/data/endpoints/:id/deliveries/:delivery_id/redeliver',
    schema: {
      tags,
      operationId: 'redeliverDelivery',
      summary: 'Redeliver one delivery',
      description:
        'A delivery that has ended, delivered or failed, starts again with all its attempts.',
      params: deliveryParams,
      body: emptyBody,
      response: answers({ 200: deliverySchema }, 'conflict'),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params: { id, delivery_id } }) =>
      redeliver(db, actor, { endpointId: id, deliveryId: delivery_id }),
  });

  app.route({
    method: 'POST',
    url: '/api/data/endpoints/:id/redeliver',
    schema: {
      tags,
      operationId: 'redeliverDeadLetters',
      summary: 'Redeliver dead letters, all or those of events since a time, oldest first',
      params: endpointParams,
      body: redeliverInput,
      response: answers({ 200: redeliveredSchema }),
    },
    config: { capability: 'manage_workspace' },
    handler: async ({ actor, params, body }) =>
      redeliverDead(db, actor, { endpointId: params.id, since: body?.since }),
  });
}
