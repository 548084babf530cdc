import { createHmac } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import Stripe from 'stripe';
import { z } from 'zod';
import { pauseAfter } from '#activities/deliver-webhook.ts';
import type { Delivery } from '#shared/contract/data/outbound.ts';
import { claimDelivery, recordAttempt } from '#shared/db/webhooks/attempts.ts';
import { requeueLost } from '#shared/db/webhooks/queue.ts';
import { deleteExpiredOutbound } from '#shared/db/audit/retention.ts';
import { sql } from '#shared/db/pool.ts';
import { signDelivery } from '#shared/webhooks/delivery-request.ts';
import { type Seen, startHttpServer } from '#test/fakes/http-server.ts';
import { eventually } from '#test/support/engine.ts';
import { BACKOFF_SECONDS, startOutbound } from '#test/support/outbound.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { raceRounds, soakDescribe, soakTest } from '#test/support/soak.ts';
import { readable } from '#test/support/executions.ts';
import { useStage } from '#test/support/stage.ts';

type Behaviour = (response: ServerResponse, request: Seen) => void;

/** Behavior by path; `/` and paths without an entry respond with status 200. */
const behaviours = new Map<string, Behaviour>();

const outbound = useStage(() => startOutbound());
const receiver = useStage(() =>
  startHttpServer((request, response) => {
    const behave = behaviours.get(request.url);
    if (behave === undefined) response.end('ok');
    else behave(response, request);
  }),
);
afterEach(async () => {
  const { body } = await outbound.call('GET', '');
  for (const { id } of body.data) await outbound.call('DELETE', `/${id}`);
});

let paths = 0;
/** A new address with this behavior. */
function address(behave?: Behaviour): { url: string; seen: () => Seen[] } {
  const path = `/${(paths += 1)}`;
  if (behave !== undefined) behaviours.set(path, behave);
  return {
    url: receiver.url + path,
    seen: () => receiver.seen.filter((request) => request.url === path),
  };
}
const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (response) =>
    response.writeHead(code, headers).end(`this is ${code}`);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const msBetween = (earlier: string, later: string) => Date.parse(later) - Date.parse(earlier);
const header = (request: Seen, name: string) => String(request.headers[name]);

/** Verifies the signature as a receiver would from the documentation alone. */
function isSigned(request: Seen, secret: string): boolean {
  const parts = header(request, 'x-service-signature').split(',');
  const at = parts[0]!.slice(2);
  const expected = createHmac('sha256', secret).update(`${at}.${request.body}`).digest('hex');
  return parts.slice(1).includes(`v1=${expected}`);
}

describe('a delivery', () => {
  test('is the event, with a signature that the Stripe library accepts', async () => {
    const { url, seen } = address();
    const { id, secret } = await outbound.register(url);
    await outbound.happen('entity.created', { entity_id: 'ent_1', name: 'Żółw "é" 🐢' });
    const [delivery] = await outbound.settled(id);
    expect(delivery).toMatchObject({ status: 'delivered', type: 'entity.created', attempts: 1 });
    const [request] = seen();
    const { headers, body } = request!;
    expect(JSON.parse(body)).toEqual({
      id: delivery!.event_id,
      type: 'entity.created',
      created_at: delivery!.created_at,
      data: { entity_id: 'ent_1', name: 'Żółw "é" 🐢' },
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'entity.created',
      'x-service-delivery': delivery!.id,
    });
    const signature = header(request!, 'x-service-signature');
    const event = Stripe.webhooks.constructEvent(body, signature, secret) as unknown;
    expect(event).toEqual(JSON.parse(body));
    expect(() => Stripe.webhooks.constructEvent(`${body} `, signature, secret)).toThrow();
    expect(() => Stripe.webhooks.constructEvent(body, signature, `${secret}x`)).toThrow();
  });

  test('goes to the endpoints of its workspace and mode that subscribe to its type', async () => {
    const [first, second, other, demo] = [address(), address(), address(), address()];
    const wanting = await Promise.all([
      outbound.register(first.url),
      outbound.register(second.url),
    ]);
    await outbound.register(other.url, ['entity.updated']);
    await outbound.register(demo.url, ['entity.created'], true);
    expect(await outbound.happen('entity.created', { n: 1 }, { n: 2 })).toBe(4);
    expect(await outbound.happen('export.completed', { n: 3 })).toBe(0);
    for (const { id } of wanting) await outbound.settled(id);
    expect([first, second, other, demo].map(({ seen }) => seen().length)).toEqual([2, 2, 0, 0]);
    const ids = first.seen().map((request) => JSON.parse(request.body).id as string);
    expect(new Set(ids).size).toBe(2);
    expect(new Set(second.seen().map((request) => JSON.parse(request.body).id))).toEqual(
      new Set(ids),
    );
    expect(
      new Set([...first.seen(), ...second.seen()].map((r) => header(r, 'x-service-delivery'))).size,
    ).toBe(4);
  });

  soakTest('is dispatched soon after its event, also after a quiet period', async () => {
    const rounds: unknown[] = [];
    const { url } = address((response, request) => {
      rounds.push((JSON.parse(request.body).data as { round: number }).round);
      response.end();
    });
    await outbound.register(url);
    for (let round = 0; round < 20; round += 1) {
      await outbound.happen('entity.created', { round });
      await eventually(() => rounds.length === round + 1);
      // Sometimes just after a poll of the dispatcher, sometimes just before one.
      await pause(20 + round * 7);
    }
    expect(rounds).toEqual(Array.from({ length: 20 }, (_, round) => round));
  });

  test('shows its type and host in the Temporal UI, but no secrets', async () => {
    const { url } = address();
    const { id, secret } = await outbound.register(`${url}?token=s3cret`);
    await outbound.happen('entity.created', { n: 1 });
    const [delivery] = await outbound.settled(id);
    const { client } = outbound.engine.deps.temporal;
    const handle = client.workflow.getHandle(`delivery-${delivery!.id}-1`);
    await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
    const description = await handle.describe();
    const key = defineSearchAttributeKey('OpsWorkspace', SearchAttributeType.KEYWORD);
    expect(await description.staticSummary()).toBe(
      `entity.created → ${new URL(receiver.url).host}`,
    );
    expect(description.typedSearchAttributes.get(key)).toBe(outbound.workspaceId);
    const history = readable(await handle.fetchHistory());
    expect(history).toContain(delivery!.id);
    expect(history).not.toContain('s3cret');
    expect(history).not.toContain(secret);
  });

  test('counts in its month only when it is delivered', async () => {
    const counted = () =>
      outbound.engine.db.maybeOneFirst(sql.type(z.object({ deliveries: z.number() }))`
        SELECT deliveries FROM data_months
        WHERE workspace_id = ${outbound.workspaceId} AND month = date_trunc('month', now() AT TIME ZONE 'UTC')
      `);
    const before = (await counted()) ?? 0;
    let answers = 0;
    const { url } = address((response) => {
      answers += 1;
      response.writeHead(answers === 1 ? 500 : 204).end();
    });
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', {});
    await outbound.settled(id);
    expect(answers).toBe(2);
    expect(await counted()).toBe(before + 1);
  });
});

describe('a failing receiver', () => {
  soakTest('gets eight attempts, with doubling pauses', 90_000, async () => {
    const { url, seen } = address(status(500));
    const { id, secret } = await outbound.register(url);
    await outbound.happen('entity.created', { n: 1 });
    await eventually(async () => (await outbound.endpoint(id)).status === 'failing', 30_000);
    expect((await outbound.endpoint(id)).consecutive_failures).toBeGreaterThanOrEqual(5);
    const [delivery] = await outbound.settled(id, 60_000);
    expect(delivery).toMatchObject({ status: 'dead', attempts: 8, reason: null });
    expect(delivery!.log.map((attempt) => attempt.attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(delivery!.log[0]).toMatchObject({
      status_code: 500,
      error: 'Responded with 500: this is 500',
    });
    const starts = delivery!.log.map((attempt) => attempt.started_at);
    const pauses = starts.slice(1).map((start, n) => msBetween(starts[n]!, start));
    pauses.forEach((ms, n) => {
      const wanted = BACKOFF_SECONDS * 1000 * 2 ** n;
      expect(ms).toBeGreaterThanOrEqual(wanted);
    });
    expect(await outbound.endpoint(id)).toMatchObject({
      status: 'failing',
      consecutive_failures: 8,
      last_delivery_at: null,
    });
    // The same delivery and the same bytes each time, with a new signature.
    const requests = seen();
    expect(requests).toHaveLength(8);
    expect(new Set(requests.map((request) => header(request, 'x-service-delivery'))).size).toBe(1);
    expect(new Set(requests.map((request) => request.body)).size).toBe(1);
    expect(requests.every((request) => isSigned(request, secret))).toBe(true);
    const signatures = new Set(requests.map((r) => header(r, 'x-service-signature')));
    expect(signatures.size).toBeGreaterThan(3);
    const handle = outbound.engine.deps.temporal.client.workflow.getHandle(
      `delivery-${delivery!.id}-1`,
    );
    await eventually(async () => (await handle.describe()).status.name === 'FAILED');
    await pause(2_000);
    expect(seen()).toHaveLength(8);
  });

  soakTest('is failing after five failures, and active after one success', 60_000, async () => {
    let well = false;
    const { url } = address((response) => response.writeHead(well ? 200 : 503).end());
    const { id } = await outbound.register(url);
    const began = Date.now();
    await outbound.happen('entity.created', { n: 1 }, { n: 2 });
    await eventually(async () => (await outbound.endpoint(id)).consecutive_failures === 4);
    expect((await outbound.endpoint(id)).status).toBe('active');
    await eventually(async () => (await outbound.endpoint(id)).status === 'failing');
    well = true;
    const deliveries = await outbound.settled(id);
    expect(deliveries.map((delivery) => delivery.status)).toEqual(['delivered', 'delivered']);
    const endpoint = await outbound.endpoint(id);
    expect(endpoint).toMatchObject({ status: 'active', consecutive_failures: 0 });
    expect(Date.parse(endpoint.last_delivery_at!)).toBeGreaterThanOrEqual(began);
  });

  soakTest('can delay the next attempt by at most an hour', 60_000, async () => {
    const asked: Record<string, [number, number]> = {
      '999999999': [3_590_000, 3_600_000],
      '2': [1_900, 2_100],
      '0': [0, BACKOFF_SECONDS * 1000],
      'Fri, 01 Jan 2100 00:00:00 GMT': [3_590_000, 3_600_000],
      soon: [0, BACKOFF_SECONDS * 1000],
      '-5': [0, BACKOFF_SECONDS * 1000],
    };
    for (const [value, [least, most]] of Object.entries(asked)) {
      const { url } = address(status(429, { 'retry-after': value }));
      const { id } = await outbound.register(url);
      await outbound.happen('entity.created', {});
      let delivery: Delivery | undefined;
      await eventually(async () => {
        [delivery] = await outbound.deliveries(id);
        return delivery!.log.length > 0;
      });
      const { started_at, duration_ms } = delivery!.log[0]!;
      const next = Date.parse(delivery!.next_attempt_at!);
      if (delivery!.log.length === 1) {
        expect(next - Date.parse(started_at) - duration_ms).toBeGreaterThanOrEqual(least - 50);
        // It was planned before now.
        expect(next).toBeLessThanOrEqual(Date.now() + most);
      }
      await outbound.call('DELETE', `/${id}`);
    }
    const after = (attempts: number, retryAfterMs?: number) =>
      pauseAfter(attempts, 30_000, { retryAfterMs });
    expect([1, 2, 3, 7, 8, 9].map((n) => after(n) / 1000)).toEqual([30, 60, 120, 1920, 3600, 3600]);
    expect([after(1, 1_000), after(1, 45_000), after(1, 1e15)]).toEqual([
      30_000, 45_000, 3_600_000,
    ]);
  });

  soakTest('fails on a redirect, 410, a hang or a drip, not on a long body', 60_000, async () => {
    const elsewhere = address();
    const drips: NodeJS.Timeout[] = [];
    const cases: Record<string, { behave: Behaviour; error: RegExp | null; code: number | null }> =
      {
        redirect: {
          behave: status(302, { location: elsewhere.url }),
          error: /^Responded with 302/,
          code: 302,
        },
        gone: { behave: status(410), error: /^Responded with 410: this is 410$/, code: 410 },
        hang: {
          behave: (response) => response.writeHead(200).write('a beginning'),
          error: /No full response within 15 s/,
          code: null,
        },
        silence: { behave: () => undefined, error: /No full response within 15 s/, code: null },
        drip: {
          behave: (response) => {
            response.writeHead(200);
            drips.push(setInterval(() => response.write('.'), 500));
          },
          error: /No full response within 15 s/,
          code: null,
        },
        cut: {
          behave: (response) => {
            response.writeHead(200, { 'content-length': '1000' }).write('half');
            setTimeout(() => response.destroy(), 50);
          },
          error: /interrupted its response/,
          code: null,
        },
        huge: {
          behave: (response) => {
            response.writeHead(200);
            const block = Buffer.alloc(1_000_000, 'x');
            const more = () => {
              while (!response.destroyed && response.write(block));
            };
            response.on('drain', more);
            more();
          },
          error: null,
          code: 200,
        },
        hugeError: {
          behave: (response) => response.writeHead(500).end(Buffer.alloc(5_000_000, 'x')),
          error: /^Responded with 500: x{500}$/,
          code: 500,
        },
      };
    const endpoints = await Promise.all(
      Object.values(cases).map(({ behave }) => outbound.register(address(behave).url)),
    );
    await outbound.happen('entity.created', {});
    const logs = await Promise.all(
      endpoints.map(async ({ id }) => {
        let log: Delivery['log'] = [];
        await eventually(async () => {
          log = (await outbound.deliveries(id))[0]!.log;
          return log.length > 0;
        }, 25_000);
        return log[0]!;
      }),
    );
    drips.forEach(clearInterval);
    Object.entries(cases).forEach(([name, { error, code }], n) => {
      const { status_code, error: told } = logs[n]!;
      expect([name, status_code]).toEqual([name, code]);
      if (error === null) expect([name, told]).toEqual([name, null]);
      else expect(told).toMatch(error);
    });
    expect(logs[2]!.duration_ms).toBeGreaterThanOrEqual(14_900);
    expect(elsewhere.seen()).toEqual([]);
  });

  test('fails when unreachable, without details in the error', async () => {
    const closed = await startHttpServer(() => undefined);
    await closed.close();
    const { id } = await outbound.register(closed.url);
    await outbound.happen('entity.created', {});
    await eventually(async () => (await outbound.deliveries(id))[0]!.attempts > 1);
    const { log } = (await outbound.deliveries(id))[0]!;
    expect(log[0]).toMatchObject({
      status_code: null,
      error: `'127.0.0.1:${closed.port}' could not be reached`,
    });
  });
});

describe('redelivery', () => {
  test('retries an ended delivery under the same IDs, and refuses a pending one', async () => {
    let code = 500;
    const { url, seen } = address((response) => response.writeHead(code).end());
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', { n: 1 });
    const path = (delivery: Delivery) => `/${id}/deliveries/${delivery.id}/redeliver`;
    let [delivery] = await outbound.deliveries(id);
    const refused = await outbound.call('POST', path(delivery!));
    expect(refused).toMatchObject({ status: 409 });
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET attempts = 7 WHERE id = ${delivery!.id}`);
    [delivery] = await outbound.settled(id);
    expect(delivery!.status).toBe('dead');
    code = 200;
    const again = await outbound.call('POST', path(delivery!));
    expect(again).toMatchObject({
      status: 200,
      body: { data: { id: delivery!.id, status: 'pending', attempts: 0 } },
    });
    [delivery] = await outbound.settled(id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(delivery!.log.at(-1)).toMatchObject({ round: 2, attempt: 1, status_code: 200 });
    // A successful delivery can be redelivered.
    expect((await outbound.call('POST', path(delivery!))).status).toBe(200);
    [delivery] = await outbound.settled(id);
    expect(delivery!.log.at(-1)).toMatchObject({ round: 3, attempt: 1, status_code: 200 });
    expect(new Set(seen().map((request) => header(request, 'x-service-delivery'))).size).toBe(1);
    expect(new Set(seen().map((request) => request.body)).size).toBe(1);
  }, 60_000);

  soakTest('retries all dead letters since a time, and nothing else', 60_000, async () => {
    let code = 500;
    const { url, seen } = address((response) => response.writeHead(code).end());
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', ...Array.from({ length: 12 }, (_, n) => ({ n })));
    await eventually(() => seen().length >= 12);
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET attempts = 7 WHERE endpoint_id = ${id} AND status = 'pending'`);
    await outbound.settled(id, 30_000);
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET created_at = now() - interval '2 hours'
      WHERE id IN (SELECT id FROM data_deliveries WHERE endpoint_id = ${id} ORDER BY id LIMIT 2)`);
    code = 200;
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { status: answered, body } = await outbound.call('POST', `/${id}/redeliver`, { since });
    expect([answered, body.data]).toEqual([200, { redelivered: 10, left: 0 }]);
    const deliveries = await outbound.settled(id);
    expect(deliveries.map((delivery) => delivery.status).sort()).toEqual([
      'dead',
      'dead',
      ...Array.from({ length: 10 }, () => 'delivered'),
    ]);
    const nothing = await outbound.call('POST', `/${id}/redeliver`, { since });
    expect(nothing.body.data).toEqual({ redelivered: 0, left: 0 });
  });

  test('repeats a period, including what was delivered', async () => {
    const { url, seen } = address();
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', ...Array.from({ length: 6 }, (_, n) => ({ n })));
    const delivered = await outbound.settled(id);
    const [first, second] = delivered;
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET created_at = now() - interval '2 hours' WHERE id = ${first!.id}`);
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET created_at = now() - interval '1 day' WHERE id = ${second!.id}`);
    const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
    const range = { since: hoursAgo(3), until: hoursAgo(1) };
    const ask = (body: object) => outbound.call('POST', `/${id}/redeliver`, body);
    // By default only those that failed.
    expect((await ask(range)).body.data).toEqual({ redelivered: 0, left: 0 });
    expect((await ask({ ...range, status: 'all' })).body.data).toEqual({ redelivered: 1, left: 0 });
    await outbound.settled(id);
    const again = seen().filter((request) => header(request, 'x-service-delivery') === first!.id);
    expect([again.length, seen().length]).toEqual([2, 7]);
    expect(await ask({ since: hoursAgo(1), until: hoursAgo(3) })).toMatchObject({ status: 422 });
    expect(await ask({ ...range, status: 'pending' })).toMatchObject({ status: 422 });
  }, 60_000);

  soakTest('logs every attempt of concurrent calls', 60_000, async () => {
    const { url, seen } = address();
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', {});
    const [delivery] = await outbound.settled(id);
    for (let round = 1; round <= 5; round += 1) {
      const path = `/${id}/deliveries/${delivery!.id}/redeliver`;
      const answers = await Promise.all([1, 2, 3, 4].map(() => outbound.call('POST', path)));
      const taken = answers.filter((answer) => answer.status === 200).length;
      expect(taken).toBeGreaterThanOrEqual(1);
      await outbound.settled(id);
      const [after] = await outbound.deliveries(id);
      expect(after!.log).toHaveLength(seen().length);
    }
  });
});

describe('an endpoint', () => {
  test('gets a ping without a subscription', async () => {
    const { url, seen } = address();
    const { id, secret } = await outbound.register(url);
    const { status: answered, body } = await outbound.call('POST', `/${id}/ping`);
    expect(answered).toBe(201);
    expect(body.data).toMatchObject({ type: 'ping', status: 'pending', log: [] });
    const [delivery] = await outbound.settled(id);
    expect(delivery).toMatchObject({ id: body.data.id, status: 'delivered' });
    expect(JSON.parse(seen()[0]!.body)).toMatchObject({ type: 'ping', data: {} });
    expect(isSigned(seen()[0]!, secret)).toBe(true);
  });

  test('gets both signatures for a day after a rotation', async () => {
    const { url, seen } = address();
    const { id, secret: first } = await outbound.register(url);
    const { body } = await outbound.call('POST', `/${id}/rotate-secret`);
    const { secret: second, previous_secret_until } = body.data;
    expect(second).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(second).not.toBe(first);
    const hours = (Date.parse(previous_secret_until) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(24, 1);
    await outbound.happen('entity.created', {});
    await outbound.settled(id);
    expect(header(seen()[0]!, 'x-service-signature')).toMatch(/^t=\d+,v1=\w{64},v1=\w{64}$/);
    for (const secret of [first, second]) {
      expect(isSigned(seen()[0]!, secret)).toBe(true);
      const { body: raw } = seen()[0]!;
      Stripe.webhooks.constructEvent(raw, header(seen()[0]!, 'x-service-signature'), secret);
    }
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_endpoints SET previous_secret_until = now() WHERE id = ${id}`);
    await outbound.happen('entity.created', {});
    await outbound.settled(id);
    expect(isSigned(seen()[1]!, first)).toBe(false);
    expect(isSigned(seen()[1]!, second)).toBe(true);
  });

  test('deletes its pending deliveries when deleted, and their executions end', async () => {
    const { url, seen } = address(status(500));
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', { n: 1 }, { n: 2 });
    await eventually(async () => (await outbound.deliveries(id)).every((d) => d.attempts >= 3));
    const [delivery] = await outbound.deliveries(id);
    expect((await outbound.call('DELETE', `/${id}`)).status).toBe(204);
    expect((await outbound.call('GET', `/${id}/deliveries`)).status).toBe(404);
    const left = await outbound.engine.db.any(sql.unsafe`
      SELECT 1 FROM data_deliveries WHERE endpoint_id = ${id}
      UNION ALL SELECT 1 FROM data_permits WHERE endpoint_id = ${id}`);
    expect(left).toEqual([]);
    const sent = seen().length;
    const handle = outbound.engine.deps.temporal.client.workflow.getHandle(
      `delivery-${delivery!.id}-1`,
    );
    expect(await handle.result()).toBe('gone');
    expect(seen()).toHaveLength(sent);
  }, 30_000);

  soakTest('leaves no pending deliveries when deleted during events', 60_000, async () => {
    for (let round = 0; round < raceRounds(15); round += 1) {
      const { url } = address();
      const { id } = await outbound.register(url);
      await Promise.all([
        ...Array.from({ length: 6 }, (_, n) => outbound.happen('entity.created', { n }, { n })),
        pause(round * 4).then(() => outbound.call('DELETE', `/${id}`)),
      ]);
      const left = await outbound.engine.db.any(sql.unsafe`
        SELECT 1 FROM data_deliveries WHERE endpoint_id = ${id} AND status = 'pending'`);
      expect(left).toEqual([]);
    }
  });

  test('is not called when its address becomes private', async () => {
    const { url, seen } = address();
    const { id } = await outbound.register(url);
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_endpoints SET url = 'http://10.0.0.1/' WHERE id = ${id}`);
    await outbound.happen('entity.created', {});
    await eventually(async () => (await outbound.deliveries(id))[0]!.attempts > 0);
    expect((await outbound.deliveries(id))[0]!.log[0]).toMatchObject({
      status_code: null,
      error: "The address of '10.0.0.1' is not allowed",
    });
    expect(seen()).toEqual([]);
  });

  soakTest('has at most 10,000 pending deliveries, and then dead letters', 60_000, async () => {
    const { url } = address(() => undefined);
    const { id } = await outbound.register(url);
    const many = (count: number) => Array.from({ length: count }, (_, n) => ({ n }));
    expect(await outbound.happen('entity.created', ...many(9_990))).toBe(9_990);
    expect(await outbound.happen('entity.created', ...many(30))).toBe(30);
    const dead = await outbound.deliveries(id, 'status=dead&limit=100');
    expect(dead).toHaveLength(20);
    expect(dead[0]).toMatchObject({
      status: 'dead',
      reason: 'More than 10000 deliveries of this endpoint are pending',
      attempts: 0,
      log: [],
    });
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { body } = await outbound.call('POST', `/${id}/redeliver`, { since });
    expect(body.data).toEqual({ redelivered: 0, left: 20 });
    await outbound.engine.db.query(sql.unsafe`
      DELETE FROM data_deliveries WHERE id IN (
        SELECT id FROM data_deliveries WHERE endpoint_id = ${id} AND status = 'pending' LIMIT 5)`);
    const some = await outbound.call('POST', `/${id}/redeliver`, { since });
    expect(some.body.data).toEqual({ redelivered: 5, left: 15 });
  });
});

soakDescribe('a hanging endpoint', () => {
  test('has at most eight attempts in flight, and slows no other', async () => {
    let open = 0;
    let most = 0;
    const hanging = address((response) => {
      open += 1;
      most = Math.max(most, open);
      response.on('close', () => (open -= 1));
    });
    let told = 0;
    const healthy = (response: ServerResponse) => {
      told += 1;
      response.end();
    };
    const endpoints = await Promise.all(
      Array.from({ length: 20 }, () => outbound.register(address(healthy).url, ['entity.updated'])),
    );
    const { id } = await outbound.register(hanging.url);
    await outbound.happen('entity.created', ...Array.from({ length: 60 }, (_, n) => ({ n })));
    await eventually(() => open >= 6);
    await outbound.happen('entity.updated', {});
    // Before any attempt at the hanging endpoint can have timed out.
    await eventually(() => told === endpoints.length, 12_000);
    expect(open).toBeGreaterThanOrEqual(6);
    // Covers the timeouts of the first attempts, and the second attempts.
    await pause(18_000);
    expect(most).toBeLessThanOrEqual(8);
    expect(most).toBeGreaterThanOrEqual(6);
    expect((await outbound.deliveries(id)).filter((d) => d.log.length > 0).length).toBeGreaterThan(
      5,
    );
  }, 60_000);

  test('has one attempt limit over all workers', async () => {
    const { engine } = outbound;
    const { url } = address(() => undefined);
    const { id } = await outbound.register(url, ['entity.updated']);
    await engine.db.query(sql.unsafe`
      INSERT INTO outbound_events (id, workspace_id, type, data)
      VALUES ('oevt_places', ${outbound.workspaceId}, 'entity.updated', '{}')`);
    await engine.db.query(sql.unsafe`
      INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, started, next_attempt_at)
      SELECT 'dlv_places_' || n, ${outbound.workspaceId}, ${id}, 'oevt_places', true, now()
      FROM generate_series(1, 40) n`);
    const scope = (n: number) => ({
      workspaceId: outbound.workspaceId,
      deliveryId: `dlv_places_${n}`,
      round: 1,
    });
    for (let round = 0; round < raceRounds(10); round += 1) {
      const claims = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          claimDelivery(engine.db, scope(n + 1), `claim-${round}-${n}`),
        ),
      );
      const permitted = claims.filter((claim) => claim!.permitted).length;
      expect(permitted).toBeGreaterThanOrEqual(1);
      expect(permitted).toBeLessThanOrEqual(8);
      const held = await engine.db.oneFirst(sql.unsafe`
        SELECT count(*)::int FROM data_permits WHERE endpoint_id = ${id} AND until > now()`);
      expect(held).toBe(permitted);
      await engine.db.query(sql.unsafe`
        UPDATE data_permits SET until = '-infinity' WHERE endpoint_id = ${id}`);
    }
  }, 30_000);
});

describe('internal errors', () => {
  soakTest('do not count as failures: a delivery waits for a readable secret', async () => {
    const { url, seen } = address();
    const { id } = await outbound.register(url);
    const { secret } = await outbound.engine.db.one(sql.type(z.object({ secret: z.string() }))`
      SELECT secret FROM data_endpoints WHERE id = ${id}`);
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_endpoints SET secret = 's1.other.key' WHERE id = ${id}`);
    await outbound.happen('entity.created', {});
    await eventually(async () => {
      const faults = await outbound.engine.db.oneFirst(sql.unsafe`
        SELECT faults FROM data_deliveries WHERE endpoint_id = ${id}`);
      return Number(faults) >= 2;
    });
    expect((await outbound.deliveries(id))[0]).toMatchObject({ attempts: 0, log: [] });
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_endpoints SET secret = ${secret} WHERE id = ${id}`);
    const [delivery] = await outbound.settled(id);
    expect(delivery).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(seen()).toHaveLength(1);
  });

  test('a late failure of an older attempt does not flag a recovered endpoint', async () => {
    const { engine, workspaceId } = outbound;
    const { url } = address(() => undefined);
    const { id } = await outbound.register(url, ['entity.updated']);
    await engine.db.query(sql.unsafe`
      UPDATE data_endpoints SET consecutive_failures = 4 WHERE id = ${id}`);
    await engine.db.query(sql.unsafe`
      INSERT INTO outbound_events (id, workspace_id, type, data)
      VALUES ('oevt_late', ${workspaceId}, 'entity.updated', '{}')`);
    await engine.db.query(sql.unsafe`
      INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, started, next_attempt_at)
      SELECT 'dlv_late_' || n, ${workspaceId}, ${id}, 'oevt_late', true, now() FROM generate_series(1, 2) n`);
    const scope = (n: number) => ({ workspaceId, deliveryId: `dlv_late_${n}`, round: 1 });
    const older = await claimDelivery(engine.db, scope(1), 'older');
    const newer = await claimDelivery(engine.db, scope(2), 'newer');
    const end = { durationMs: 1, statusCode: null, nextInMs: 3_000_000 };
    await recordAttempt(engine.db, scope(2), {
      ...end,
      claim: 'newer',
      startedAt: newer!.started_at,
      error: null,
    });
    const late = await recordAttempt(engine.db, scope(1), {
      ...end,
      nextInMs: 0,
      claim: 'older',
      startedAt: older!.started_at,
      error: 'timed out',
    });
    expect(late).toEqual({ status: 'pending', attempts: 1 });
    expect(await outbound.endpoint(id)).toMatchObject({
      status: 'active',
      consecutive_failures: 0,
    });
    // Of two attempts of one delivery, the later one counts.
    await claimDelivery(engine.db, scope(1), 'third');
    const overtaken = { ...end, claim: 'older', startedAt: older!.started_at, error: 'again' };
    expect(await recordAttempt(engine.db, scope(1), overtaken)).toBeUndefined();
  });

  soakDescribe('an attempt that Temporal considers lost', () => {
    const { round, end } = {
      round: 1,
      end: { durationMs: 1, statusCode: 500, error: 'the endpoint answered 500' },
    };
    /** A delivery without an execution, with its attempt `first` in flight. */
    const underWay = async (name: string) => {
      const { engine, workspaceId } = outbound;
      const { id } = await outbound.register(address().url, ['entity.updated']);
      await engine.db.query(sql.unsafe`
        INSERT INTO outbound_events (id, workspace_id, type, data)
        VALUES (${`oevt_${name}`}, ${workspaceId}, 'entity.updated', '{}')`);
      await engine.db.query(sql.unsafe`
        INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, started, next_attempt_at)
        VALUES (${`dlv_${name}`}, ${workspaceId}, ${id}, ${`oevt_${name}`}, true, now())`);
      const scope = { workspaceId, deliveryId: `dlv_${name}`, round };
      const first = await claimDelivery(engine.db, scope, 'first');
      return { scope, startedAt: first!.started_at };
    };

    test('keeps the pause before the next one if it records its failure', async () => {
      const { db } = outbound.engine;
      const { scope, startedAt } = await underWay('stalled');
      await recordAttempt(db, scope, { ...end, claim: 'first', startedAt, nextInMs: 30_000 });
      const early = await claimDelivery(db, scope, 'second');
      expect(early).toMatchObject({ permitted: false, attempts: 0 });
      expect(early!.due_in_ms).toBeGreaterThan(20_000);
      expect(early!.due_in_ms).toBeLessThanOrEqual(30_000);
      await db.query(sql.unsafe`
        UPDATE data_deliveries SET next_attempt_at = now() WHERE id = ${scope.deliveryId}`);
      expect(await claimDelivery(db, scope, 'second')).toMatchObject({
        due_in_ms: 0,
        permitted: true,
        attempts: 1,
      });
    });

    test('either counts or is overtaken, in any order of locks', async () => {
      const { db } = outbound.engine;
      const seen = { early: 0, overtaken: 0 };
      for (let n = 0; n < 60; n += 1) {
        const { scope, startedAt } = await underWay(`race_${n}`);
        const record = () =>
          recordAttempt(db, scope, { ...end, claim: 'first', startedAt, nextInMs: 30_000 });
        const claim = () => claimDelivery(db, scope, 'second');
        const [recorded, second] =
          n % 2 === 0
            ? await Promise.all([record(), claim()])
            : ((await Promise.all([claim(), record()])).toReversed() as [
                Awaited<ReturnType<typeof record>>,
                Awaited<ReturnType<typeof claim>>,
              ]);
        expect([recorded !== undefined, second!.due_in_ms > 0]).toEqual(
          second!.permitted ? [false, false] : [true, true],
        );
        seen[second!.permitted ? 'overtaken' : 'early'] += 1;
        await outbound.call('DELETE', `/${second!.endpoint_id}`);
      }
      expect(seen.early + seen.overtaken).toBe(60);
      // A result that commits while the next attempt waits for the row.
      const { scope, startedAt } = await underWay('waiting');
      const recorded = Promise.withResolvers<undefined>();
      const commit = Promise.withResolvers<undefined>();
      const held = db.transaction(async (tx) => {
        await recordAttempt(tx, scope, { ...end, claim: 'first', startedAt, nextInMs: 30_000 });
        recorded.resolve(undefined);
        await commit.promise;
      });
      await recorded.promise;
      const waiting = claimDelivery(db, scope, 'second');
      await pause(200);
      commit.resolve(undefined);
      await held;
      expect((await waiting)!.due_in_ms).toBeGreaterThan(20_000);
    }, 60_000);
  });

  soakTest('a delivery with a lost execution gets another one', async () => {
    let well = false;
    const { url, seen } = address((response) => response.writeHead(well ? 200 : 500).end());
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', {});
    await eventually(async () => (await outbound.deliveries(id))[0]!.attempts === 4);
    const [delivery] = await outbound.deliveries(id);
    const { client } = outbound.engine.deps.temporal;
    await client.workflow.getHandle(`delivery-${delivery!.id}-1`).terminate('by hand');
    const sent = seen().length;
    await pause(2_000);
    expect(await requeueLost(outbound.engine.db, 10)).toBe(0);
    well = true;
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET next_attempt_at = now() - interval '16 minutes' WHERE id = ${delivery!.id}`);
    expect(await requeueLost(outbound.engine.db, 10)).toBe(1);
    const [after] = await outbound.settled(id);
    expect(after).toMatchObject({ status: 'delivered' });
    expect(after!.log.at(-1)).toMatchObject({ round: 2, status_code: 200 });
    expect(seen()).toHaveLength(sent + 1);
  });

  test('a sweep removes deliveries older than thirty days', async () => {
    const { url } = address();
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', { n: 1 }, { n: 2 }, { n: 3 });
    const deliveries = await outbound.settled(id);
    const age = (event: string, days: number) =>
      outbound.engine.db.query(sql.unsafe`
        UPDATE outbound_events SET created_at = now() - ${days}::int * interval '1 day' WHERE id = ${event}`);
    await age(deliveries[0]!.event_id, 31);
    await age(deliveries[1]!.event_id, 29);
    const window = { workspaceId: outbound.workspaceId, days: 30 };
    expect(await deleteExpiredOutbound(outbound.engine.db, window)).toBe(1);
    expect(await deleteExpiredOutbound(outbound.engine.db, window)).toBe(0);
    expect((await outbound.deliveries(id)).map((delivery) => delivery.id).sort()).toEqual(
      deliveries
        .slice(1)
        .map((delivery) => delivery.id)
        .sort(),
    );
    const logs = await outbound.engine.db.oneFirst(sql.unsafe`
      SELECT count(*)::int FROM data_delivery_attempts WHERE delivery_id = ${deliveries[0]!.id}`);
    expect(logs).toBe(0);
  });
});

soakTest(
  'a killed worker between a request and its record: another repeats it under the same ID',
  120_000,
  async () => {
    const apart = await startOutbound({ worker: false });
    const answers: ServerResponse[] = [];
    const { url, seen } = address((response) => {
      answers.push(response);
      // The first request stays open until its worker is dead; the second is answered.
      if (answers.length > 1) response.end();
    });
    const first = await startWorkerProcess(apart.engine.env);
    let second;
    try {
      const { id } = await apart.register(url);
      await apart.happen('entity.created', { n: 1 });
      await eventually(() => seen().length === 1, 20_000);
      await first.kill();
      second = await startWorkerProcess(apart.engine.env);
      const [delivery] = await apart.settled(id, 45_000);
      expect(delivery).toMatchObject({ status: 'delivered', attempts: 1 });
      const requests = seen();
      expect(requests).toHaveLength(2);
      expect(requests[1]!.body).toBe(requests[0]!.body);
      expect(header(requests[1]!, 'x-service-delivery')).toBe(delivery!.id);
      expect(header(requests[0]!, 'x-service-delivery')).toBe(delivery!.id);
      expect((await apart.endpoint(id)).consecutive_failures).toBe(0);
    } finally {
      await first.kill();
      await second?.stop();
      await apart.close();
    }
  },
);

test('a signature covers time and body, with each secret', async () => {
  const body = Buffer.from('{"id":"é"}');
  const hmac = (secret: string) =>
    createHmac('sha256', secret)
      .update(Buffer.concat([Buffer.from('1700000000.'), body]))
      .digest('hex');
  expect(await signDelivery(body, ['whsec_a', 'whsec_b'], 1_700_000_000_999)).toBe(
    `t=1700000000,v1=${hmac('whsec_a')},v1=${hmac('whsec_b')}`,
  );
});
