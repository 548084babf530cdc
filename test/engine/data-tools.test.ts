import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { feedInput } from '#shared/contract/data/feed.ts';
import { ingestRecord } from '#shared/contract/data/ingest.ts';
import { sourceInput } from '#shared/contract/data/source.ts';
import { createFeed, readFeed } from '#shared/db/data/feeds.ts';
import { ingestBatch } from '#shared/db/data/ingest.ts';
import { createSource, readSource } from '#shared/db/data/sources.ts';
import { sql } from '#shared/db/pool.ts';
import { leadEnrichment } from '#shared/templates/lead-enrichment.ts';
import { chain, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const makeFeed = async (name = 'Companies') =>
  createFeed(engine.db, engine.actor, feedInput.parse({ name }));
const tool = (id: string, tool_name: string, params: object) =>
  ({ id, kind: 'tool', tool_name, params }) as never;
const entities = async (feedId: string) =>
  engine.db.any(sql.type(
    z.object({ external_key: z.string(), version: z.number(), attributes: z.any() }),
  )`
    SELECT external_key, version, attributes FROM data_entities WHERE feed_id = ${feedId}`);

test('a run creates a record and an event and reports a source; a second run finds them unchanged', async () => {
  const { db, actor } = engine;
  const { workspaceId } = actor;
  const feed = await makeFeed();
  const source = await createSource(
    db,
    actor,
    sourceInput.parse({ name: 'Portal', type: 'portal' }),
  );
  const workflowId = await engine.define(
    chain(
      tool('keep', 'entity_upsert', {
        feed_id: '{feed_id}',
        external_key: 'a',
        entity_type: 'company',
        canonical_name: 'Company {name}',
        attributes: { name: '{name}', size: '{size}' },
      }),
      tool('tell', 'event_emit', {
        feed_id: '{feed_id}',
        external_key: 'a-founded',
        event_type: 'founded',
        primary_external_key: 'a',
        occurred_at: '2026-01-01T00:00:00Z',
        summary: '{name} was founded',
      }),
      tool('report', 'source_report', { name: 'Portal', ok: false, error: 'closed' }),
    ),
  );
  const input = { feed_id: feed.id, name: 'North', size: 7 };
  const results = [];
  for (let round = 0; round < 2; round += 1) {
    const run = await engine.until(await engine.trigger(workflowId, input), ['success', 'failed']);
    const { keep, tell } = run.state as { keep: { result: string }; tell: { result: string } };
    results.push([run.status, keep.result, tell.result]);
  }
  expect(results).toEqual([
    ['success', 'created', 'created'],
    ['success', 'unchanged', 'unchanged'],
  ]);
  expect(await entities(feed.id)).toEqual([
    { external_key: 'a', version: 1, attributes: { name: 'North', size: 7 } },
  ]);
  const { health } = await readSource(db, { workspaceId, sourceId: source.id });
  expect(health).toMatchObject({ consecutive_failures: 2, last_error: 'closed' });
});

test('a run reads its own records by every filter, and nothing of other workspaces, without credits', async () => {
  const { db, actor } = engine;
  const feed = await makeFeed('Shops');
  const other = { ...actor, workspaceId: 'ws_other' };
  await db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES ('ws_other', 'Other')`);
  const foreign = await createFeed(db, other, feedInput.parse({ name: 'Shops' }));
  for (const [workspaceId, feedId] of [
    [actor.workspaceId, feed.id],
    ['ws_other', foreign.id],
  ] as const) {
    const records = ['s-1', 's-2'].map((key, line) => ({
      line,
      record: ingestRecord.parse({
        type: 'entity',
        external_key: key,
        entity_type: 'shop',
        canonical_name: `Shop ${key} of ${workspaceId}`,
        attributes: {},
        geography: { city: 'Aarhus' },
        confidence: line / 2,
      }),
    }));
    await db.transaction((tx) => ingestBatch(tx, { workspaceId, feedId }, records));
  }
  const found = async (params: object): Promise<[string[], boolean]> => {
    const graph = chain(tool('find', 'entity_search', params));
    const run = await engine.until(await engine.trigger(await engine.define(graph)), ['success']);
    const { data, has_more: more } = run.state!['find'] as { data: any[]; has_more: boolean };
    for (const { canonical_name: name } of data) expect(name).toContain(actor.workspaceId);
    return [data.map(({ external_key: key }) => key).sort(), more];
  };
  const shops = { entity_type: 'shop' };
  expect(await found(shops)).toEqual([['s-1', 's-2'], false]);
  expect(await found({ ...shops, limit: '1' })).toEqual([[expect.any(String)], true]);
  expect(await found({ external_key: 's-1' })).toEqual([['s-1'], false]);
  expect(await found({ external_key: 's-1', feed_id: feed.id })).toEqual([['s-1'], false]);
  expect(await found({ geography: 'aarhus', confidence_min: 0.5 })).toEqual([['s-2'], false]);
  expect(await found({ feed_id: foreign.id })).toEqual([[], false]);
  expect(await found({ external_key: 's-1', feed_id: foreign.id })).toEqual([[], false]);
  expect(await found({ ...shops, updated_since: '2999-01-01', feed_id: null })).toEqual([
    [],
    false,
  ]);

  const graph = chain(tool('feeds', 'feed_list', { name: 'Shops' }));
  const run = await engine.until(await engine.trigger(await engine.define(graph)), ['success']);
  expect(run.state!['feeds']).toMatchObject({
    data: [{ id: feed.id, status: 'active', freshness: { lag_seconds: expect.any(Number) } }],
    has_more: false,
  });
  const count = sql.type(z.object({ count: z.number() }))`SELECT count(*) FROM data_charges`;
  expect(await db.one(count)).toEqual({ count: 0 });
});

test.each<[string, string, object]>([
  ['Feed not found', 'entity_upsert', { feed_id: 'feed_nobody' }],
  ["'confidence'", 'entity_upsert', { confidence: 2 }],
  ['Source not found', 'source_report', { name: 'Nobody', ok: true }],
  ["'limit' must be a whole number", 'entity_search', { limit: 500 }],
  ["'updated_since'", 'entity_search', { updated_since: 'lately' }],
  ["'name'", 'feed_list', { name: '' }],
  ["either 'source_id' or 'name'", 'source_report', { source_id: 'a', name: 'b', ok: true }],
])('a step fails with %s', async (reason, name, params) => {
  const record = {
    feed_id: 'feed_nobody',
    external_key: 'a',
    entity_type: 'company',
    canonical_name: 'A',
    attributes: {},
  };
  const given = name === 'entity_upsert' ? { ...record, ...params } : params;
  const workflowId = await engine.define(chain(tool('keep', name, given)));
  const run = await engine.until(await engine.trigger(workflowId), ['success', 'failed']);
  expect([run.status, run.error]).toEqual(['failed', expect.stringContaining(reason)]);
});

test('the lead template writes to the feed in its input', async () => {
  const feed = await makeFeed();
  const workflowId = await engine.define(leadEnrichment.graph);
  const input = { ...leadEnrichment.sampleInput, feed_id: feed.id };
  await engine.until(await engine.trigger(workflowId, input), ['success']);
  expect(await entities(feed.id)).toMatchObject([
    { external_key: 'harbourbikes.example', version: 1, attributes: { points: 82 } },
  ]);
  const { freshness } = await readFeed(engine.db, {
    workspaceId: engine.actor.workspaceId,
    feedId: feed.id,
  });
  expect(freshness.last_event_at).not.toBeNull();
});
