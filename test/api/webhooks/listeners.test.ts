import { afterEach, describe, expect, test } from '@jest/globals';
import { isListener, runEventTypes } from '#shared/contract/data/outbound.ts';
import { sql } from '#shared/db/pool.ts';
import { takeQueued } from '#shared/db/webhooks/queue.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { deleteIdleListeners } from '#shared/db/webhooks/endpoints.ts';
import { addDataKey } from '#test/api/data/data-key.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { addMember } from '#test/support/people.ts';

// Endpoints to which nothing is sent: programs read their events. `ops listen` is in cli/listen.test.ts.

const api = useTestApi({
  ENCRYPTION_KEY: 'a key for the tests alone',
  EGRESS_ALLOW: '127.0.0.0/8',
});
afterEach(async () => {
  await api.db.query(sql.unsafe`DELETE FROM data_endpoints`);
  await api.db.query(sql.unsafe`DELETE FROM outbound_events`);
});

const base = '/api/webhooks';
const register = async (url = 'listen:ada', events: string[] = [...runEventTypes]) =>
  (await api.call('POST', base, { url, events })).body;
const happen = (...numbers: number[]): Promise<number> =>
  queueEvents(
    api.db,
    api.workspaceId,
    numbers.map((n) => ({ type: 'run.completed', isDemo: null, data: { n } })),
  );
const read = async (id: string, query = '') =>
  (await api.call('GET', `${base}/${id}/events${query}`)).body;
const numbersOf = ({ events }: { events: { body: string }[] }): number[] =>
  events.map(({ body }) => JSON.parse(body).data.n);

test.each([
  ['listen:a', true],
  ['listen:ada-laptop.local_2', true],
  ['listen:', false],
  ['listen:-a', false],
  ['listen:Ada', false],
  ['listen:a/b', false],
  [`listen:${'a'.repeat(64)}`, false],
  ['http://listen:80', false],
])('%s as the address of a listener: %s', (url, expected) => {
  expect(isListener(url)).toBe(expected);
});

describe('a listener', () => {
  test('is an endpoint whose deliveries no worker takes', async () => {
    const { id } = await register();
    const sent = await register('http://127.0.0.1:9/');
    await happen(1);
    const taken = await takeQueued(api.db, 10);
    expect(taken.map(({ url }) => url)).toEqual(['http://127.0.0.1:9/']);
    for (const each of [id, sent.id]) expect(numbersOf(await read(each))).toEqual([1]);
    expect((await api.call('GET', `${base}/${id}`)).body.url).toBe('listen:ada');
  });

  test('stays one, under another name too, and an endpoint stays an endpoint', async () => {
    const { id } = await register();
    const other = await register('http://127.0.0.1:9/');
    const put = (of: string, url: string) => api.call('PUT', `${base}/${of}`, { url });
    expect(await put(id, 'listen:grace')).toMatchObject({ status: 200 });
    for (const [of, url] of [
      [id, 'http://127.0.0.1:9/'],
      [other.id, 'listen:ada'],
    ] as const) {
      const refused = await put(of, url);
      expect([refused.status, refused.body.detail]).toEqual([
        400,
        expect.stringContaining('cannot become a listener, or a listener an endpoint'),
      ]);
    }
  });

  test('has nothing to redeliver and no secret to replace', async () => {
    const { id } = await register();
    const ping = (await api.call('POST', `${base}/${id}/ping`)).body;
    expect((await read(id)).events).toMatchObject([{ type: 'ping', delivery_id: ping.id }]);
    for (const path of [`deliveries/${ping.id}/redeliver`, 'redeliver', 'rotate-secret']) {
      const { status, body } = await api.call('POST', `${base}/${id}/${path}`);
      expect([path, status, body.detail]).toEqual([path, 409, expect.stringContaining('listener')]);
    }
  });

  test('cannot be created or seen by keys of the data API', async () => {
    const { headers } = await addDataKey(api);
    const { id } = await register('listen:ada', ['entity.created']);
    const created = await api.call(
      'POST',
      '/v1/webhooks',
      { url: 'listen:ada', events: ['entity.created'] },
      headers,
    );
    expect(created.status).toBe(422);
    expect((await api.call('GET', '/v1/webhooks', undefined, headers)).body.data).toEqual([]);
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/ping'],
      ['GET', '/deliveries'],
    ] as const) {
      const { status } = await api.call(method, `/v1/webhooks/${id}${path}`, undefined, headers);
      expect([method, path, status]).toEqual([method, path, 404]);
    }
  });

  test('is deleted with its events when no one has read them for a day', async () => {
    const [idle, fresh, sent] = [
      await register(),
      await register('listen:grace'),
      await register('http://127.0.0.1:9/'),
    ];
    await api.db.query(
      sql.unsafe`UPDATE data_endpoints SET created_at = now() - interval '25 hours'`,
    );
    await happen(1);
    await read(fresh.id);
    const left = async () => (await api.call('GET', base)).body.map(({ id }: any) => id).sort();
    expect(await deleteIdleListeners(api.db, 'ws_other')).toBe(0);
    expect(await left()).toHaveLength(3);
    expect(await deleteIdleListeners(api.db, api.workspaceId)).toBe(1);
    expect(await left()).toEqual([fresh.id, sent.id].sort());
    const owners = await api.db.any<any>(
      sql.unsafe`SELECT DISTINCT endpoint_id FROM data_deliveries`,
    );
    expect(owners.map(({ endpoint_id }) => endpoint_id).sort()).toEqual(await left());
    const { logs } = (await api.call('GET', '/api/audit?action=data_webhook_delete')).body;
    expect(logs).toMatchObject([{ target_id: idle.id, details: { pending: 1, idle: true } }]);
  });
});

describe('the events of an endpoint', () => {
  test('are read oldest first, page by page, since a time, or one by its id', async () => {
    const { id } = await register();
    for (const n of [1, 2, 3]) await happen(n);
    const first = await read(id, '?limit=2');
    expect(numbersOf(first)).toEqual([1, 2]);
    const rest = await read(id, `?limit=2&cursor=${first.next_cursor}`);
    expect([numbersOf(rest), rest.next_cursor]).toEqual([[3], null]);
    const [, second] = first.events;
    expect(numbersOf(await read(id, `?event_id=${second.event_id}`))).toEqual([2]);
    await api.db.query(
      sql.unsafe`UPDATE data_deliveries SET created_at = created_at - interval '1 hour'
                 WHERE id <> ${rest.events[0].delivery_id}`,
    );
    expect(numbersOf(await read(id, `?since=${rest.events[0].created_at}`))).toEqual([3]);
    const { status } = await api.call('GET', `${base}/${id}/events?cursor=x`);
    expect(status).toBe(400);
  });

  test('beyond the limit of pending deliveries are there, too', async () => {
    const { id } = await register();
    await happen(1);
    await api.db.query(sql.unsafe`
      INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, created_at)
      SELECT 'dlv_' || n, ${api.workspaceId}, ${id}, (SELECT max(id) FROM outbound_events), now() - interval '1 day'
      FROM generate_series(1, 9999) n`);
    await happen(2);
    const [{ created_at }] = (await read(id, '?event_id=none')).events.concat([{ created_at: '' }]);
    expect(created_at).toBe('');
    const since = new Date(Date.now() - 3_600_000).toISOString();
    expect(numbersOf(await read(id, `?since=${since}`))).toEqual([1, 2]);
    const dead = (await api.call('GET', `${base}/${id}/deliveries?status=dead`)).body.deliveries;
    expect(dead).toHaveLength(1);
  });

  test('need the capability that registering an endpoint needs', async () => {
    const { id } = await register();
    const { headers } = await addMember(api, { role: 'viewer' });
    const { status } = await api.call('GET', `${base}/${id}/events`, undefined, headers);
    expect(status).toBe(403);
    expect((await api.call('GET', `${base}/end_unknown/events`)).status).toBe(404);
  });
});
