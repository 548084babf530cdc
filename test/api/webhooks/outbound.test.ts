import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type Outbound, startOutbound } from '#test/support/outbound.ts';

let outbound: Outbound;
beforeAll(async () => {
  outbound = await startOutbound({ worker: false });
});
afterAll(() => outbound.close());
afterEach(async () => {
  await outbound.engine.db.query(sql.unsafe`DELETE FROM data_endpoints`);
});

const url = 'http://127.0.0.1:9/hook';
const good = { url, events: ['entity.created'] };
const endpointIds = async (isDemo = false) => {
  const { body } = await outbound.call('GET', '?limit=100', undefined, { isDemo });
  return (body.data as { id: string }[]).map(({ id }) => id);
};

describe('registering an endpoint', () => {
  test('returns the secret, which appears nowhere else', async () => {
    const events = ['entity.created', 'export.completed'];
    const { status, body } = await outbound.call('POST', '', { url, events });
    expect(status).toBe(201);
    expect(body.data).toEqual({
      id: expect.stringMatching(/^end_/),
      url,
      events,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      created_at: expect.any(String),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const listed = await outbound.call('GET', '?limit=100');
    const { secret, ...shown } = body.data;
    expect(listed.body).toMatchObject({
      data: [shown],
      pagination: { next_cursor: null },
      meta: { schema_version: '2026-07-01', credits_consumed: 0 },
    });
    expect(JSON.stringify(listed.body)).not.toContain(secret);
    const kept = await outbound.engine.db.oneFirst(sql.unsafe`
      SELECT (SELECT row_to_json(e)::text FROM data_endpoints e WHERE id = ${shown.id})
             || (SELECT string_agg(row_to_json(a)::text, '') FROM audit_log a)`);
    expect(kept).not.toContain(secret);
  });

  test.each([
    [undefined, 'Invalid body: a JSON object is required'],
    [{}, 'Invalid body: url is required; events is required'],
    [{ ...good, url: 'ftp://example.com' }, /url must be a URL that starts with http/],
    [{ ...good, url: '/hook' }, /url must be a URL that starts with http/],
    [{ ...good, url: 'http://me:pw@example.com' }, /url must not contain a user name or password/],
    [{ ...good, url: 'http://me@example.com' }, /url must not contain a user name or password/],
    [{ ...good, url: `http://example.com/${'x'.repeat(2_000)}` }, /^Invalid body: url/],
    [{ ...good, events: [] }, /^Invalid body: events/],
    [{ ...good, events: ['entity.deleted'] }, /^Invalid body: events/],
    [{ ...good, events: ['ping', 'ping'] }, /events must not name an event twice/],
    [{ ...good, events: 'ping' }, /events must be an array/],
    [{ ...good, secret: 'whsec_mine' }, "Invalid body: unknown field 'secret'"],
  ])('refuses %j', async (body, detail) => {
    const answer = await outbound.call('POST', '', body);
    expect(answer.status).toBe(422);
    if (typeof detail === 'string') expect(answer.body.detail).toBe(detail);
    else expect(answer.body.detail).toMatch(detail);
    expect(await endpointIds()).toEqual([]);
  });

  test.each([
    'http://10.0.0.1/',
    'http://[::1]/',
    'http://169.254.169.254/latest',
    'http://0x0a000001/',
    'http://[::ffff:192.168.1.1]/',
    'https://100.64.0.1/',
  ])('refuses the private address %s', async (address) => {
    const { status, body } = await outbound.call('POST', '', { ...good, url: address });
    expect(status).toBe(422);
    expect(body.detail).toMatch(/^Invalid body: url: The address of '.+' is not allowed$/);
  });

  test('refuses a hostname with a private address and accepts one that does not resolve', async () => {
    const strict = await startOutbound({ worker: false, env: { EGRESS_ALLOW: '' } });
    try {
      const local = await strict.call('POST', '', { ...good, url: 'http://localhost:8080/' });
      expect(local.status).toBe(422);
      const unknown = await strict.call('POST', '', { ...good, url: 'https://no-such.invalid/' });
      expect(unknown.status).toBe(201);
    } finally {
      await strict.close();
    }
  });

  test('is refused without ENCRYPTION_KEY', async () => {
    const keyless = await startOutbound({ worker: false, env: { ENCRYPTION_KEY: '' } });
    try {
      const { status, body } = await keyless.call('POST', '', good);
      expect([status, body.detail]).toEqual([
        422,
        'Invalid body: a secret cannot be stored, since ENCRYPTION_KEY is not set on this service',
      ]);
    } finally {
      await keyless.close();
    }
  });

  test('allows 50 per mode, also with concurrent registrations', async () => {
    const answers = await Promise.all(
      Array.from({ length: 60 }, () => outbound.call('POST', '', good)),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    expect(await endpointIds()).toHaveLength(50);
    expect((await outbound.call('POST', '', good, { isDemo: true })).status).toBe(201);
  });
});

describe('an endpoint of another workspace or mode', () => {
  test('gets the same 404 as an unknown one', async () => {
    const { id } = await outbound.register(url);
    await outbound.happen('entity.created', {});
    const [delivery] = await outbound.deliveries(id);
    const mine = await outbound.register(url);
    const workspaceId = newId('workspace');
    await outbound.engine.db.query(sql.type(z.object({}))`
      INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'Other')`);
    const since = '2020-01-01T00:00:00Z';
    const acts = (target: string): [string, string, unknown?][] => [
      ['DELETE', `/${target}`],
      ['POST', `/${target}/ping`],
      ['GET', `/${target}/deliveries`],
      ['POST', `/${target}/deliveries/${delivery!.id}/redeliver`],
      ['POST', `/${target}/redeliver`, { since }],
      ['POST', `/${target}/rotate-secret`],
    ];
    const strangers = [{ workspaceId }, { isDemo: true }];
    for (const [method, path, body] of acts(id)) {
      for (const stranger of strangers) {
        const { status, body: told } = await outbound.call(method, path, body, stranger);
        expect([path, status, told]).toEqual([path, 404, { detail: 'Webhook endpoint not found' }]);
      }
    }
    for (const [method, path, body] of acts('end_00000000000000000000000000')) {
      expect((await outbound.call(method, path, body)).status).toBe(404);
    }
    const path = `/${mine.id}/deliveries/${delivery!.id}/redeliver`;
    expect(await outbound.call('POST', path)).toEqual({
      status: 404,
      body: { detail: 'Delivery not found' },
    });
    expect(await outbound.deliveries(id)).toEqual([delivery]);
    for (const stranger of strangers) {
      expect((await outbound.call('GET', '', undefined, stranger)).body.data).toEqual([]);
    }
  });
});

describe('deliveries', () => {
  test('are paged newest first and filtered by status', async () => {
    const { id } = await outbound.register(url);
    for (let n = 0; n < 25; n += 1) await outbound.happen('entity.created', { n });
    await outbound.engine.db.query(sql.unsafe`
      UPDATE data_deliveries SET status = (ARRAY['pending', 'delivered', 'dead'])[1 + n % 3]
      FROM (SELECT id, row_number() OVER (ORDER BY id)::int AS n FROM data_deliveries WHERE endpoint_id = ${id}) o
      WHERE o.id = data_deliveries.id`);
    const all = (await outbound.deliveries(id)).map((delivery) => delivery.id);
    expect(all).toHaveLength(25);
    const walk = async (query: string) => {
      const seen: string[] = [];
      let cursor: string | null = null;
      do {
        const next: string = cursor === null ? '' : `&cursor=${cursor}`;
        const { status, body } = await outbound.call('GET', `/${id}/deliveries?${query}${next}`);
        expect(status).toBe(200);
        seen.push(...body.data.map((delivery: { id: string }) => delivery.id));
        cursor = body.pagination.next_cursor;
      } while (cursor !== null);
      return seen;
    };
    expect(await walk('limit=1')).toEqual(all);
    expect(await walk('limit=7')).toEqual(all);
    const parts = await Promise.all(
      ['pending', 'delivered', 'dead'].map((status) => walk(`limit=4&status=${status}`)),
    );
    expect(parts.map((part) => part.length).sort()).toEqual([8, 8, 9]);
    expect(parts.flat().sort()).toEqual([...all].sort());
    for (const part of parts) expect(part).toEqual(all.filter((each) => part.includes(each)));
  });

  test.each(['limit=0', 'limit=101', 'limit=abc', 'status=lost', 'cursor=nonsense', 'n=1'])(
    'cannot be listed with ?%s',
    async (query) => {
      const { id } = await outbound.register(url);
      expect((await outbound.call('GET', `/${id}/deliveries?${query}`)).status).toBe(400);
    },
  );

  test.each([undefined, {}])('can all be retried with body %j', async (body) => {
    const { id } = await outbound.register(url);
    const answer = await outbound.call('POST', `/${id}/redeliver`, body);
    expect([answer.status, answer.body.data]).toEqual([200, { redelivered: 0, left: 0 }]);
  });

  test.each([{ since: 'yesterday' }, { since: '2026-11-20T00:00:00' }, { since: 1 }])(
    'cannot be retried with body %j',
    async (body) => {
      const { id } = await outbound.register(url);
      expect((await outbound.call('POST', `/${id}/redeliver`, body)).status).toBe(422);
    },
  );
});

test('each change writes one audit entry with the name of the key', async () => {
  await outbound.engine.db.query(sql.unsafe`DELETE FROM outbound_events`);
  const { id } = await outbound.register(url, ['entity.updated']);
  const { body } = await outbound.call('POST', `/${id}/ping`);
  const deliveryId = body.data.id as string;
  await outbound.engine.db.query(sql.unsafe`
    UPDATE data_deliveries SET status = 'dead' WHERE id = ${deliveryId}`);
  await outbound.call('POST', `/${id}/deliveries/${deliveryId}/redeliver`);
  // Refused, so it leaves no entry.
  await outbound.call('POST', `/${id}/deliveries/${deliveryId}/redeliver`);
  const since = '2026-01-01T00:00:00.000Z';
  await outbound.call('POST', `/${id}/redeliver`, { since });
  await outbound.call('POST', `/${id}/rotate-secret`);
  await outbound.call('DELETE', `/${id}`);
  await outbound.call('DELETE', `/${id}`);
  const entry = z.object({ action: z.string(), by: z.string(), details: z.unknown() });
  const entries = await outbound.engine.db.any(sql.type(entry)`
    SELECT action, actor_name || coalesce(actor_id, '') AS by, details
    FROM audit_log WHERE target_id = ${id} ORDER BY seq`);
  expect(entries.map(({ action, details }) => [action, details])).toEqual([
    ['data_webhook_create', { events: ['entity.updated'] }],
    ['data_webhook_ping', { delivery: deliveryId }],
    ['data_webhook_redeliver', { delivery: deliveryId }],
    ['data_webhook_redeliver_all', { since, redelivered: 0 }],
    ['data_webhook_rotate', {}],
    ['data_webhook_delete', { pending: 1 }],
  ]);
  expect(new Set(entries.map(({ by }) => by))).toEqual(new Set(['Tests']));
});
