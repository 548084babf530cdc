import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { addDataKey } from './data-key.ts';
import {
  addEntities,
  addEvents,
  addFeed,
  addWorkspace,
  disturb,
  pagesOf as allPages,
  type Place,
  type TestFeed,
} from './records.ts';
import { useTestApi, type TestApi } from '#test/api/test-api.ts';

// Reads of records by members: both modes, the filters that only members have, and no metering. data/reading.test.ts
// tests pagination, with keys.

const SECRET_KEY = 'a secret that signs sessions and cursors';
const tokens = createSessionTokens(SECRET_KEY);
const api = useTestApi({ AUTH_MODE: 'required', SECRET_KEY });

/** A workspace with a member who only has read access. */
interface Reader extends Place {
  get(path: string): ReturnType<TestApi['call']>;
}

async function makeReader(): Promise<Reader> {
  const place = await addWorkspace(api.db);
  const memberId = newId('member');
  await run(sql.fragment`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${memberId}, ${place.workspaceId}, 'V', ${`${memberId}@example.com`}, 'viewer', 'active')`);
  const { token } = await tokens.issue({ memberId, epoch: 1 });
  const headers = { authorization: `Bearer ${token}` };
  return { ...place, get: (path) => api.call('GET', path, undefined, headers) };
}

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 12)).toISOString();
const rowsOf = (body: any): any[] => body.entities ?? body.changes ?? body.events;
const idsOf = (body: any): string[] => rowsOf(body).map((row) => row.id);

const pagesOf = (reader: Reader, path: string) =>
  allPages(reader.get, path, (body) => ({ ids: idsOf(body), next: body.next_cursor }));

describe('the list of records', () => {
  let reader: Reader;
  let real: TestFeed;
  let madeUp: TestFeed;
  let ids: string[];
  beforeAll(async () => {
    reader = await makeReader();
    real = await addFeed(reader);
    madeUp = await addFeed(reader, true);
    ids = [
      ...(await addEntities(reader, real, [
        {
          entity_type: 'permit',
          geography: { city: 'Berlin', region: 'Berlin', country: 'DE' },
          confidence: 0.29,
          first_observed_at: day(1),
          updated_at: day(20),
        },
        { confidence: 0.9, first_observed_at: day(3), updated_at: day(4) },
      ])),
      ...(await addEntities(reader, madeUp, [
        {
          entity_type: 'permit',
          geography: { country: 'de' },
          confidence: 1,
          first_observed_at: day(2),
          updated_at: day(2),
        },
        { confidence: 0.295, first_observed_at: day(6), updated_at: day(5) },
      ])),
    ];
  });

  test.each<[string, number[]]>([
    ['', [3, 1, 2, 0]],
    ['feed_id=MADE_UP', [3, 2]],
    ['updated_since=2026-01-04T12:00:00Z', [0, 3, 1]],
    ['updated_since=2026-01-01T00:00:00Z&created_since=2026-01-02T12:00:00Z', [3, 1, 2]],
    ['feed_id=MADE_UP&geography=de&confidence_min=0.5', [2]],
  ])('returns matches of both modes in order for "%s"', async (query, indexes) => {
    const asked = query.replace('=REAL', `=${real.id}`).replace('=MADE_UP', `=${madeUp.id}`);
    const wanted = indexes.map((index) => ids[index]);
    const { status, body } = await reader.get(`/api/data/entities?${asked}`);
    expect([status, idsOf(body), body.next_cursor]).toEqual([200, wanted, null]);
    expect(rowsOf(body).map((row) => row.is_demo)).toEqual(indexes.map((index) => index > 1));
    expect(await pagesOf(reader, `/api/data/entities?${asked}&limit=1`)).toEqual(wanted);
  });

  test('excludes other workspaces, with and without filters', async () => {
    const stranger = await makeReader();
    for (const query of ['', `feed_id=${real.id}`, 'geography=de', 'confidence_min=0.1']) {
      const { body } = await stranger.get(`/api/data/entities?${query}`);
      expect(body).toEqual({ entities: [], next_cursor: null });
    }
  });

  test('continues only from a cursor of the same query', async () => {
    const { body } = await reader.get('/api/data/entities?limit=1');
    const cursor = body.next_cursor as string;
    const notOurs = { detail: 'cursor: not a cursor of this list' };
    const stranger = await makeReader();
    for (const answer of [
      await reader.get(`/api/data/entities?entity_type=permit&cursor=${cursor}`),
      await reader.get(`/api/data/events?cursor=${cursor}`),
      await stranger.get(`/api/data/entities?cursor=${cursor}`),
    ]) {
      expect([answer.status, answer.body]).toEqual([400, notOurs]);
    }
    const { headers } = await addDataKey(reader);
    const byKey = await api.call('GET', `/v1/entities?cursor=${cursor}`, undefined, headers);
    expect(byKey.status).toBe(400);
    const next = await reader.get(`/api/data/entities?limit=2&cursor=${cursor}`);
    expect(idsOf(next.body)).toEqual([ids[1], ids[2]]);
  });
});

test('pages contain each stable record of both modes once during concurrent writes', async () => {
  const reader = await makeReader();
  const feeds = [await addFeed(reader), await addFeed(reader, true)];
  const old = (n: number) => ({ first_observed_at: day(n % 9), updated_at: day(n % 9) });
  const thirty = Array.from({ length: 30 }, (_, n) => old(n));
  const stable: string[] = [];
  const moving: string[] = [];
  for (const feed of feeds) {
    stable.push(...(await addEntities(reader, feed, thirty)));
    moving.push(...(await addEntities(reader, feed, thirty)));
  }
  for (const query of ['', 'updated_since=2020-01-01T00:00:00Z', 'confidence_min=0.5']) {
    const writers = feeds.map((feed) => disturb(reader, feed, moving, { old }));
    for (let round = 0; round < 3; round += 1) {
      const seen = await pagesOf(reader, `/api/data/entities?limit=7&${query}`);
      expect(new Set(seen).size).toBe(seen.length);
      expect(stable.filter((id) => !seen.includes(id))).toEqual([]);
    }
    await Promise.all(writers);
  }
});

/** A feed with a record of three versions. */
async function makeHistory(isDemo: boolean): Promise<{ reader: Reader; id: string }> {
  const reader = await makeReader();
  const feed = await addFeed(reader, isDemo);
  const [id = ''] = await addEntities(reader, feed, [
    { attributes: { stage: 'built', floors: 3 } },
  ]);
  const versions = [
    { version: 1, changed: [] },
    { version: 2, changed: ['stage'] },
    { version: 3, changed: ['floors', 'stage'] },
  ];
  for (const { version, changed } of versions) {
    await run(sql.fragment`
      INSERT INTO data_entity_versions (entity_id, version, workspace_id, changed_at, attributes, changed)
      VALUES (${id}, ${version}, ${reader.workspaceId}, ${day(version)}, ${JSON.stringify({ stage: version })}::jsonb,
              ${sql.array(changed, 'text')})`);
    for (const attribute of changed) await addChange(feed, id, { attribute, version });
  }
  return { reader, id };
}

const addChange = (
  feed: TestFeed,
  entityId: string,
  { attribute = 'stage', version = 2, type = 'project', at = day(version) },
) =>
  run(sql.fragment`
    INSERT INTO data_changes (id, workspace_id, feed_id, is_demo, entity_id, entity_type, attribute, old_value, new_value,
                              version, changed_at)
    VALUES (${newId('change')}, ${feed.workspaceId}, ${feed.id}, ${feed.isDemo}, ${entityId}, ${type}, ${attribute},
            ${String(version - 1)}::jsonb, ${String(version)}::jsonb, ${version}, ${at})`);

describe.each([
  ['real', false],
  ['made-up', true],
])('a %s record', (_kind, isDemo) => {
  let reader: Reader;
  let id: string;
  beforeAll(async () => {
    ({ reader, id } = await makeHistory(isDemo));
  });

  test('is read by its ID', async () => {
    const { status, body } = await reader.get(`/api/data/entities/${id}`);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ id, is_demo: isDemo, attributes: { stage: 'built', floors: 3 } }),
    ]);
    expect((await reader.get('/api/data/entities')).body.entities).toEqual([body]);
  });

  test('lists its versions and their changes, newest first', async () => {
    const { body } = await reader.get(`/api/data/entities/${id}/history`);
    expect(body).toEqual({
      versions: [
        { version: 3, changed_at: day(3), attributes: { stage: 3 }, changed: ['floors', 'stage'] },
        { version: 2, changed_at: day(2), attributes: { stage: 2 }, changed: ['stage'] },
        { version: 1, changed_at: day(1), attributes: { stage: 1 }, changed: [] },
      ],
      changes: [
        expect.objectContaining({ version: 3, attribute: 'floors', old_value: 2, new_value: 3 }),
        expect.objectContaining({ version: 3, attribute: 'stage', old_value: 2, new_value: 3 }),
        expect.objectContaining({ version: 2, attribute: 'stage', old_value: 1, new_value: 2 }),
      ],
      next_cursor: null,
    });
    const pages = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page = (await reader.get(`/api/data/entities/${id}/history?limit=1${next}`)).body;
      pages.push([page.versions.map((each: any) => each.version), page.changes.length]);
      cursor = page.next_cursor;
    }
    expect(pages).toEqual([
      [[3], 2],
      [[2], 1],
      [[1], 0],
    ]);
  });
});

describe('changes', () => {
  test('of both modes are filtered by feed, record, type and time', async () => {
    const reader = await makeReader();
    const feeds = [await addFeed(reader), await addFeed(reader, true)];
    const entities: string[] = [];
    for (const [n, feed] of [...feeds, ...feeds].entries()) {
      const [entity = ''] = await addEntities(reader, feed, [{}]);
      entities.push(entity);
      const type = n < 3 ? 'project' : 'company';
      for (const at of [day(n + 1), day(n + 11)]) await addChange(feed, entity, { type, at });
    }
    const numbers = async (query: string) => {
      const path = `/api/data/changes?limit=1${query}`;
      const { body } = await reader.get(`/api/data/changes?limit=100${query}`);
      expect(await pagesOf(reader, path)).toEqual(idsOf(body));
      return body.changes.map((row: any) => entities.indexOf(row.entity_id));
    };
    const [real, madeUp] = feeds.map((feed) => `&feed_id=${feed.id}`);
    expect(await numbers('')).toEqual([3, 2, 1, 0, 3, 2, 1, 0]);
    expect(await numbers(real!)).toEqual([2, 0, 2, 0]);
    expect(await numbers(madeUp!)).toEqual([3, 1, 3, 1]);
    expect(await numbers('&entity_type=company')).toEqual([3, 3]);
    expect(await numbers(`${madeUp}&entity_type=project`)).toEqual([1, 1]);
    expect(await numbers(`&entity_id=${entities[2]}`)).toEqual([2, 2]);
    expect(await numbers(`&entity_id=${entities[2]}${real}&entity_type=project`)).toEqual([2, 2]);
    expect(await numbers(`&entity_id=${entities[2]}${madeUp}`)).toEqual([]);
    expect(await numbers(`&entity_id=${entities[2]}&entity_type=company`)).toEqual([]);
    expect(await numbers(`&entity_id=${entities[1]}&updated_since=${day(3)}`)).toEqual([1]);
    expect(await numbers(`&updated_since=${day(12)}`)).toEqual([3, 2, 1]);
    const stranger = await makeReader();
    for (const query of [`entity_id=${entities[0]}`, real!.slice(1), '']) {
      expect((await stranger.get(`/api/data/changes?${query}`)).body.changes).toEqual([]);
    }
  });
});

describe('events', () => {
  test('of both modes are filtered by feed, record, type and confidence', async () => {
    const reader = await makeReader();
    const feeds = [await addFeed(reader), await addFeed(reader, true)];
    const entities: string[] = [];
    for (const feed of feeds) {
      const [entity = ''] = await addEntities(reader, feed, [{}]);
      entities.push(entity);
      await addEvents(reader, feed, entity, [
        { event_type: 'sold', confidence: 0.2 },
        { event_type: 'filed', confidence: 0.9 },
      ]);
    }
    const found = async (query: string) => {
      const { body } = await reader.get(`/api/data/events?limit=100${query}`);
      expect(await pagesOf(reader, `/api/data/events?limit=1${query}`)).toEqual(idsOf(body));
      return body.events
        .map((row: any) => `${row.event_type} ${entities.indexOf(row.primary_entity_id)}`)
        .sort();
    };
    const [real] = feeds.map((feed) => `&feed_id=${feed.id}`);
    expect(await found('')).toEqual(['filed 0', 'filed 1', 'sold 0', 'sold 1']);
    expect(await found(real!)).toEqual(['filed 0', 'sold 0']);
    expect(await found('&event_type=sold')).toEqual(['sold 0', 'sold 1']);
    expect(await found('&confidence_min=0.5')).toEqual(['filed 0', 'filed 1']);
    expect(await found(`&entity_id=${entities[1]}`)).toEqual(['filed 1', 'sold 1']);
    expect(await found(`&entity_id=${entities[1]}&event_type=sold`)).toEqual(['sold 1']);
    expect(await found(`&entity_id=${entities[1]}&confidence_min=0.5`)).toEqual(['filed 1']);
    expect(await found(`&entity_id=${entities[1]}${real}`)).toEqual([]);
    expect(await found('&created_since=2999-01-01T00:00:00Z')).toEqual([]);
    const stranger = await makeReader();
    for (const query of [`entity_id=${entities[0]}`, real!.slice(1), '']) {
      expect((await stranger.get(`/api/data/events?${query}`)).body.events).toEqual([]);
    }
  });
});

test('reads are not metered, audited or marked as delivered', async () => {
  const reader = await makeReader();
  const feed = await addFeed(reader);
  const [entity = ''] = await addEntities(reader, feed, [{}]);
  await addEvents(reader, feed, entity, [{ verification_status: 'human_reviewed' }]);
  for (const path of ['entities', `entities/${entity}`, `entities/${entity}/history`, 'changes']) {
    expect((await reader.get(`/api/data/${path}`)).status).toBe(200);
  }
  for (let round = 0; round < 2; round += 1) {
    const { body, headers } = await reader.get('/api/data/events');
    expect(body.events.map((event: any) => event.delivered_at)).toEqual([null]);
    expect(headers['x-credits-consumed']).toBeUndefined();
  }
  const traces = z.object({ months: z.number(), charges: z.number(), audit: z.number() });
  expect(
    await api.db.one(sql.type(traces)`
      SELECT (SELECT count(*) FROM data_months WHERE workspace_id = ${reader.workspaceId}) AS months,
             (SELECT count(*) FROM data_charges WHERE workspace_id = ${reader.workspaceId}) AS charges,
             (SELECT count(*) FROM audit_log WHERE workspace_id = ${reader.workspaceId}) AS audit`),
  ).toEqual({ months: 0, charges: 0, audit: 0 });
});
