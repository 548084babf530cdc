import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newId } from '#shared/crypto/ids.ts';
import { type OutboundEventType, outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { secretContext } from '#shared/db/webhooks/endpoints.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { newEndpointSecret } from '#shared/webhooks/delivery-request.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import { query, type Stack } from '#bench/stack.ts';
import { pause, percentile } from '#bench/statistics.ts';

const HEALTHY = 99;
/** The number of events queued for the hanging endpoint while the others are measured. */
const OWED = 200;
const ROUNDS = 3;
/** The time over which every endpoint gets one event. */
const SPREAD_MS = 3_300;
/** The number of events that each healthy endpoint gets at once. */
const BURST = 3;
const PATIENCE_MS = 120_000;

interface Receiver {
  url: string;
  arrivals: number[];
  /** Requests without a response. */
  open: Set<ServerResponse>;
  close(): void;
}

/**
 * The time from queueing an event to its arrival at one of 99 healthy endpoints, alternating between a hundredth
 * endpoint that hangs and none; and deliveries per second.
 */
export async function deliveries({ databaseUrl, environment }: Stack): Promise<Result[]> {
  const db = await connectDatabase(databaseUrl);
  const receiver = await startReceiver();
  try {
    const bench = await furnish(databaseUrl, environment['ENCRYPTION_KEY'] ?? '');
    const healthy = Array.from({ length: HEALTHY }, (_, n) => n);
    for (const n of healthy) await bench.add(`${receiver.url}/well`, typeOf(n));
    await spread(db, bench.workspaceId, receiver);
    const alone: number[] = [];
    const beside: number[] = [];
    const rates: [number, number][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      alone.push(...(await spread(db, bench.workspaceId, receiver)));
      const aloneRate = await burst(db, bench.workspaceId, receiver);
      const hanging = await bench.add(`${receiver.url}/hang`, 'ping');
      await queueEvents(
        db,
        bench.workspaceId,
        Array.from({ length: OWED }, () => event('ping')),
      );
      await until(() => receiver.open.size >= 6);
      beside.push(...(await spread(db, bench.workspaceId, receiver)));
      rates.push([aloneRate, await burst(db, bench.workspaceId, receiver)]);
      await bench.remove(hanging);
      for (const response of receiver.open) response.destroy();
      await pause(1_000);
    }
    return [judged(alone, beside, rates)];
  } finally {
    receiver.close();
    await db.end();
  }
}

function judged(alone: number[], beside: number[], rates: [number, number][]): Result {
  const [first, second] = [0, 1].map((side) =>
    percentile(
      rates.map((rate) => rate[side] ?? Number.NaN),
      50,
    ).toFixed(0),
  );
  return compare({
    measure: `delivery to ${HEALTHY} endpoints beside one that hangs / without it, p95`,
    unit: 'ms',
    ours: figure(beside),
    baseline: figure(alone),
    value: percentile(beside, 95) / percentile(alone, 95),
    bound: atMost(1.5),
    notes: [
      `${HEALTHY * BURST} at once: ${second} deliveries/s beside the hanging one, ${first} without it`,
    ],
  });
}

/** Each group of endpoints subscribes to one type; the groups take turns. */
const types = outboundEventTypes.filter((type) => type !== 'ping');
const typeOf = (n: number) => types[n % types.length]!;
const event = (type: OutboundEventType) => ({ type, isDemo: false, data: { at: Date.now() } });

async function spread(db: Pool, workspaceId: string, receiver: Receiver): Promise<number[]> {
  receiver.arrivals.length = 0;
  for (const type of types) {
    await queueEvents(db, workspaceId, [event(type)]);
    await pause(SPREAD_MS / types.length);
  }
  await until(() => receiver.arrivals.length >= HEALTHY);
  return [...receiver.arrivals];
}

/** Deliveries per second in a burst. */
async function burst(db: Pool, workspaceId: string, receiver: Receiver): Promise<number> {
  receiver.arrivals.length = 0;
  const began = performance.now();
  const events = types.flatMap((type) => Array.from({ length: BURST }, () => event(type)));
  await queueEvents(db, workspaceId, events);
  await until(() => receiver.arrivals.length >= HEALTHY * BURST);
  return (HEALTHY * BURST * 1_000) / (performance.now() - began);
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > end) throw new Error('deliveries did not arrive in time');
    await pause(5);
  }
}

async function startReceiver(): Promise<Receiver> {
  const arrivals: number[] = [];
  const open = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      if (request.url === '/hang') {
        open.add(response);
        response.on('close', () => open.delete(response));
        return;
      }
      const { data } = JSON.parse(body) as { data: { at: number } };
      arrivals.push(Date.now() - data.at);
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrivals,
    open,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Endpoints in the default workspace, written as the API writes them. */
async function furnish(databaseUrl: string, encryptionKey: string) {
  const sealer = createSealer({ encryptionKey });
  const [workspace] = await query<{ id: string }>(databaseUrl, 'SELECT id FROM workspaces LIMIT 1');
  const workspaceId = workspace?.id ?? '';
  return {
    workspaceId,
    add: async (url: string, type: OutboundEventType): Promise<string> => {
      const id = newId('endpoint');
      const secret = sealer?.seal(newEndpointSecret(), secretContext(workspaceId, id)) ?? '';
      await query(
        databaseUrl,
        `WITH added AS (
           INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
           VALUES ($1, $2, false, $3, $4, $5) RETURNING id)
         INSERT INTO data_permits (endpoint_id, slot) SELECT id, slot FROM added, generate_series(1, 8) slot`,
        [id, workspaceId, url, [type], secret],
      );
      return id;
    },
    remove: async (id: string): Promise<void> => {
      await query(databaseUrl, 'DELETE FROM data_endpoints WHERE id = $1', [id]);
      await query(databaseUrl, 'DELETE FROM data_deliveries WHERE endpoint_id = $1', [id]);
    },
  };
}
