import fastify, { type FastifyError } from 'fastify';
import {
  serializerCompiler,
  validatorCompiler,
  type ZodTypeProvider,
} from 'fastify-type-provider-zod';
import { acceptJson } from '#api/http/body.ts';
import type { App, RouteContext } from '#api/deps.ts';
import { classify } from '#api/http/error-handler.ts';
import { refuseUnsafeInput } from '#api/http/input-guard.ts';
import { describeInvalid } from '#api/http/invalid-request.ts';
import { endpointRoutes } from '#api/routes/v1/webhooks.ts';
import type {
  Delivery,
  Endpoint,
  NewEndpoint,
  OutboundEventType,
} from '#shared/contract/data/outbound.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { errorTable } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { ownServices } from '#shared/platform/egress/own-services.ts';
import { createDataCursors } from '#shared/crypto/data-cursors.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { type Engine, eventually, startEngine } from './engine.ts';

/** The owner of the key that a call uses. */
export interface Caller {
  workspaceId: string;
  isDemo: boolean;
}

export interface Outbound {
  engine: Engine;
  workspaceId: string;
  call(
    method: string,
    path: string,
    body?: unknown,
    caller?: Partial<Caller>,
  ): Promise<{ status: number; body: any }>;
  /** Registers an endpoint that subscribes to `events`; default: `entity.created`. */
  register(url: string, events?: OutboundEventType[], isDemo?: boolean): Promise<NewEndpoint>;
  endpoint(id: string): Promise<Endpoint>;
  /** Queues one or more events of one type. */
  happen(type: OutboundEventType, ...data: JsonObject[]): Promise<number>;
  deliveries(endpointId: string, query?: string): Promise<Delivery[]>;
  /** Waits until none of the endpoint's deliveries is pending, and returns them, oldest first. */
  settled(endpointId: string, timeoutMs?: number): Promise<Delivery[]>;
  close(): Promise<void>;
}

export const BACKOFF_SECONDS = 0.2;

/** The engine behind the routes of webhook endpoints, with an authentication that accepts every caller. */
export async function startOutbound(
  options: { worker?: boolean; env?: Record<string, string> } = {},
): Promise<Outbound> {
  const env = {
    ENCRYPTION_KEY: 'a key for the tests alone',
    DELIVERY_BACKOFF_SECONDS: String(BACKOFF_SECONDS),
    ...options.env,
  };
  const engine = await startEngine({ ...options, env });
  const { workspaceId } = engine.actor;
  const app = buildApp(engine);
  await app.ready();
  const call: Outbound['call'] = async (method, path, body, caller = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: `/v1/webhooks${path}`,
      headers: {
        'x-caller': JSON.stringify({ workspaceId, isDemo: false, ...caller }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const text = response.body;
    return { status: response.statusCode, body: text === '' ? undefined : JSON.parse(text) };
  };
  const deliveries: Outbound['deliveries'] = async (endpointId, query = 'limit=100') =>
    (await call('GET', `/${endpointId}/deliveries?${query}`)).body.data as Delivery[];
  return {
    engine,
    workspaceId,
    call,
    register: async (url, events = ['entity.created'], isDemo = false) => {
      const { status, body } = await call('POST', '', { url, events }, { isDemo });
      if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
      return body.data as NewEndpoint;
    },
    endpoint: async (id) => {
      const { body } = await call('GET', '');
      return (body.data as Endpoint[]).find((endpoint) => endpoint.id === id)!;
    },
    happen: (type, ...data) =>
      queueEvents(
        engine.db,
        workspaceId,
        data.map((each) => ({ type, isDemo: false, data: each })),
      ),
    deliveries,
    settled: async (endpointId, timeoutMs = 20_000) => {
      await eventually(
        async () => (await deliveries(endpointId, 'status=pending')).length === 0,
        timeoutMs,
      );
      return (await deliveries(endpointId)).reverse();
    },
    close: async () => {
      await app.close();
      await engine.close();
    },
  };
}

function buildApp(engine: Engine): App {
  const { config } = engine.deps;
  const egress = createEgress({
    allow: config.egressAllow,
    own: ownServices(config),
  });
  const app = fastify().withTypeProvider<ZodTypeProvider>() as unknown as App;
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.decorateRequest('dataCall');
  app.addHook('onRequest', async (request) => {
    const caller = JSON.parse(String(request.headers['x-caller'])) as Caller;
    const scopes = ['webhooks:read', 'webhooks:write'];
    const key = { keyId: 'dkey_1', keyName: 'Tests', scopes };
    request.dataCall = { caller: { ...key, ...caller }, credits: 0 };
  });
  app.addHook('onClose', () => egress.close());
  app.setErrorHandler((error, _request, reply) => {
    const { validation, validationContext } = error as FastifyError;
    const isBody = validation !== undefined && validationContext === 'body';
    const told = isBody
      ? { code: 'invalid' as const, detail: describeInvalid('body', validation) }
      : classify(error);
    // The same mapping as in the data API.
    const refusal = told.detail.startsWith('Invalid body')
      ? { ...told, code: 'unprocessable' as const }
      : told;
    if (refusal.code === 'internal') console.error(error);
    return reply
      .code(errorTable[refusal.code].status)
      .type('application/json; charset=utf-8')
      .serializer(JSON.stringify)
      .send({ detail: refusal.detail });
  });
  acceptJson(app as never);
  refuseUnsafeInput(app as never);
  const sealer = createSealer(config);
  const dataCursors = createDataCursors(undefined);
  endpointRoutes(app, { ...engine.deps, egress, sealer, dataCursors } as unknown as RouteContext);
  return app;
}
