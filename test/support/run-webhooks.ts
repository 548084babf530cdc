import type { RunEventType } from '#shared/contract/data/outbound.ts';
import type { Delivery } from '#shared/contract/data/outbound.ts';
import { listDeliveries } from '#shared/db/webhooks/deliveries.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { registerEndpoint, rotateEndpointSecret } from '#shared/operations/webhooks/endpoints.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { type FakeServer, type Seen, startHttpServer } from '#test/fakes/http-server.ts';
import { type Engine, eventually, startEngine } from './engine.ts';
import { BACKOFF_SECONDS } from './outbound.ts';

/** A received event of a run. */
export interface RunEvent {
  id: string;
  type: RunEventType;
  created_at: string;
  data: { run: Record<string, any>; gate?: Record<string, any> };
}

export interface RunWebhooks {
  engine: Engine;
  receiver: FakeServer;
  /** The statuses of the next responses; then 200. */
  answers: number[];
  /** Registers an endpoint at the receiver. Returns its secret and id. */
  register(events?: readonly RunEventType[]): Promise<{ id: string; secret: string }>;
  rotate(endpointId: string): Promise<string>;
  deliveries(endpointId: string): Promise<Delivery[]>;
  /** The requests about a run, once there are `count` of them. */
  requests(runId: string, count: number): Promise<Seen[]>;
  /** The requests about a run, parsed, once they carry `count` different ids. A delivery can come twice. */
  events(runId: string, count: number): Promise<RunEvent[]>;
  close(): Promise<void>;
}

const all: readonly RunEventType[] = [
  'run.completed',
  'run.failed',
  'run.paused',
  'approval.requested',
];

/** An engine, and a receiver to which its workspace can send events of runs. */
export async function startRunWebhooks(
  options: { worker?: boolean; env?: Record<string, string> } = {},
): Promise<RunWebhooks> {
  const answers: number[] = [];
  const receiver = await startHttpServer((_request, response) => {
    response.writeHead(answers.shift() ?? 200).end();
  });
  const engine = await startEngine({
    ...options,
    env: {
      ENCRYPTION_KEY: 'a key for the tests alone',
      DELIVERY_BACKOFF_SECONDS: String(BACKOFF_SECONDS),
      PUBLIC_URL: 'https://ops.example.com',
      ...options.env,
    },
  });
  const { config } = engine.deps;
  const egress = createEgress({ allow: config.egressAllow });
  const deps = { db: engine.db, egress, sealer: createSealer(config) };
  const about = (runId: string) => receiver.seen.filter(({ body }) => body.includes(runId));
  const parsed = (runId: string) => about(runId).map(({ body }) => JSON.parse(body) as RunEvent);
  return {
    engine,
    receiver,
    answers,
    register: async (events = all) =>
      registerEndpoint(deps, engine.actor, {
        url: `${receiver.url}/hook`,
        events: [...events],
        is_demo: false,
      }),
    rotate: async (endpointId) =>
      (await rotateEndpointSecret(deps, engine.actor, endpointId)).secret,
    deliveries: async (endpointId) => {
      const page = { limit: 100, after: undefined };
      return [...(await listDeliveries(engine.db, engine.actor, { endpointId }, page)).rows];
    },
    requests: async (runId, count) => {
      await eventually(() => about(runId).length >= count, 30_000);
      return about(runId);
    },
    events: async (runId, count) => {
      const ids = () => new Set(parsed(runId).map(({ id }) => id));
      await eventually(() => ids().size >= count, 30_000);
      return parsed(runId);
    },
    close: async () => {
      await engine.close();
      await egress.close();
      await receiver.close();
    },
  };
}
