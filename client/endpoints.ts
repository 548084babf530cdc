import { onceOf, type TriggerOptions } from './idempotency.ts';
import { byCursor, wholeList } from './pages.ts';
import type { CallOptions, Send, WriteOptions } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type {
  DataEndpoint,
  NewDataEndpoint,
  Redelivered,
  RotatedSecret,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpointEvent,
  WebhookEndpointEventList,
} from './types.ts';

type NewEndpoint = BodyOf<'POST /api/webhooks'>;
type DeliveryQuery = QueryOf<'GET /api/webhooks/{id}/deliveries'>;
type EventQuery = QueryOf<'GET /api/webhooks/{id}/events'>;

/** Webhook endpoints, which receive events of runs and records, and their deliveries. */
export function endpointMethods(send: Send) {
  return { ...registration(send), ...deliveryMethods(send), ...eventMethods(send) };
}

function registration(send: Send) {
  return {
    /** Webhook endpoints, newest first, including those of data keys. */
    listEndpoints: (options?: CallOptions): Promise<DataEndpoint[]> =>
      wholeList((query) => send('GET /api/webhooks', [], { query, options }), {}),
    /** The signing secret is returned only in this response. */
    createEndpoint: (
      endpoint: Omit<NewEndpoint, 'is_demo'> & Partial<NewEndpoint>,
      options?: TriggerOptions,
    ): Promise<NewDataEndpoint> =>
      send('POST /api/webhooks', [], { body: endpoint as NewEndpoint, ...onceOf(options) }),
    getEndpoint: (endpointId: string, options?: CallOptions): Promise<DataEndpoint> =>
      send('GET /api/webhooks/{id}', [endpointId], { options }),
    /** Omitted fields are unchanged. */
    updateEndpoint: (
      endpointId: string,
      body: BodyOf<'PUT /api/webhooks/{id}'>,
      options?: WriteOptions,
    ): Promise<DataEndpoint> => send('PUT /api/webhooks/{id}', [endpointId], { body, options }),
    /** Also deletes its pending deliveries. */
    deleteEndpoint: (endpointId: string, options?: WriteOptions): Promise<undefined> =>
      send('DELETE /api/webhooks/{id}', [endpointId], { options }),
    /** The new secret is returned only in this response. The previous one also signs for 24 hours. */
    rotateEndpointSecret: (endpointId: string, options?: TriggerOptions): Promise<RotatedSecret> =>
      send('POST /api/webhooks/{id}/rotate-secret', [endpointId], onceOf(options)),
  };
}

function deliveryMethods(send: Send) {
  const listDeliveries = (
    endpointId: string,
    query: DeliveryQuery = {},
    options?: CallOptions,
  ): Promise<WebhookDeliveryList> =>
    send('GET /api/webhooks/{id}/deliveries', [endpointId], { query, options });

  return {
    /** Queues a `ping` to an endpoint. */
    pingEndpoint: (endpointId: string, options?: TriggerOptions): Promise<WebhookDelivery> =>
      send('POST /api/webhooks/{id}/ping', [endpointId], onceOf(options)),
    /** One page of the deliveries of an endpoint, newest first. */
    listDeliveries,
    /** All deliveries of an endpoint in the last 30 days, newest first. */
    deliveries: (
      endpointId: string,
      query: Omit<DeliveryQuery, 'cursor'> = {},
    ): AsyncGenerator<WebhookDelivery, void> =>
      byCursor(
        (cursor) => listDeliveries(endpointId, { ...query, cursor }),
        (page) => page.deliveries,
      ),
    getDelivery: (
      endpointId: string,
      deliveryId: string,
      options?: CallOptions,
    ): Promise<WebhookDelivery> =>
      send('GET /api/webhooks/{id}/deliveries/{delivery_id}', [endpointId, deliveryId], {
        options,
      }),
    /** Restarts a delivery that has ended. */
    redeliverDelivery: (
      endpointId: string,
      deliveryId: string,
      options?: TriggerOptions,
    ): Promise<WebhookDelivery> =>
      send(
        'POST /api/webhooks/{id}/deliveries/{delivery_id}/redeliver',
        [endpointId, deliveryId],
        onceOf(options),
      ),
    /**
     * Restarts the dead letters: of events from a time on, of a range, or all of them, up to the limit of pending
     * deliveries. With `status` `all`, a range also restarts delivered ones.
     */
    redeliverDeadLetters: (
      endpointId: string,
      range: string | NonNullable<BodyOf<'POST /api/webhooks/{id}/redeliver'>> = {},
      options?: TriggerOptions,
    ): Promise<Redelivered> =>
      send('POST /api/webhooks/{id}/redeliver', [endpointId], {
        body: typeof range === 'string' ? { since: range } : range,
        ...onceOf(options),
      }),
  };
}

function eventMethods(send: Send) {
  const listEndpointEvents = (
    endpointId: string,
    query: EventQuery = {},
    options?: CallOptions,
  ): Promise<WebhookEndpointEventList> =>
    send('GET /api/webhooks/{id}/events', [endpointId], { query, options });

  return {
    /** One page of the events of an endpoint with the bodies of their deliveries, oldest first. */
    listEndpointEvents,
    /** All events of an endpoint since a time, or in the last 30 days, oldest first. */
    endpointEvents: (
      endpointId: string,
      query: Omit<EventQuery, 'cursor'> = {},
      options?: CallOptions,
    ): AsyncGenerator<WebhookEndpointEvent, void> =>
      byCursor(
        (cursor) => listEndpointEvents(endpointId, { ...query, cursor }, options),
        (page) => page.events,
      ),
  };
}
