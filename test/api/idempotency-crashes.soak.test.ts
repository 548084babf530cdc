import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { beside } from '#test/support/lock-waits.ts';
import type { TestApi } from '#test/support/processes.ts';
import { startOne, useApiProcesses } from './api-processes.ts';

// API processes are killed around the commit of a request with a key: it is carried out exactly once.

const KEYS = 60;
const processes = useApiProcesses({ ENCRYPTION_KEY: 'the key of this test' });
let agent: Agent;
let endpointId: string;

interface Reply {
  status: number;
  id: string | undefined;
  replayed: boolean;
}

async function post(api: TestApi, path: string, key: string, body?: object): Promise<Reply> {
  const response = await request(`${api.url}${path}`, {
    dispatcher: agent,
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { id } = (await response.body.json()) as { id?: string };
  const replayed = response.headers['idempotent-replayed'] === 'true';
  return { status: response.statusCode, id, replayed };
}
const ping = (api: TestApi, key: string): Promise<Reply> =>
  post(api, `/api/webhooks/${endpointId}/ping`, key);

/** Repeats a request until it has an answer. */
async function untilAnswered(api: () => TestApi, key: string): Promise<Reply> {
  for (;;) {
    const reply = await ping(api(), key).catch(() => undefined);
    if (reply?.status === 201) return reply;
    if (reply !== undefined) expect([409, 503]).toContain(reply.status);
    await sleep(20);
  }
}

const deliveries = () =>
  processes.engine.db.anyFirst(sql.type(z.object({ id: z.string() }))`
    SELECT id FROM data_deliveries WHERE endpoint_id = ${endpointId}`);
const pings = () =>
  processes.engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*)::int AS n FROM audit_log WHERE action = 'data_webhook_ping'`);

beforeAll(async () => {
  agent = new Agent({ connections: 40 });
  const endpoint = { url: 'https://no-such.invalid/', events: ['ping'] };
  endpointId = (await post(processes.apis[0]!, '/api/webhooks', 'endpoint', endpoint)).id!;
});
afterAll(() => agent.close());

test('a key that a killed process held is free again, and nothing was done', async () => {
  const { db } = processes.engine;
  const before = (await deliveries()).length;
  const [doomed, other] = processes.apis as [TestApi, TestApi];
  const lost = await beside(
    db,
    sql.fragment`UPDATE data_endpoints SET url = url WHERE id = ${endpointId}`,
    () => ping(doomed, 'held').catch(() => undefined),
    async () => {
      expect((await ping(other, 'held')).status).toBe(409);
      await doomed.kill();
    },
  );
  expect(lost).toBeUndefined();
  processes.apis[0] = await startOne(processes.engine);
  const reply = await untilAnswered(() => other, 'held');
  expect(reply.replayed).toBe(false);
  expect((await deliveries()).length).toBe(before + 1);
}, 60_000);

test('requests that are repeated while processes are killed are carried out once per key', async () => {
  const before = { deliveries: (await deliveries()).length, pings: await pings() };
  let killing = true;
  const killed = (async () => {
    for (let n = 0; killing; n += 1) {
      const index = n % processes.apis.length;
      await sleep(50 + 30 * (n % 5));
      await processes.apis[index]!.kill();
      processes.apis[index] = await startOne(processes.engine);
    }
  })();
  const ids = new Map<string, Set<string>>();
  const send = async (n: number): Promise<void> => {
    const key = `key-${n}`;
    // Two clients with the same key, and each of them repeats its request after the answer.
    const replies = await Promise.all(
      [0, 1].map((at) => untilAnswered(() => processes.turn(n + at), key)),
    );
    replies.push(await untilAnswered(() => processes.turn(n + 2), key));
    ids.set(key, new Set(replies.map(({ id }) => id!)));
  };
  for (let n = 0; n < KEYS; n += 6) {
    await Promise.all([0, 1, 2, 3, 4, 5].map((at) => send(n + at)));
  }
  killing = false;
  await killed;
  expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
  const all = [...ids.values()].flatMap((each) => [...each]);
  expect(new Set(all).size).toBe(KEYS);
  const after = await deliveries();
  expect(after.length - before.deliveries).toBe(KEYS);
  expect(all.every((id) => after.includes(id))).toBe(true);
  expect((await pings()) - before.pings).toBe(KEYS);
}, 180_000);
