import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { useTestApi, type TestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import {
  addEndpoint,
  addEntities,
  addEvents,
  addFeed,
  addWorkspace,
  pagesOf as allPages,
  type Place,
  type TestFeed,
} from './records.ts';
import { raceRounds } from '#test/support/soak.ts';

const api = useTestApi({ SECRET_KEY: 'a secret that all processes share' });
let home: Reader;
beforeAll(async () => {
  home = await makeReader();
});

/** A workspace with a live and a test key. */
interface Reader extends Place {
  get(path: string): ReturnType<TestApi['call']>;
  getDemo(path: string): ReturnType<TestApi['call']>;
}

async function makeReader(input: Parameters<typeof addDataKey>[1] = {}): Promise<Reader> {
  const place = await addWorkspace(api.db);
  const live = await addDataKey(place, input);
  const demo = await addDataKey(place, { mode: 'test' });
  return {
    ...place,
    get: (path) => api.call('GET', path, undefined, live.headers),
    getDemo: (path) => api.call('GET', path, undefined, demo.headers),
  };
}

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 12)).toISOString();
const idsOf = (answer: { body: any }): string[] => answer.body.data.map((row: any) => row.id);

const pagesOf = (reader: Reader, path: string) =>
  allPages(reader.get, path, (body) => ({
    ids: idsOf({ body }),
    next: body.pagination.next_cursor,
  }));

describe('the list of records', () => {
  let reader: Reader;
  let feed: TestFeed;
  let other: TestFeed;
  let ids: string[];
  beforeAll(async () => {
    reader = await makeReader();
    feed = await addFeed(reader);
    other = await addFeed(reader);
    ids = [
      ...(await addEntities(reader, feed, [
        {
          entity_type: 'permit',
          geography: { city: 'Berlin', region: 'Berlin', country: 'DE' },
          confidence: 0.29,
          first_observed_at: day(1),
          updated_at: day(20),
        },
        {
          geography: { city: '100%', region: 'Texas', country: 'US' },
          confidence: 0.9,
          first_observed_at: day(3),
          updated_at: day(4),
        },
      ])),
      ...(await addEntities(reader, other, [
        {
          entity_type: 'permit',
          geography: { country: 'de' },
          confidence: 1,
          first_observed_at: day(2),
          updated_at: day(2),
        },
        // Updated before it was observed, by the observer's clock.
        { confidence: 0.295, first_observed_at: day(6), updated_at: day(5) },
      ])),
    ];
  });
  const at = (...indexes: number[]) => indexes.map((index) => ids[index]);
  const feeds = () => [feed.id, other.id];

  test.each<[string, number[]]>([
    ['', [3, 1, 2, 0]],
    ['feed_id=F', [1, 0]],
    ['entity_type=permit', [2, 0]],
    ['geography=BERLIN', [0]],
    ['geography=De', [2, 0]],
    ['geography=100%25', [1]],
    ['geography=B%25', []],
    ['geography=_e', []],
    ['geography=tex', []],
    ['confidence_min=0.29', [3, 1, 2, 0]],
    ['confidence_min=0.291', [3, 1, 2]],
    ['confidence_min=1', [2]],
    ['created_since=2026-01-03T12:00:00Z', [3, 1]],
    ['created_since=2026-01-03T13:00:00%2B01:00', [3, 1]],
    ['updated_since=2026-01-04T12:00:00Z', [0, 3, 1]],
    ['updated_since=2026-01-01T00:00:00Z&created_since=2026-01-02T12:00:00Z', [3, 1, 2]],
    ['updated_since=2026-01-01T00:00:00Z&created_since=2026-01-06T12:00:00Z', [3]],
    ['updated_since=2026-01-03T00:00:00Z&confidence_min=0.5', [1]],
    ['updated_since=2026-01-02T12:00:00Z&geography=de', [0, 2]],
    ['feed_id=F&confidence_min=0.5', [1]],
    ['feed_id=G&entity_type=permit', [2]],
    ['feed_id=F&geography=DE&entity_type=permit&confidence_min=0.2', [0]],
    ['geography=de&confidence_min=0.5&updated_since=2026-01-01T00:00:00Z', [2]],
    ['feed_id=feed_none', []],
  ])('returns matches in order for "%s"', async (query, indexes) => {
    const [first, second] = feeds();
    const path = `/v1/entities?${query.replace('=F', `=${first}`).replace('=G', `=${second}`)}`;
    const answer = await reader.get(path);
    expect([answer.status, idsOf(answer)]).toEqual([200, at(...indexes)]);
    expect(answer.body.meta.credits_consumed).toBe(indexes.length);
    expect(answer.headers['x-credits-consumed']).toBe(String(indexes.length));
    expect(await pagesOf(reader, `${path}&limit=1`)).toEqual(at(...indexes));
  });

  test('is empty for a feed of the other mode', async () => {
    expect(idsOf(await reader.getDemo(`/v1/entities?feed_id=${feed.id}`))).toEqual([]);
  });
});

describe('a cursor', () => {
  let cursor: string;
  beforeAll(async () => {
    const feed = await addFeed(home);
    await addEntities(home, feed, [{}, {}, {}]);
    await addFeed(home, true);
    cursor = (await home.get('/v1/entities?limit=1')).body.pagination.next_cursor;
  });

  test('works in every process, with another limit and key', async () => {
    const other = await api.another();
    const key = await addDataKey(home);
    const path = `/v1/entities?limit=2&cursor=${cursor}`;
    const answer = await other.call('GET', path, undefined, key.headers);
    await other.app.close();
    expect([answer.status, answer.body.data.length]).toEqual([200, 2]);
  });

  test('is refused in the other mode', async () => {
    const { status, body } = await home.getDemo(`/v1/entities?cursor=${cursor}`);
    expect([status, body.detail]).toEqual([400, 'cursor: not a cursor of this list']);
  });

  test('of webhook endpoints continues after the last one, in the mode of the key', async () => {
    const reader = await makeReader();
    const ids: string[] = [];
    for (let n = 0; n < 30; n += 1) ids.push(await addEndpoint(reader));
    expect((await pagesOf(reader, '/v1/webhooks?limit=7')).sort()).toEqual(ids.sort());
    const first = await reader.get('/v1/webhooks');
    expect(idsOf(first)).toHaveLength(25);
    const cursor = first.body.pagination.next_cursor as string;
    expect(idsOf(await reader.get(`/v1/webhooks?cursor=${cursor}`))).toHaveLength(5);
    expect((await reader.getDemo('/v1/webhooks')).body).toMatchObject({
      data: [],
      pagination: { next_cursor: null },
    });
    expect((await reader.getDemo(`/v1/webhooks?cursor=${cursor}`)).status).toBe(400);
  });

  test('of feeds continues after the last one, also with equal creation times', async () => {
    const reader = await makeReader();
    const feeds = await Promise.all(Array.from({ length: 7 }, () => addFeed(reader)));
    const ids = feeds.map((feed) => feed.id);
    await run(
      sql.fragment`UPDATE data_feeds SET created_at = now() WHERE workspace_id = ${reader.workspaceId}`,
    );
    const listed = await pagesOf(reader, '/v1/feeds?limit=2');
    expect(listed).toEqual(ids.sort().reverse());
    expect((await reader.get('/v1/sources?limit=2')).body.data).toEqual([]);
  });
});

describe('a record', () => {
  let id: string;
  beforeAll(async () => {
    const feed = await addFeed(home);
    [id = ''] = await addEntities(home, feed, [{ attributes: { stage: 'built' } }]);
    for (const version of [1, 2]) {
      await run(sql.fragment`
        INSERT INTO data_entity_versions (entity_id, version, workspace_id, changed_at, attributes, changed)
        VALUES (${id}, ${version}, ${home.workspaceId}, now(), '{}', '{stage}')`);
    }
  });

  test('costs 5 credits, or 20 with its history, newest version first', async () => {
    const plain = await home.get(`/v1/entities/${id}`);
    expect([plain.body.meta.credits_consumed, plain.body.data.history]).toEqual([5, undefined]);
    expect(plain.body.data.attributes).toEqual({ stage: 'built' });
    const full = await home.get(`/v1/entities/${id}?include=history`);
    expect(full.body.meta.credits_consumed).toBe(20);
    expect(full.body.data.history.map((each: any) => each.version)).toEqual([2, 1]);
  });

  test('of the other mode is 404', async () => {
    const { status, body } = await home.getDemo(`/v1/entities/${id}`);
    expect([status, body]).toEqual([404, { detail: 'Entity not found' }]);
  });
});

describe('changes', () => {
  test('are filtered by feed and time, newest first, a credit each', async () => {
    const reader = await makeReader();
    const feeds = [await addFeed(reader), await addFeed(reader)];
    for (const [n, feed] of [...feeds, ...feeds].entries()) {
      const [entity = ''] = await addEntities(reader, feed, [{}]);
      await run(sql.fragment`
        INSERT INTO data_changes (id, workspace_id, feed_id, is_demo, entity_id, entity_type, attribute, new_value,
                                  version, changed_at)
        VALUES (${`chg_${n}_${entity}`}, ${reader.workspaceId}, ${feed.id}, false, ${entity}, 'project', 'stage', '1', 2,
                ${day(n + 1)})`);
    }
    const numbers = async (query: string) =>
      (await pagesOf(reader, `/v1/changes?limit=1${query}`)).map((id) => id[4]);
    expect(await numbers('')).toEqual(['3', '2', '1', '0']);
    expect(await numbers(`&feed_id=${feeds[0]?.id}`)).toEqual(['2', '0']);
    expect(await numbers(`&updated_since=${day(2)}`)).toEqual(['3', '2', '1']);
    const { body } = await reader.get('/v1/changes');
    expect([body.meta.credits_consumed, body.data[0].old_value]).toEqual([4, null]);
  });
});

describe('events', () => {
  test('cost 3 or 10 credits, and are marked delivered once', async () => {
    const feed = await addFeed(home);
    const [entity = ''] = await addEntities(home, feed, [{}]);
    const ids = await addEvents(home, feed, entity, [
      {},
      { verification_status: 'machine_verified' },
      { verification_status: 'human_reviewed' },
      { verification_status: 'multi_source_verified', confidence: 0.9 },
    ]);
    const before = await home.get(`/v1/events/${ids[0]}`);
    expect(before.body.data).toMatchObject({ delivered_at: null, match_reason: 'Asked for' });
    expect(before.body.meta.credits_consumed).toBe(0);
    const first = await home.get(`/v1/events?feed_id=${feed.id}`);
    expect(idsOf(first)).toEqual([...ids].reverse());
    expect(first.body.meta.credits_consumed).toBe(26);
    const times = first.body.data.map((event: any) => event.delivered_at);
    expect(times.every((time: unknown) => typeof time === 'string')).toBe(true);
    const again = await home.get(`/v1/events?feed_id=${feed.id}`);
    expect(again.body.data.map((event: any) => event.delivered_at)).toEqual(times);
    const sure = await home.get(`/v1/events?confidence_min=0.9&event_type=permit_filed`);
    expect(idsOf(sure)).toEqual([ids[3]]);
  });

  test('over the allowance are not marked delivered', async () => {
    const reader = await makeReader({ monthly_credit_allowance: 2 });
    const feed = await addFeed(reader);
    const [entity = ''] = await addEntities(reader, feed, [{}]);
    const [id] = await addEvents(reader, feed, entity, [{}]);
    expect((await reader.get('/v1/events')).status).toBe(402);
    expect((await reader.get(`/v1/events/${id}`)).body.data.delivered_at).toBeNull();
  });

  test('read concurrently are marked delivered once', async () => {
    const feed = await addFeed(home);
    const [entity = ''] = await addEntities(home, feed, [{}]);
    for (let round = 0; round < raceRounds(10); round += 1) {
      await addEvents(home, feed, entity, [{}, {}, {}]);
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => home.get(`/v1/events?feed_id=${feed.id}&limit=3`)),
      );
      expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
      const told = answers.map(({ body }) => body.data.map((event: any) => event.delivered_at));
      expect(new Set(told.map((times) => JSON.stringify(times))).size).toBe(1);
    }
  });
});

describe('the last credit', () => {
  test('pays for one of two concurrent requests', async () => {
    for (let round = 0; round < raceRounds(15); round += 1) {
      const reader = await makeReader({ monthly_credit_allowance: 1 });
      const feed = await addFeed(reader);
      await addEntities(reader, feed, [{}]);
      const answers = await Promise.all([reader.get('/v1/entities'), reader.get('/v1/entities')]);
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, 402]);
      const refused = answers.find((answer) => answer.status === 402);
      expect(Object.keys(refused?.body)).toEqual(['detail']);
    }
  });
});
