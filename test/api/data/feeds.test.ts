import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { listFeeds, readFeed } from '#shared/db/data/feeds.ts';
import { listSources, reportSource } from '#shared/db/data/sources.ts';
import { sql } from '#shared/db/pool.ts';
import { subscribeToAll, outboundEventsOf } from '#test/support/outbound-events.ts';
import { useTestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi();
beforeAll(async () => {
  await subscribeToAll(api);
});

let made = 0;
const source = async (fields: object = {}) =>
  api.call('POST', '/api/data/sources', {
    name: `source-${(made += 1)}`,
    type: 'portal',
    ...fields,
  });
const feed = async (fields: object = {}) =>
  api.call('POST', '/api/data/feeds', { name: 'Projects', ...fields });
const lastEntry = async () => (await api.call('GET', '/api/audit?limit=1')).body.logs[0];

describe('a feed', () => {
  test('is created with defaults, read, listed and audited', async () => {
    const { status, body, headers } = await feed({ specification: { every: 'day' } });
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/data/feeds/${body.id}`);
    expect(body).toEqual({
      id: expect.stringMatching(/^feed_[0-9a-z]{26}$/),
      name: 'Projects',
      description: '',
      status: 'active',
      freshness: { last_event_at: null, last_checked_at: null, lag_seconds: null },
      entity_types: [],
      schema: {},
      geography: {},
      specification: { every: 'day' },
      is_demo: false,
      created_at: expect.any(String),
      updated_at: body.created_at,
      etag: expect.any(String),
    });
    expect((await api.call('GET', `/api/data/feeds/${body.id}`)).body).toEqual(body);
    const { specification: _left, ...listed } = body;
    expect((await api.call('GET', '/api/data/feeds')).body[0]).toEqual(listed);
    expect(await lastEntry()).toMatchObject({
      action: 'create',
      target_type: 'feed',
      target_id: body.id,
    });
  });

  test('queues one event when its status changes', async () => {
    const { body } = await feed();
    const url = `/api/data/feeds/${body.id}`;
    const paused = await api.call('PUT', url, { status: 'paused' });
    expect(paused.body).toMatchObject({ status: 'paused', name: 'Projects' });
    await api.call('PUT', url, { status: 'paused' });
    await api.call('PUT', url, { description: 'x' });
    const told = await outboundEventsOf(api, 'feed.status_changed');
    expect(told.filter(({ feed_id }) => feed_id === body.id)).toEqual([
      { feed_id: body.id, name: 'Projects', from: 'active', to: 'paused' },
    ]);
    expect((await lastEntry()).details).toEqual({ name: 'Projects', changed: ['description'] });
  });

  test('that is archived can be read by ID and left out of lists', async () => {
    const { body } = await feed({ status: 'archived' });
    expect((await api.call('GET', `/api/data/feeds/${body.id}`)).status).toBe(200);
    const { workspaceId } = api;
    const ids = async (archived: boolean) =>
      (await listFeeds(api.db, { workspaceId, isDemo: false, archived })).map(({ id }) => id);
    expect(await ids(true)).toContain(body.id);
    expect(await ids(false)).not.toContain(body.id);
  });

  test('is either demo or live, and cannot change', async () => {
    const { body } = await feed({ is_demo: true });
    const { workspaceId } = api;
    await expect(readFeed(api.db, { workspaceId, isDemo: false, feedId: body.id })).rejects.toThrow(
      'Feed not found',
    );
    expect((await readFeed(api.db, { workspaceId, isDemo: true, feedId: body.id })).id).toBe(
      body.id,
    );
    const real = await listFeeds(api.db, { workspaceId, isDemo: false, archived: true });
    expect(real.map(({ id }) => id)).not.toContain(body.id);
    const changed = await api.call('PUT', `/api/data/feeds/${body.id}`, { is_demo: false });
    expectRefusal(changed, 400, expect.stringContaining('is_demo'));
  });

  test.each<[string, object]>([
    ['entity_types', { entity_types: ['Has Space'] }],
    ['entity_types', { entity_types: ['a', 'a'] }],
    ['specification', { specification: { x: 'y'.repeat(100_001) } }],
  ])('is refused, naming %s', async (field, fields) => {
    const { status, body } = await feed(fields);
    expect([status, body.detail]).toEqual([400, expect.stringContaining(field)]);
  });

  test('is deleted with its records', async () => {
    const { body } = await feed();
    const records = Array.from({ length: 20 }, (_, n) => ({
      type: 'entity',
      external_key: `k${n}`,
      entity_type: 'project',
      canonical_name: `Project ${n}`,
      attributes: {},
    }));
    await api.call('POST', '/api/data/ingest', { feed_id: body.id, records });
    expect((await api.call('DELETE', `/api/data/feeds/${body.id}`)).status).toBe(204);
    expect((await api.call('GET', `/api/data/feeds/${body.id}`)).status).toBe(404);
    expect((await api.call('DELETE', `/api/data/feeds/${body.id}`)).status).toBe(404);
    const left = await api.db.oneFirst(sql.type(z.object({ count: z.number() }))`
      SELECT count(*) FROM data_entities WHERE feed_id = ${body.id}`);
    expect(left).toBe(0);
  });
});

describe('a source', () => {
  test('is created, read, listed, changed, deleted and audited', async () => {
    const { status, body } = await source({ name: 'Portal', reliability_score: 0.5 });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^src_/),
      name: 'Portal',
      type: 'portal',
      jurisdiction: null,
      cadence: null,
      permission_status: null,
      license_status: null,
      reliability_score: 0.5,
      health: {
        status: 'unknown',
        last_success_at: null,
        consecutive_failures: 0,
        last_failure_at: null,
        last_error: null,
      },
      is_demo: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      etag: expect.any(String),
    });
    const url = `/api/data/sources/${body.id}`;
    expect((await api.call('GET', url)).body).toEqual(body);
    expect((await api.call('GET', '/api/data/sources')).body).toContainEqual(body);
    const changed = await api.call('PUT', url, { cadence: 'daily' });
    expect(changed.body).toMatchObject({ cadence: 'daily', reliability_score: 0.5 });
    expect((await lastEntry()).details).toEqual({ name: 'Portal', changed: ['cadence'] });
    expect((await api.call('DELETE', url)).status).toBe(204);
    expect((await api.call('GET', url)).status).toBe(404);
  });

  test('has a unique name among live and among demo sources', async () => {
    await source({ name: 'Twice' });
    const again = await source({ name: 'Twice' });
    expectRefusal(again, 409, 'A source with this name already exists');
    expect((await source({ name: 'Twice', is_demo: true })).status).toBe(201);
    const other = await source();
    const renamed = await api.call('PUT', `/api/data/sources/${other.body.id}`, { name: 'Twice' });
    expect(renamed.status).toBe(409);
    const { workspaceId } = api;
    const demo = await listSources(api.db, { workspaceId, isDemo: true });
    expect(demo.map(({ name }) => name)).toEqual(['Twice']);
  });
});

describe('the health of a source', () => {
  const checks = async () =>
    api.db.maybeOneFirst(sql.type(z.object({ source_checks: z.number() }))`
      SELECT source_checks FROM data_months WHERE workspace_id = ${api.workspaceId}`);
  const report = async (id: string, body: object) =>
    api.call('POST', `/api/data/sources/${id}/report`, body);

  test('fails on the third consecutive failure, recovers on success, and queues one event for each', async () => {
    const { body } = await source();
    const before = (await checks()) ?? 0;
    const statuses = [];
    for (const ok of [true, false, false, true, false, false, false, false, true, true]) {
      const answer = await report(body.id, ok ? { ok } : { ok, error: '503' });
      statuses.push(`${answer.body.health.status} ${answer.body.health.consecutive_failures}`);
    }
    expect(statuses).toEqual([
      'healthy 0',
      'healthy 1',
      'healthy 2',
      'healthy 0',
      'healthy 1',
      'healthy 2',
      'failed 3',
      'failed 4',
      'healthy 0',
      'healthy 0',
    ]);
    expect(await checks()).toBe(before + 10);
    const of = ({ source_id }: { source_id?: unknown }) => source_id === body.id;
    expect((await outboundEventsOf(api, 'source.failed')).filter(of)).toEqual([
      { source_id: body.id, name: body.name, consecutive_failures: 3, error: '503' },
    ]);
    expect((await outboundEventsOf(api, 'source.recovered')).filter(of)).toEqual([
      { source_id: body.id, name: body.name },
    ]);
    expect(await lastEntry()).toMatchObject({ action: 'report', target_id: body.id });
  });

  test('counts every concurrent failure and queues one event', async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const { body } = await source();
      await Promise.all(Array.from({ length: 8 }, () => report(body.id, { ok: false })));
      const { body: after } = await api.call('GET', `/api/data/sources/${body.id}`);
      expect(after.health).toMatchObject({ status: 'failed', consecutive_failures: 8 });
      const told = await outboundEventsOf(api, 'source.failed');
      expect(told.filter(({ source_id }) => source_id === body.id)).toHaveLength(1);
    }
  });

  test('counts a repeated report once', async () => {
    const { body } = await source();
    const check = {
      workspaceId: api.workspaceId,
      source: body.name,
      ok: false,
      reportKey: 'step-1',
    };
    const before = await checks();
    for (let time = 0; time < 3; time += 1) {
      const { health } = await api.db.transaction((tx) => reportSource(tx, check));
      expect(health.consecutive_failures).toBe(1);
    }
    expect(await checks()).toBe((before ?? 0) + 1);
  });

  test('uses the given check time and refuses one in the future', async () => {
    const { body } = await source();
    const checked_at = '2026-01-02T03:04:05.000Z';
    const { body: after } = await report(body.id, { ok: true, checked_at });
    expect(after.health.last_success_at).toBe(checked_at);
    const ahead = await report(body.id, { ok: true, checked_at: '2999-01-01T00:00:00Z' });
    expect([ahead.status, ahead.body.detail]).toEqual([400, expect.stringContaining('future')]);
    expect((await report('src_nobody', { ok: true })).status).toBe(404);
  });
});
