import { byCursor, wholeList } from './pages.ts';
import type { CallOptions, Send } from './request.ts';
import type { BodyOf, QueryOf } from './routes.ts';
import type {
  CreatedDataKey,
  DataEndpoint,
  DataKey,
  NewDataEndpoint,
  Redelivered,
  RotatedSecret,
  WebhookDelivery,
  WebhookDeliveryList,
  WorkspaceDataUsage,
} from './types.ts';

type NewEndpoint = BodyOf<'POST /api/data/endpoints'>;
type DeliveryQuery = QueryOf<'GET /api/data/endpoints/{id}/deliveries'>;

/** Administration of the data API. Its data is read under `/v1`, with data keys. */
export function dataKeyMethods(send: Send) {
  return { ...keysAndUsage(send), ...endpointMethods(send), ...deliveryMethods(send) };
}

function keysAndUsage(send: Send) {
  return {
    /** Newest first, including revoked keys. */
    listDataKeys: (
      query: QueryOf<'GET /api/data/keys'> = {},
      options?: CallOptions,
    ): Promise<DataKey[]> =>
      wholeList((page) => send('GET /api/data/keys', [], { query: page, options }), query),
    /** The secret is returned only in this response. */
    createDataKey: (
      body: BodyOf<'POST /api/data/keys'>,
      options?: CallOptions,
    ): Promise<CreatedDataKey> => send('POST /api/data/keys', [], { body, options }),
    getDataKey: (keyId: string, options?: CallOptions): Promise<DataKey> =>
      send('GET /api/data/keys/{id}', [keyId], { options }),
    revokeDataKey: (keyId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/data/keys/{id}', [keyId], { options }),
    /** Usage of the current month (UTC). */
    getDataUsage: (options?: CallOptions): Promise<WorkspaceDataUsage> =>
      send('GET /api/data/usage', [], { options }),
  };
}

function endpointMethods(send: Send) {
  return {
    /** Webhook endpoints of the data API, newest first. */
    listEndpoints: (options?: CallOptions): Promise<DataEndpoint[]> =>
      wholeList((query) => send('GET /api/data/endpoints', [], { query, options }), {}),
    /** The signing secret is returned only in this response. */
    createEndpoint: (
      endpoint: Omit<NewEndpoint, 'is_demo'> & Partial<NewEndpoint>,
      options?: CallOptions,
    ): Promise<NewDataEndpoint> =>
      send('POST /api/data/endpoints', [], { body: endpoint as NewEndpoint, options }),
    getEndpoint: (endpointId: string, options?: CallOptions): Promise<DataEndpoint> =>
      send('GET /api/data/endpoints/{id}', [endpointId], { options }),
    /** Omitted fields are unchanged. */
    updateEndpoint: (
      endpointId: string,
      body: BodyOf<'PUT /api/data/endpoints/{id}'>,
      options?: CallOptions,
    ): Promise<DataEndpoint> =>
      send('PUT /api/data/endpoints/{id}', [endpointId], { body, options }),
    /** Also deletes its pending deliveries. */
    deleteEndpoint: (endpointId: string, options?: CallOptions): Promise<undefined> =>
      send('DELETE /api/data/endpoints/{id}', [endpointId], { options }),
    /** The new secret is returned only in this response. The previous one also signs for 24 hours. */
    rotateEndpointSecret: (endpointId: string, options?: CallOptions): Promise<RotatedSecret> =>
      send('POST /api/data/endpoints/{id}/rotate-secret', [endpointId], { options }),
  };
}

function deliveryMethods(send: Send) {
  const listDeliveries = (
    endpointId: string,
    query: DeliveryQuery = {},
    options?: CallOptions,
  ): Promise<WebhookDeliveryList> =>
    send('GET /api/data/endpoints/{id}/deliveries', [endpointId], { query, options });

  return {
    /** Queues a `ping` to an endpoint. */
    pingEndpoint: (endpointId: string, options?: CallOptions): Promise<WebhookDelivery> =>
      send('POST /api/data/endpoints/{id}/ping', [endpointId], { options }),
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
      send('GET /api/data/endpoints/{id}/deliveries/{delivery_id}', [endpointId, deliveryId], {
        options,
      }),
    /** Restarts a delivery that has ended. */
    redeliverDelivery: (
      endpointId: string,
      deliveryId: string,
      options?: CallOptions,
    ): Promise<WebhookDelivery> =>
      send(
        'POST /api/data/endpoints/{id}/deliveries/{delivery_id}/redeliver',
        [endpointId, deliveryId],
        { options },
      ),
    /** Restarts the dead letters of events from `since` on, up to the limit of pending deliveries. */
    redeliverDeadLetters: (
      endpointId: string,
      since: string,
      options?: CallOptions,
    ): Promise<Redelivered> =>
      send('POST /api/data/endpoints/{id}/redeliver', [endpointId], { body: { since }, options }),
  };
}
