import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { subscribeToAll, outboundEventsOf } from '#test/support/outbound-events.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { raceRounds, soakDescribe } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi();
beforeAll(async () => {
  await subscribeToAll(api);
});

const makeFeed = async (fields: object = {}): Promise<string> =>
  (await api.call('POST', '/api/data/feeds', { name: 'Projects', ...fields })).body.id;
const entity = (external_key: string, fields: object = {}) => ({
  type: 'entity',
  external_key,
  entity_type: 'project',
  canonical_name: `Project ${external_key}`,
  attributes: { project_stage: 'planning', project_value: 1 },
  ...fields,
});
const event = (external_key: string, primary_external_key: string, fields: object = {}) => ({
  type: 'event',
  external_key,
  event_type: 'permit_filed',
  primary_external_key,
  occurred_at: '2026-01-01T00:00:00Z',
  summary: 'A permit was filed',
  ...fields,
});
const send = async (feed_id: string, records: unknown[]) =>
  api.call('POST', '/api/data/ingest', { feed_id, records });
const stream = async (feedId: string, payload: string | Buffer) => {
  const answer = await api.send({
    method: 'POST',
    url: `/api/data/ingest?feed_id=${feedId}`,
    headers: { 'content-type': 'application/x-ndjson' },
    payload,
  });
  return answer;
};
const lines = (records: unknown[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

const anyRow = z.record(z.string(), z.any());
const entityOf = async (feedId: string, key: string): Promise<any> =>
  api.db.one(sql.type(anyRow)`
    SELECT * FROM data_entities WHERE feed_id = ${feedId} AND external_key = ${key}`);
const eventOf = async (feedId: string, key: string): Promise<any> =>
  api.db.one(sql.type(anyRow)`
    SELECT * FROM data_events WHERE feed_id = ${feedId} AND external_key = ${key}`);
const versionsOf = async (entityId: string): Promise<readonly any[]> =>
  api.db.any(sql.type(anyRow)`
    SELECT * FROM data_entity_versions WHERE entity_id = ${entityId} ORDER BY version`);
const changesOf = async (entityId: string): Promise<readonly any[]> =>
  api.db.any(
    sql.type(anyRow)`SELECT * FROM data_changes WHERE entity_id = ${entityId} ORDER BY seq`,
  );
const countOf = async (feedId: string): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
    SELECT count(*) FROM data_entities WHERE feed_id = ${feedId}`);

const counts = (created: number, updated: number, unchanged: number) => ({
  created,
  updated,
  unchanged,
});

describe('a record', () => {
  test('is stored with its first version, and its batch is audited', async () => {
    const feedId = await makeFeed();
    const { status, body } = await send(feedId, [
      entity('a', {
        aliases: ['A'],
        geography: { city: 'Austin', region: 'TX', country: 'US' },
        verification_status: 'human_reviewed',
        confidence: 0.9,
        observed_at: '2026-01-01T01:00:00+01:00',
      }),
    ]);
    expect([status, body]).toEqual([
      200,
      { ...counts(1, 0, 0), refused: 0, errors: [], events: counts(0, 0, 0) },
    ]);
    const kept = await entityOf(feedId, 'a');
    expect(kept).toMatchObject({
      workspace_id: api.workspaceId,
      is_demo: false,
      version: 1,
      city: 'austin',
      status: 'active',
      confidence: 0.9,
      first_observed_at: '2026-01-01T00:00:00.000Z',
      last_observed_at: '2026-01-01T00:00:00.000Z',
      last_verified_at: kept.updated_at,
      created_at: kept.updated_at,
    });
    expect(await versionsOf(kept.id)).toMatchObject([
      { version: 1, changed: [], attributes: { project_stage: 'planning', project_value: 1 } },
    ]);
    expect(await changesOf(kept.id)).toEqual([]);
    const { body: log } = await api.call('GET', '/api/audit?limit=1');
    expect(log.logs[0]).toMatchObject({
      action: 'data_ingest',
      target_type: 'feed',
      target_id: feedId,
      details: { ...counts(1, 0, 0), refused: 0 },
    });
    const { body: feed } = await api.call('GET', `/api/data/feeds/${feedId}`);
    expect(feed.freshness).toEqual({
      last_event_at: kept.updated_at,
      last_checked_at: kept.updated_at,
      lag_seconds: expect.any(Number),
    });
  });

  test('sent again unchanged, in any key order, adds no version or change', async () => {
    const feedId = await makeFeed();
    await send(feedId, [entity('a', { observed_at: '2026-01-02T00:00:00Z' })]);
    const first = await entityOf(feedId, 'a');
    const attributes = { project_value: 1.0, project_stage: 'planning' };
    const again = await send(feedId, [
      { observed_at: '2026-01-03T00:00:00Z', ...entity('a', { attributes }) },
      entity('a', { attributes, observed_at: '2026-01-01T00:00:00Z' }),
    ]);
    expect(again.body).toMatchObject(counts(0, 0, 2));
    const { last_observed_at, ...rest } = await entityOf(feedId, 'a');
    expect(last_observed_at).toBe('2026-01-03T00:00:00.000Z');
    const { last_observed_at: _earlier, ...before } = first;
    expect(rest).toEqual(before);
    expect(await versionsOf(first.id)).toHaveLength(1);
    expect(await changesOf(first.id)).toEqual([]);
    const { body: feed } = await api.call('GET', `/api/data/feeds/${feedId}`);
    expect(feed.freshness.last_event_at).toBe(first.updated_at);
    expect(feed.freshness.last_checked_at > first.updated_at).toBe(true);
  });

  test('with added or omitted null attributes adds no version or change', async () => {
    const feedId = await makeFeed();
    await send(feedId, [entity('a', { attributes: { stage: 'a', contractor: null } })]);
    const first = await entityOf(feedId, 'a');
    for (const attributes of [{ stage: 'a' }, { stage: 'a', other: null }]) {
      const answer = await send(feedId, [entity('a', { attributes })]);
      expect(answer.body).toMatchObject(counts(0, 0, 1));
    }
    expect(await versionsOf(first.id)).toHaveLength(1);
    expect(await changesOf(first.id)).toEqual([]);
    await send(feedId, [entity('a', { attributes: { stage: 'b' } })]);
    expect(await changesOf(first.id)).toMatchObject([{ attribute: 'stage' }]);
    await send(feedId, [entity('a', { attributes: { stage: 'b', contractor: 'c' } })]);
    expect((await changesOf(first.id)).map(({ attribute }) => attribute).sort()).toEqual([
      'contractor',
      'stage',
    ]);
  });

  test('that is machine verified has a verification time', async () => {
    const feedId = await makeFeed();
    await send(feedId, [entity('a', { verification_status: 'unverified' })]);
    expect((await entityOf(feedId, 'a')).last_verified_at).toBeNull();
    await send(feedId, [entity('a', { verification_status: 'machine_verified' })]);
    const kept = await entityOf(feedId, 'a');
    expect(kept.last_verified_at).toBe(kept.updated_at);
  });

  test('that differs adds one version and a change per difference', async () => {
    const feedId = await makeFeed();
    await send(feedId, [
      entity('a', { attributes: { stage: 'a', gone: 1, kept: [1], status: 'x' } }),
    ]);
    const after = await send(feedId, [
      entity('a', {
        attributes: { stage: 'b', new: 2, kept: [1], status: 'y' },
        canonical_name: 'Other',
        source_evidence: [{ source_id: 'src_1', url: 'https://example.com/' }],
        verification_status: 'multi_source_verified',
      }),
    ]);
    expect(after.body).toMatchObject(counts(0, 1, 0));
    const kept = await entityOf(feedId, 'a');
    expect(kept).toMatchObject({ version: 2, canonical_name: 'Other' });
    expect(kept.last_verified_at).toBe(kept.updated_at);
    const changes = await changesOf(kept.id);
    expect(
      changes.map(({ attribute, old_value, new_value }) => [attribute, old_value, new_value]),
    ).toEqual([
      ['gone', 1, null],
      ['new', null, 2],
      ['stage', 'a', 'b'],
      ['attributes.status', 'x', 'y'],
      ['canonical_name', 'Project a', 'Other'],
      ['verification_status', 'unverified', 'multi_source_verified'],
      [
        'source_evidence',
        [],
        [{ source_id: 'src_1', url: 'https://example.com/', synthetic: false }],
      ],
    ]);
    for (const change of changes) {
      expect(change).toMatchObject({
        version: 2,
        source_id: 'src_1',
        feed_id: feedId,
        entity_type: 'project',
        changed_at: kept.updated_at,
      });
    }
    const versions = await versionsOf(kept.id);
    expect(versions[1].changed).toEqual(changes.map(({ attribute }) => attribute));
    expect(versions[1].attributes).toEqual({ stage: 'b', new: 2, kept: [1], status: 'y' });
  });

  test('repeated in a batch is applied in order', async () => {
    const feedId = await makeFeed();
    const steps = ['a', 'b', 'b', 'c', 'a'].map((stage) => entity('x', { attributes: { stage } }));
    expect((await send(feedId, steps)).body).toMatchObject(counts(1, 3, 1));
    const kept = await entityOf(feedId, 'x');
    const versions = await versionsOf(kept.id);
    expect(versions.map(({ version, attributes }) => [version, attributes.stage])).toEqual([
      [1, 'a'],
      [2, 'b'],
      [3, 'c'],
      [4, 'a'],
    ]);
    expect(kept).toMatchObject({ version: 4, attributes: { stage: 'a' } });
    const changes = await changesOf(kept.id);
    expect(changes.map(({ old_value, new_value }) => [old_value, new_value])).toEqual([
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ]);
    expect((await send(feedId, steps)).body).toMatchObject(counts(0, 3, 2));
  });

  test('queues events with its changes for endpoints of its mode', async () => {
    const feedId = await makeFeed({ is_demo: true });
    await send(feedId, [entity('a')]);
    await send(feedId, [entity('a', { status: 'closed' }), entity('a', { status: 'closed' })]);
    const { id } = await entityOf(feedId, 'a');
    const told = {
      feed_id: feedId,
      entity_id: id,
      entity_type: 'project',
      canonical_name: 'Project a',
      verification_status: 'unverified',
    };
    const of = ({ feed_id }: { feed_id?: unknown }) => feed_id === feedId;
    expect((await outboundEventsOf(api, 'entity.created')).filter(of)).toEqual([
      { ...told, version: 1, changed: [] },
    ]);
    expect((await outboundEventsOf(api, 'entity.updated')).filter(of)).toEqual([
      { ...told, version: 2, changed: ['status'] },
    ]);
  });
});

describe('an event', () => {
  test('is stored with its record, and queues events when created and when verified', async () => {
    const feedId = await makeFeed();
    const { body } = await send(feedId, [
      entity('a'),
      event('e', 'a', { opportunity_score: 70, confidence: 0.5, match_reason: 'Watched city' }),
    ]);
    expect(body).toMatchObject({ ...counts(1, 0, 0), refused: 0, events: counts(1, 0, 0) });
    const kept = await eventOf(feedId, 'e');
    expect(kept).toMatchObject({
      primary_entity_id: (await entityOf(feedId, 'a')).id,
      occurred_at: '2026-01-01T00:00:00.000Z',
      opportunity_score: 70,
      relevance_score: null,
      delivered_at: null,
    });
    const verified = event('e', 'a', { verification_status: 'human_reviewed', confidence: 0.5 });
    expect((await send(feedId, [verified, verified])).body.events).toEqual(counts(0, 1, 1));
    const after = await eventOf(feedId, 'e');
    expect(after).toMatchObject({ id: kept.id, detected_at: kept.detected_at });
    expect(after.updated_at > kept.updated_at).toBe(true);
    const payload = {
      feed_id: feedId,
      intelligence_event_id: kept.id,
      event_type: 'permit_filed',
      summary: 'A permit was filed',
      confidence: 0.5,
    };
    const of = ({ feed_id }: { feed_id?: unknown }) => feed_id === feedId;
    expect((await outboundEventsOf(api, 'intelligence_event.created')).filter(of)).toEqual([
      { ...payload, opportunity_score: 70 },
    ]);
    expect((await outboundEventsOf(api, 'intelligence_event.verified')).filter(of)).toEqual([
      { ...payload, opportunity_score: null, verification_status: 'human_reviewed' },
    ]);
  });

  test('needs a record of its feed that exists or comes earlier in the batch', async () => {
    const feedId = await makeFeed();
    await send(await makeFeed(), [entity('elsewhere')]);
    const { body } = await send(feedId, [
      event('e1', 'late'),
      entity('late'),
      event('e2', 'late'),
      event('e3', 'elsewhere'),
    ]);
    expect(body).toMatchObject({ ...counts(1, 0, 0), refused: 2, events: counts(1, 0, 0) });
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual([1, 4]);
    expect(body.errors[1].reason).toContain("'elsewhere' is not a record of the feed");
  });
});

describe('invalid input', () => {
  const bad: [string, object][] = [
    ['confidence', { confidence: 2 }],
    ['confidence', { confidence: 'NaN' }],
    ['confidence', { confidence: null }],
    ['external_key', { external_key: '' }],
    ['external_key', { external_key: 'k'.repeat(501) }],
    ['entity_type', { entity_type: 'Has Space' }],
    ['attributes', { attributes: [] }],
    ['attributes', { attributes: { x: 'y'.repeat(100_001) } }],
    ['geography', { geography: { planet: 'Mars' } }],
    ['verification_status', { verification_status: 'certain' }],
    ['observed_at', { observed_at: '2026-01' }],
    ['observed_at', { observed_at: '2026-01-01T00:00:00' }],
    ['observed_at', { observed_at: '2026-02-30T00:00:00Z' }],
    ['observed_at', { observed_at: '0000-01-01T00:00:00Z' }],
    ['observed_at', { observed_at: '2999-01-01T00:00:00Z' }],
    ['source_evidence', { source_evidence: [{ retrieved_at: 'yesterday' }] }],
    ['nonsense', { nonsense: 1 }],
    ['type', { type: 'thing' }],
  ];
  test.each(bad)('fails only its record, naming %s: %j', async (field, fields) => {
    const feedId = await makeFeed();
    const { status, body } = await send(feedId, [entity('a'), entity('b', fields), entity('c')]);
    expect([status, body]).toEqual([
      200,
      {
        ...counts(2, 0, 0),
        refused: 1,
        errors: [{ line: 2, reason: expect.stringContaining(field) }],
        events: counts(0, 0, 0),
      },
    ]);
    expect(await countOf(feedId)).toBe(2);
  });

  test('includes bad dates and scores of events, and non-objects', async () => {
    const feedId = await makeFeed();
    const { body } = await send(feedId, [
      entity('a'),
      event('e', 'a', { occurred_at: '2026-13-01T00:00:00Z' }),
      event('e', 'a', { occurred_at: '0000-01-01T00:00:00Z' }),
      event('e', 'a', { relevance_score: 1e300 }),
      'nonsense',
      null,
    ]);
    expect(body).toMatchObject({ created: 1, refused: 5 });
  });

  test('includes a type that the feed excludes and a changed type of a record', async () => {
    const feedId = await makeFeed({ entity_types: ['project', 'permit'] });
    const { body } = await send(feedId, [
      entity('a'),
      entity('b', { entity_type: 'company' }),
      entity('a', { entity_type: 'permit' }),
    ]);
    expect(body).toMatchObject({
      created: 1,
      refused: 2,
      errors: [
        { line: 2, reason: "entity_type 'company' is not one of the feed's types" },
        { line: 3, reason: "entity_type is already 'project' and cannot become 'permit'" },
      ],
    });
    const again = await send(feedId, [entity('a', { entity_type: 'permit' })]);
    expect(again.body).toMatchObject({ refused: 1, updated: 0 });
  });

  test('is reported for 100 records at most', async () => {
    const feedId = await makeFeed();
    const { body } = await send(feedId, Array(250).fill({}));
    expect(body.refused).toBe(250);
    expect(body.errors.map(({ line }: { line: number }) => line)).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
  });

  test('includes unknown and archived feeds, too many records and a missing body', async () => {
    const unknown = await send('feed_nobody', [entity('a')]);
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Feed not found' }]);
    expect((await stream('feed_nobody', '')).status).toBe(404);
    const archived = await makeFeed({ status: 'archived' });
    expect((await send(archived, [entity('a')])).status).toBe(409);
    const feedId = await makeFeed();
    expect((await send(feedId, Array(1_001).fill(entity('a')))).status).toBe(400);
    expect((await api.call('POST', '/api/data/ingest')).status).toBe(400);
    expect((await send(feedId, [entity('a', { canonical_name: 'a\0b' })])).body.detail).toContain(
      'NUL',
    );
    const unnamed = await api.send({
      method: 'POST',
      url: '/api/data/ingest',
      headers: { 'content-type': 'application/x-ndjson' },
      payload: '{}\n',
    });
    expectRefusal(unnamed, 400, 'Invalid query: feed_id is required with a stream');
  });
});

describe('a stream', () => {
  test('is read by line and reports each refused line with its reason', async () => {
    const feedId = await makeFeed();
    const text = Buffer.concat([
      Buffer.from(`${JSON.stringify(entity('a'))}\r\n\n`),
      Buffer.from('not json\n'),
      Buffer.from([0xff, 0xfe, 0x0a]),
      Buffer.from(`{"type":"entity","external_key":"nul\\u0000"}\n`),
      Buffer.from(`{"type":"entity","external_key":"half\\ud800"}\n`),
      Buffer.from(`{"confidence":1e999}\n`),
      Buffer.from(
        `${JSON.stringify(entity('long', { attributes: { x: 'y'.repeat(300_000) } }))}\n`,
      ),
      Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}\n`),
      Buffer.from(`{"__proto__": {}}\n`),
      Buffer.from(JSON.stringify(entity('last'))),
    ]);
    const { status, body } = await stream(feedId, text);
    expect([status, body]).toEqual([
      200,
      {
        ...counts(2, 0, 0),
        refused: 8,
        errors: [
          { line: 3, reason: 'is not valid JSON' },
          { line: 4, reason: 'is not valid UTF-8' },
          { line: 5, reason: expect.stringContaining('NUL') },
          { line: 6, reason: expect.stringContaining('surrogate') },
          { line: 7, reason: expect.stringContaining('too large') },
          { line: 8, reason: 'is longer than 262144 bytes' },
          { line: 9, reason: expect.stringContaining('nested deeper') },
          { line: 10, reason: expect.stringContaining('__proto__') },
        ],
        events: counts(0, 0, 0),
      },
    ]);
  });

  test('longer than a batch keeps its order, and is idempotent', async () => {
    const feedId = await makeFeed();
    const records = Array.from({ length: 2_600 }, (_, n) =>
      entity(`k${n % 1_300}`, { attributes: { round: Math.floor(n / 1_300) } }),
    );
    expect((await stream(feedId, lines(records))).body).toMatchObject(counts(1_300, 1_300, 0));
    expect((await entityOf(feedId, 'k7')).attributes).toEqual({ round: 1 });
    const newest = lines(records.slice(1_300));
    expect((await stream(feedId, newest)).body).toMatchObject(counts(0, 0, 1_300));
    const { body: log } = await api.call('GET', '/api/audit?limit=1');
    expect(log.logs[0].details).toMatchObject(counts(0, 0, 1_300));
  });

  test('gives each batch a later timestamp, in whole milliseconds', async () => {
    const feedId = await makeFeed();
    await Promise.all(
      Array.from({ length: 4 }, (_, part) =>
        stream(feedId, lines(Array.from({ length: 1_200 }, (_, n) => entity(`p${part}-${n}`)))),
      ),
    );
    const row = z.object({
      updated_at: z.string(),
      exact: z.boolean(),
      first: z.number(),
      last: z.number(),
    });
    const stamps = await api.db.any(sql.type(row)`
      SELECT updated_at, updated_at = date_trunc('milliseconds', updated_at) AS exact, min(seq) AS first, max(seq) AS last
      FROM data_entities WHERE feed_id = ${feedId} GROUP BY updated_at ORDER BY updated_at`);
    expect(stamps).toHaveLength(12);
    expect(stamps.every(({ exact }) => exact)).toBe(true);
    for (const [at, { first }] of stamps.entries()) {
      if (at > 0) expect(first).toBeGreaterThan(stamps[at - 1]!.last);
    }
  });
});

soakDescribe('concurrent batches', () => {
  test('with the same keys leave gapless versions and consecutive changes', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const feedId = await makeFeed();
      const batch = (sender: string) =>
        ['a', 'b', 'c'].flatMap((key) =>
          [1, 2].map((step) => entity(key, { attributes: { by: `${sender}${step}` } })),
        );
      const answers = await Promise.all([
        send(feedId, batch('x')),
        send(feedId, batch('y').reverse()),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      for (const key of ['a', 'b', 'c']) {
        const kept = await entityOf(feedId, key);
        const versions = await versionsOf(kept.id);
        expect(versions.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
        expect(kept).toMatchObject({ version: 4, attributes: versions[3].attributes });
        const changes = await changesOf(kept.id);
        const values = versions.map(({ attributes }) => attributes.by);
        expect(changes.map(({ old_value, new_value }) => [old_value, new_value])).toEqual(
          [0, 1, 2].map((at) => [values[at], values[at + 1]]),
        );
      }
    }
  });
});

test('an unsafe integer is refused with its path; in a stream, only its line is refused', async () => {
  const feedId = await makeFeed();
  const rounded = JSON.stringify(entity('b', { attributes: { at: { id: 'X' } } })).replace(
    '"X"',
    '9007199254740993',
  );
  const refusal = 'attributes.at.id is an integer beyond ±9007199254740991';
  const streamed = await stream(
    feedId,
    `${lines([entity('a')])}${rounded}\n${lines([entity('c')])}`,
  );
  expect(streamed.body).toMatchObject({ created: 2, refused: 1 });
  expect(streamed.body.errors).toEqual([
    { line: 2, reason: expect.stringContaining(`record: ${refusal}`) },
  ]);
  const sent = await api.send({
    method: 'POST',
    url: '/api/data/ingest',
    headers: { 'content-type': 'application/json' },
    payload: `{"feed_id":"${feedId}","records":[${rounded}]}`,
  });
  expectRefusal(sent, 400, expect.stringContaining(`Invalid body: records.0.${refusal}`));
});

describe('the retrieval time of evidence', () => {
  const evidenceOf = async (feedId: string) => (await entityOf(feedId, 'e')).source_evidence;
  const at = (retrieved_at: string | null) => ({
    source_evidence: [{ source_name: 's', synthetic: false, retrieved_at }],
  });

  test('is the same time in every notation', async () => {
    const feedId = await makeFeed();
    const spellings = ['2026-01-01T00:00:00+16:00', '2025-12-31T08:00:00Z', '2025-12-31T08:00Z'];
    for (const spelling of spellings) {
      const { body } = await send(feedId, [
        entity('e', at(spelling)),
        event('v', 'e', at(spelling)),
      ]);
      expect([body.updated, body.events.updated]).toEqual([0, 0]);
      expect(await evidenceOf(feedId)).toMatchObject([
        { retrieved_at: '2025-12-31T08:00:00.000Z' },
      ]);
    }
  });
});
