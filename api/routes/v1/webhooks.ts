import { z } from 'zod';
import { emptyBody } from '#shared/contract/common.ts';
import { dataPageQuery, envelopeOf } from '#shared/contract/data/envelope.ts';
import {
  deliveryPageQuery,
  deliverySchema,
  endpointInput,
  endpointSchema,
  newEndpointSchema,
  redeliveredSchema,
  redeliverInput,
  rotatedSecretSchema,
} from '#shared/contract/data/outbound.ts';
import { pingEndpoint, redeliver, redeliverRange } from '#shared/db/webhooks/deliveries.ts';
import {
  deleteEndpoint,
  type EndpointCaller,
  listEndpoints,
} from '#shared/db/webhooks/endpoints.ts';
import { registerEndpoint, rotateEndpointSecret } from '#shared/operations/webhooks/endpoints.ts';
import { deliveryParams, idParams, nothing, responses } from '#api/http/responses.ts';
import { answerOnce } from '#api/http/idempotency.ts';
import { answerData } from '#api/data/envelope.ts';
import { openPage, pageOfWhole } from '#api/data/page.ts';
import { deliveryPage } from '#api/data/delivery-page.ts';
import type { App, DataCall, RouteContext } from '#api/deps.ts';

/** Customers' endpoints that receive events, and their deliveries. */
export function endpointRoutes(app: App, context: RouteContext): void {
  const { db, dataCursors } = context;

  app.get('/v1/webhooks', {
    schema: {
      operationId: 'listWebhookEndpoints',
      summary: 'List webhook endpoints',
      description: 'Newest first.',
      querystring: dataPageQuery,
      response: responses({ 200: envelopeOf(z.array(endpointSchema)) }),
    },
    config: { scope: 'webhooks:read' },
    handler: async (request) => {
      const caller = ofKey(request.dataCall);
      const { page, next } = openPage(dataCursors, caller, 'webhooks', request.query);
      const { rows, end } = pageOfWhole(await listEndpoints(db, caller), page);
      return answerData(request, rows, next(end));
    },
  });

  app.post('/v1/webhooks', {
    schema: {
      operationId: 'createWebhookEndpoint',
      summary: 'Register a webhook endpoint',
      description:
        'Returns the secret that signs deliveries, only this once. Endpoints of test keys receive events about demo ' +
        'records only, those of live keys about live ones. There are at most 50 of each.',
      body: endpointInput,
      response: responses({ 201: envelopeOf(newEndpointSchema) }, 'conflict'),
    },
    config: { scope: 'webhooks:write', idempotent: true },
    handler: async (request, reply) => {
      const { dataCall, body } = request;
      const input = { ...body, is_demo: dataCall.caller.isDemo };
      const answer = await answerOnce(context, request, reply, async (tx) => {
        const endpoint = await registerEndpoint({ ...context, db: tx }, ofKey(dataCall), input);
        return { answer: answerData(request, endpoint) };
      });
      return reply.code(201).send(answer);
    },
  });

  app.delete('/v1/webhooks/:id', {
    schema: {
      operationId: 'deleteWebhookEndpoint',
      summary: 'Delete a webhook endpoint',
      description: 'Its pending deliveries are deleted too.',
      params: idParams,
      response: responses({ 204: nothing }),
    },
    config: { scope: 'webhooks:write' },
    handler: async ({ dataCall, params }, reply) => {
      await deleteEndpoint(db, ofKey(dataCall), params.id);
      return reply.code(204).send();
    },
  });

  app.post('/v1/webhooks/:id/rotate-secret', {
    schema: {
      operationId: 'rotateWebhookSecret',
      summary: 'Replace the secret of a webhook endpoint',
      description:
        'Returns the new secret, only this once. For 24 hours deliveries are also signed with the previous one; another ' +
        'rotation ends that at once.',
      params: idParams,
      body: emptyBody,
      response: responses({ 200: envelopeOf(rotatedSecretSchema) }),
    },
    config: { scope: 'webhooks:write', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const { dataCall, params } = request;
        const stores = { ...context, db: tx };
        const rotated = await rotateEndpointSecret(stores, ofKey(dataCall), params.id);
        return { answer: answerData(request, rotated) };
      }),
  });

  app.post('/v1/webhooks/:id/ping', {
    schema: {
      operationId: 'pingWebhookEndpoint',
      summary: 'Send a ping to a webhook endpoint',
      description: 'An event of the type `ping`, whether the endpoint subscribes to it or not.',
      params: idParams,
      body: emptyBody,
      response: responses({ 201: envelopeOf(deliverySchema) }),
    },
    config: { scope: 'webhooks:write', idempotent: true },
    handler: async (request, reply) => {
      const { dataCall, params } = request;
      const answer = await answerOnce(context, request, reply, async (tx) => ({
        answer: answerData(request, await pingEndpoint(tx, ofKey(dataCall), params.id)),
      }));
      return reply.code(201).send(answer);
    },
  });

  app.get('/v1/webhooks/:id/deliveries', {
    schema: {
      operationId: 'listWebhookDeliveries',
      summary: 'List the deliveries of a webhook endpoint',
      description: 'Newest first, each with its attempts. Kept for 30 days.',
      params: idParams,
      querystring: deliveryPageQuery,
      response: responses({ 200: envelopeOf(z.array(deliverySchema)) }),
    },
    config: { scope: 'webhooks:read' },
    handler: async (request) => {
      const { dataCall, params, query } = request;
      const page = await deliveryPage(context, ofKey(dataCall), params.id, query);
      return answerData(request, page.deliveries, page.next_cursor);
    },
  });

  app.post('/v1/webhooks/:id/deliveries/:delivery_id/redeliver', {
    schema: {
      operationId: 'redeliverWebhookDelivery',
      summary: 'Redeliver one delivery',
      description:
        'A delivery that has ended, delivered or failed, starts again with all its attempts, under the same ids.',
      params: deliveryParams,
      body: emptyBody,
      response: responses({ 200: envelopeOf(deliverySchema) }, 'conflict'),
    },
    config: { scope: 'webhooks:write', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const { id: endpointId, delivery_id: deliveryId } = request.params;
        const scope = { endpointId, deliveryId };
        return { answer: answerData(request, await redeliver(tx, ofKey(request.dataCall), scope)) };
      }),
  });

  app.post('/v1/webhooks/:id/redeliver', {
    schema: {
      operationId: 'redeliverDeadWebhookDeliveries',
      summary: 'Redeliver dead letters',
      description:
        'All dead letters, or those of events of a range, oldest first. With `status` `all`, delivered ones, too.',
      params: idParams,
      body: redeliverInput,
      response: responses({ 200: envelopeOf(redeliveredSchema) }),
    },
    config: { scope: 'webhooks:write', idempotent: true },
    handler: async (request, reply) =>
      answerOnce(context, request, reply, async (tx) => {
        const caller = ofKey(request.dataCall);
        const range = request.body ?? undefined;
        const restarted = await redeliverRange(tx, caller, request.params.id, range);
        return { answer: answerData(request, restarted) };
      }),
  });
}

/** A key as the manager of the endpoints with its mode. */
const ofKey = ({ caller: { workspaceId, isDemo, keyName } }: DataCall): EndpointCaller => ({
  workspaceId,
  isDemo,
  id: null,
  name: keyName,
});
