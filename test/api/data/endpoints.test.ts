import { afterEach, describe, expect, test } from '@jest/globals';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { sql } from '#shared/db/pool.ts';
import { addDataKey } from './data-key.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';

// Webhook endpoints as members manage them: both modes, changes, deliveries by id. The endpoints of keys are in
// outbound.test.ts, deliveries in engine/deliveries.test.ts.

const api = useTestApi({
  ENCRYPTION_KEY: 'a key for the tests alone',
  EGRESS_ALLOW: '127.0.0.0/8',
});
afterEach(async () => {
  await run(sql.fragment`DELETE FROM data_endpoints`);
});

const base = '/api/webhooks';
const url = 'http://127.0.0.1:9/hook';
const good = { url, events: ['entity.created'] };
const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const register = async (fields: object = {}) => {
  const { status, body } = await api.call('POST', base, { ...good, ...fields });
  expect(status).toBe(201);
  return body;
};
const happen = (isDemo = false) =>
  queueEvents(api.db, api.workspaceId, [{ type: 'entity.created', isDemo, data: {} }]);
const deliveriesOf = async (id: string, query = 'limit=100') =>
  (await api.call('GET', `${base}/${id}/deliveries?${query}`)).body;

describe('registering an endpoint', () => {
  test('returns the secret, which appears nowhere else', async () => {
    const { status, body, headers } = await api.call('POST', base, good);
    expect([status, headers['location']]).toEqual([201, `${base}/${body.id}`]);
    expect(body).toEqual({
      id: expect.stringMatching(/^end_/),
      ...good,
      is_demo: false,
      status: 'active',
      consecutive_failures: 0,
      last_delivery_at: null,
      created_at: expect.any(String),
      etag: expect.any(String),
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { secret, ...shown } = body;
    expect((await api.call('GET', `${base}/${body.id}`)).body).toEqual(shown);
    expect((await api.call('GET', base)).body).toEqual([shown]);
    const kept = await api.db.oneFirst(sql.unsafe`
      SELECT (SELECT row_to_json(e)::text FROM data_endpoints e WHERE id = ${body.id})
             || (SELECT string_agg(row_to_json(a)::text, '') FROM audit_log a)`);
    expect(kept).not.toContain(secret);
  });

  test('allows 50 per mode, also when members and keys register concurrently', async () => {
    const { headers } = await addDataKey(api);
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, n) =>
        n % 2 === 0
          ? api.call('POST', base, good)
          : api.call('POST', '/v1/webhooks', good, headers),
      ),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(50);
    expect(statuses.filter((status) => status === 409)).toHaveLength(10);
    for (let n = 0; n < 50; n += 1) await register({ is_demo: true });
    expect((await api.call('POST', base, { ...good, is_demo: true })).status).toBe(409);
    const listed = (await api.call('GET', base)).body as { is_demo: boolean }[];
    expect(listed.map(({ is_demo }) => is_demo).filter(Boolean)).toHaveLength(50);
    expect(listed).toHaveLength(100);
  });
});

test('members see the endpoints of all keys; keys see those of members in their mode', async () => {
  const live = await addDataKey(api);
  const testing = await addDataKey(api, { mode: 'test' });
  const mine = await register();
  const madeUp = await register({ is_demo: true });
  const theirs = (await api.call('POST', '/v1/webhooks', good, live.headers)).body.data;
  const ids = (rows: { id: string }[]) => rows.map(({ id }) => id).sort();
  const { body: all } = await api.call('GET', base);
  expect(ids(all)).toEqual(ids([mine, madeUp, theirs]));
  const seen = async (headers: Record<string, string>) =>
    ids((await api.call('GET', '/v1/webhooks', undefined, headers)).body.data);
  expect(await seen(live.headers)).toEqual(ids([mine, theirs]));
  expect(await seen(testing.headers)).toEqual([madeUp.id]);
  expect(theirs).not.toHaveProperty('is_demo');
  expect((await api.call('DELETE', `${base}/${theirs.id}`)).status).toBe(204);
  expect(await seen(live.headers)).toEqual([mine.id]);
});

describe('changing an endpoint', () => {
  const change = (id: string, body: object) => api.call('PUT', `${base}/${id}`, body);

  test('updates only the given fields and keeps pending deliveries', async () => {
    const { id, secret: _secret, ...before } = await register();
    await happen();
    const moved = await change(id, { url: 'http://127.0.0.1:9/other' });
    expect([moved.status, moved.body]).toEqual([
      200,
      { id, ...before, url: 'http://127.0.0.1:9/other', etag: expect.any(String) },
    ]);
    const events = ['entity.updated', 'source.failed'];
    expect((await change(id, { events })).body).toMatchObject({ url: moved.body.url, events });
    expect((await change(id, {})).body).toMatchObject({ url: moved.body.url, events });
    await happen();
    expect((await deliveriesOf(id)).deliveries).toHaveLength(1);
  });

  test.each([
    [{ url: 'http://10.0.0.1/' }, /url: The address of/],
    [{ events: ['ping', 'ping'] }, /events must not name an event twice/],
  ])('refuses %j', async (body, detail) => {
    const { id, secret: _secret, ...before } = await register();
    const answer = await change(id, body);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    expect((await api.call('GET', `${base}/${id}`)).body).toEqual({ id, ...before });
  });

  test('keeps both fields of two concurrent updates', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const { id } = await register();
      const events = ['entity.updated'];
      await Promise.all([change(id, { url: `${url}/${round}` }), change(id, { events })]);
      const { body } = await api.call('GET', `${base}/${id}`);
      expect([body.url, body.events]).toEqual([`${url}/${round}`, events]);
      await api.call('DELETE', `${base}/${id}`);
    }
  });
});

describe('deliveries', () => {
  test('are paged, filtered by status, and read by ID with their attempts', async () => {
    const { id } = await register({ is_demo: true });
    for (let n = 0; n < 9; n += 1) await happen(true);
    await happen(false);
    await run(sql.fragment`
      UPDATE data_deliveries SET status = (ARRAY['pending', 'delivered', 'dead'])[1 + n % 3], attempts = 1
      FROM (SELECT id, row_number() OVER (ORDER BY id)::int AS n FROM data_deliveries WHERE endpoint_id = ${id}) o
      WHERE o.id = data_deliveries.id`);
    await run(sql.fragment`
      INSERT INTO data_delivery_attempts (delivery_id, round, attempt, started_at, duration_ms, status_code, error)
      SELECT id, round, 1, now(), 5, 500, 'Answered 500' FROM data_deliveries WHERE endpoint_id = ${id}`);
    const { deliveries, next_cursor } = await deliveriesOf(id);
    expect([deliveries.length, next_cursor]).toEqual([9, null]);
    expect(deliveries[0].log).toMatchObject([{ attempt: 1, status_code: 500 }]);
    for (const query of ['limit=2', 'limit=2&status=dead']) {
      const ids: string[] = [];
      for (let cursor: string | null = ''; cursor !== null;) {
        const page = await deliveriesOf(id, `${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
        ids.push(...page.deliveries.map((each: { id: string }) => each.id));
        cursor = page.next_cursor;
      }
      const wanted = deliveries.filter(
        (each: { status: string }) => !query.includes('dead') || each.status === 'dead',
      );
      expect(ids).toEqual(wanted.map((each: { id: string }) => each.id));
    }
    for (const delivery of deliveries) {
      const one = await api.call('GET', `${base}/${id}/deliveries/${delivery.id}`);
      expect([one.status, one.body]).toEqual([200, delivery]);
    }
  });

  test('can be retried singly or all failed ones together; a ping creates one', async () => {
    const { id } = await register();
    await happen();
    await happen();
    const ping = await api.call('POST', `${base}/${id}/ping`);
    expect([ping.status, ping.body.type, ping.body.status]).toEqual([201, 'ping', 'pending']);
    const again = `${base}/${id}/deliveries/${ping.body.id}/redeliver`;
    expect(await api.call('POST', again)).toMatchObject({
      status: 409,
      body: { detail: 'The delivery is pending: it is already being retried' },
    });
    await run(sql.fragment`UPDATE data_deliveries SET status = 'dead' WHERE endpoint_id = ${id}`);
    expect(await api.call('POST', again)).toMatchObject({
      status: 200,
      body: { id: ping.body.id, status: 'pending' },
    });
    const since = '2026-01-01T00:00:00.000Z';
    const all = await api.call('POST', `${base}/${id}/redeliver`, { since });
    expect([all.status, all.body]).toEqual([200, { redelivered: 2, left: 0 }]);
    expect((await deliveriesOf(id, 'status=dead')).deliveries).toEqual([]);
    const wrong = { since: 'yesterday' };
    expect((await api.call('POST', `${base}/${id}/redeliver`, wrong)).status).toBe(400);
  });
});

test('a rotated secret is new and shown once', async () => {
  const { id, secret } = await register();
  const { status, body } = await api.call('POST', `${base}/${id}/rotate-secret`);
  expect([status, body]).toEqual([
    200,
    {
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      previous_secret_until: expect.any(String),
    },
  ]);
  expect(body.secret).not.toBe(secret);
  expect((await api.call('GET', `${base}/${id}`)).text).not.toContain('whsec_');
});

test('each change writes one audit entry with the name of the member', async () => {
  await run(sql.fragment`DELETE FROM outbound_events`);
  const { id } = await register();
  await api.call('PUT', `${base}/${id}`, { url: `${url}?token=hidden`, events: ['source.failed'] });
  // No change.
  await api.call('PUT', `${base}/${id}`, { events: ['source.failed'] });
  const { body: ping } = await api.call('POST', `${base}/${id}/ping`);
  await run(sql.fragment`UPDATE data_deliveries SET status = 'dead' WHERE id = ${ping.id}`);
  await api.call('POST', `${base}/${id}/deliveries/${ping.id}/redeliver`);
  const since = '2026-01-01T00:00:00.000Z';
  await api.call('POST', `${base}/${id}/redeliver`, { since });
  await api.call('POST', `${base}/${id}/rotate-secret`);
  await api.call('DELETE', `${base}/${id}`);
  await api.call('DELETE', `${base}/${id}`);
  const { logs } = (await api.call('GET', '/api/audit?limit=50')).body;
  const entries = logs.filter((entry: any) => entry.target_id === id).reverse();
  expect(entries.map(({ action, details }: any) => [action, details])).toEqual([
    ['data_webhook_create', { events: ['entity.created'] }],
    ['data_webhook_update', { changed: ['url', 'events'], events: ['source.failed'] }],
    ['data_webhook_ping', { delivery: ping.id }],
    ['data_webhook_redeliver', { delivery: ping.id }],
    ['data_webhook_redeliver_all', { since, redelivered: 0 }],
    ['data_webhook_rotate', {}],
    ['data_webhook_delete', { pending: 1 }],
  ]);
  expect(new Set(entries.map((entry: any) => entry.actor_name))).toEqual(new Set(['Owner']));
  expect(JSON.stringify(entries)).not.toContain('hidden');
});
