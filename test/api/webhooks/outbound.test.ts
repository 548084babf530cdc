import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
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
    [{ ...good, url: 'ftp://example.com' }, /url must be a URL that starts with http/],
    [{ ...good, url: '/hook' }, /url must be a URL that starts with http/],
    [{ ...good, url: 'http://me:pw@example.com' }, /url must not contain a user name or password/],
    [{ ...good, url: 'http://me@example.com' }, /url must not contain a user name or password/],
    [{ ...good, events: ['ping', 'ping'] }, /events must not name an event twice/],
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

  test('accepts a hostname that does not resolve', async () => {
    const { status } = await outbound.call('POST', '', {
      ...good,
      url: 'https://no-such.invalid/',
    });
    expect(status).toBe(201);
  });

  test('is refused for a private hostname, and without ENCRYPTION_KEY', async () => {
    const env = { EGRESS_ALLOW: '', ENCRYPTION_KEY: '' };
    const keyless = await startOutbound({ worker: false, env });
    try {
      const at = (host: string) => keyless.call('POST', '', { ...good, url: `https://${host}/` });
      expect(await at('localhost:8080')).toMatchObject({
        status: 422,
        body: { detail: expect.stringContaining('not allowed') },
      });
      expect(await at('no-such.invalid')).toMatchObject({
        status: 422,
        body: {
          detail:
            'Invalid body: a secret cannot be stored, since ENCRYPTION_KEY is not set on this service',
        },
      });
    } finally {
      await keyless.close();
    }
  });
});

test('an endpoint of the other mode gets the same 404 as an unknown one', async () => {
  const { id } = await outbound.register(url);
  await outbound.happen('entity.created', {});
  const [delivery] = await outbound.deliveries(id);
  const mine = await outbound.register(url);
  for (const [method, path, body] of [
    ['DELETE', ''],
    ['POST', '/ping'],
    ['GET', '/deliveries'],
    ['POST', `/deliveries/${delivery!.id}/redeliver`],
    ['POST', '/redeliver', { since: '2020-01-01T00:00:00Z' }],
    ['POST', '/rotate-secret'],
  ] as const) {
    const answer = await outbound.call(method, `/${id}${path}`, body, { isDemo: true });
    expect([path, answer.status, answer.body]).toEqual([
      path,
      404,
      { detail: 'Webhook endpoint not found' },
    ]);
  }
  const path = `/${mine.id}/deliveries/${delivery!.id}/redeliver`;
  expect(await outbound.call('POST', path)).toEqual({
    status: 404,
    body: { detail: 'Delivery not found' },
  });
  expect(await outbound.deliveries(id)).toEqual([delivery]);
  expect((await outbound.call('GET', '', undefined, { isDemo: true })).body.data).toEqual([]);
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

  test.each([undefined, {}])('can all be retried with body %j', async (body) => {
    const { id } = await outbound.register(url);
    const answer = await outbound.call('POST', `/${id}/redeliver`, body);
    expect([answer.status, answer.body.data]).toEqual([200, { redelivered: 0, left: 0 }]);
  });
});
