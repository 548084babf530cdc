import { type IncomingMessage, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { csvLine } from '#api/http/csv.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { beside } from '#test/support/lock-waits.ts';
import { growth } from '#test/support/growth.ts';
import { useTestApi, type TestApi } from '#test/api/test-api.ts';
import { soakTest } from '#test/support/soak.ts';
import { addDataKey } from './data-key.ts';
import { addEntities, addEvents, addFeed, addWorkspace, type TestFeed } from './records.ts';

const api = useTestApi();
let place: { db: TestApi['db']; workspaceId: string };
let key: Awaited<ReturnType<typeof addDataKey>>;

/** Creates a workspace for the test, with a key named `Reporting`. */
async function begin(input: Parameters<typeof addDataKey>[1] = {}): Promise<TestFeed> {
  place = await addWorkspace(api.db);
  key = await addDataKey(place, { name: 'Reporting', ...input });
  return addFeed(place);
}

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const ask = (body: unknown) => api.call('POST', '/v1/exports', body, key.headers);
const chargedTo = (workspaceId: string) =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT coalesce(sum(credits), 0)::bigint AS n FROM data_charges WHERE workspace_id = ${workspaceId}`);
/** Inserts many records in one statement, oldest first. */
const fill = (feed: TestFeed, count: number, characters = 500) =>
  run(sql.fragment`
    INSERT INTO data_entities (id, workspace_id, feed_id, is_demo, external_key, entity_type, canonical_name, attributes,
                               content_hash, first_observed_at, last_observed_at)
    SELECT 'ent_' || n || ${feed.id}, ${feed.workspaceId}, ${feed.id}, false, n, 'project', 'Record ' || n,
           jsonb_build_object('text', repeat('x', ${characters}::int)), '\\x00', now() + n * interval '1 ms', now()
    FROM generate_series(1, ${count}::int) n`);

describe('an export', () => {
  test('as JSON lists the newest rows first, for a credit each', async () => {
    const feed = await begin();
    const ids = await addEntities(place, feed, [{}, {}, {}]);
    const answer = await ask({ kind: 'entities', format: 'json' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      pagination: { next_cursor: null },
      meta: { schema_version: '2026-07-01', credits_consumed: 3 },
    });
    expect(answer.body.data.map((row: any) => row.id)).toEqual(ids.reverse());
    const listed = await api.call('GET', '/v1/entities', undefined, key.headers);
    expect(answer.body.data).toEqual(listed.body.data);
    expect(answer.headers['x-export-truncated']).toBeUndefined();
  });

  test('as CSV is an attachment with a header row', async () => {
    const feed = await begin();
    await addEntities(place, feed, [
      { id: 'ent_1', canonical_name: '=cmd|"x"', attributes: { a: 'b,"c"' }, confidence: 0.5 },
    ]);
    const answer = await ask({ kind: 'entities', format: 'csv', feed_id: feed.id });
    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      'text/csv; charset=utf-8',
    ]);
    expect(answer.headers['content-disposition']).toBe('attachment; filename="entities.csv"');
    expect(answer.headers['x-credits-consumed']).toBe('1');
    const [head, row, end] = answer.text.split('\r\n');
    expect(head).toMatch(/^\ufeffid,feed_id,entity_type,canonical_name,aliases,attributes,/);
    expect(answer.text.lastIndexOf('\ufeff')).toBe(0);
    const json = await ask({ kind: 'entities', format: 'json', feed_id: feed.id });
    expect(json.text).toMatch(/^\{/);
    expect(row).toContain(`ent_1,${feed.id},project,"'=cmd|""x""",[],"{""a"": ""b,\\""c\\""""}"`);
    expect(end).toBe('');
  });

  test('does not mark events as delivered', async () => {
    const feed = await begin();
    const [entity = ''] = await addEntities(place, feed, [{}]);
    await addEvents(place, feed, entity, [{}, { verification_status: 'human_reviewed' }]);
    const { body } = await ask({ kind: 'events', format: 'json' });
    expect(body.meta.credits_consumed).toBe(2);
    expect(body.data.map((row: any) => row.delivered_at)).toEqual([null, null]);
  });

  test('without rows is empty and free', async () => {
    await begin();
    const json = await ask({ kind: 'entities', format: 'json' });
    expect([json.body.data, json.body.meta.credits_consumed]).toEqual([[], 0]);
    const csv = await ask({ kind: 'events', format: 'csv' });
    expect(csv.text.split('\r\n')).toEqual([expect.stringMatching(/^\ufeffid,/), '']);
  });

  test('is cut at 10,000 rows, says so, and charges for those', async () => {
    const feed = await begin();
    await fill(feed, 10_001);
    const answer = await ask({ kind: 'entities', format: 'csv' });
    expect(answer.headers['x-export-truncated']).toBe('true');
    const lines = answer.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(10_001);
    expect([lines[1], lines[10_000]]).toEqual([
      expect.stringMatching(/^ent_10001feed/),
      expect.stringMatching(/^ent_2feed/),
    ]);
    expect(await chargedTo(place.workspaceId)).toBe(10_000);
  });

  test('without enough credits is 402, uncharged and unaudited', async () => {
    const feed = await begin({ monthly_credit_allowance: 2 });
    await addEntities(place, feed, [{}, {}, {}]);
    const answer = await ask({ kind: 'entities', format: 'csv' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([402, ['detail']]);
    expect(await chargedTo(place.workspaceId)).toBe(0);
    expect(await auditedExports()).toEqual([]);
  });

  test('is audited under the name of its key and queues an event for subscribers', async () => {
    const feed = await begin();
    await addEntities(place, feed, [{}]);
    await run(sql.fragment`
      INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
      VALUES (${newId('endpoint')}, ${place.workspaceId}, false, 'https://example.org', '{export.completed}', 'x')`);
    await ask({ kind: 'entities', format: 'csv', feed_id: feed.id });
    const details = {
      kind: 'entities',
      format: 'csv',
      feed_id: feed.id,
      rows: 1,
      truncated: false,
    };
    expect(await auditedExports()).toEqual([{ actor_id: null, actor_name: 'Reporting', details }]);
    const told = await api.db.oneFirst(sql.type(z.object({ data: z.unknown() }))`
      SELECT data FROM outbound_events WHERE workspace_id = ${place.workspaceId}`);
    expect(told).toEqual({ export_id: expect.stringMatching(/^exp_/), ...details });
  });

  const auditedExports = () =>
    api.db.any(sql.type(
      z.object({
        actor_id: z.string().nullable(),
        actor_name: z.string(),
        details: z.unknown(),
      }),
    )`SELECT actor_id, actor_name, details FROM audit_log
      WHERE workspace_id = ${place.workspaceId} AND action = 'data_export'`);

  test.each([
    [{}, 422],
    [{ kind: 'feeds', format: 'json' }, 422],
    [{ kind: 'entities', format: 'xml' }, 422],
    [{ kind: 'entities', format: 'json', limit: 5 }, 422],
    [{ kind: 'entities', format: 'json', feed_id: 5 }, 422],
    [{ kind: 'entities', format: 'json', feed_id: 'feed_none' }, 404],
  ])('%j is refused', async (body, status) => {
    await begin();
    expect((await ask(body)).status).toBe(status);
  });

  test('of a feed of another workspace or mode is 404', async () => {
    const feed = await begin();
    const demo = await addFeed(place, true);
    await begin();
    for (const feed_id of [feed.id, demo.id]) {
      const answer = await ask({ kind: 'entities', format: 'json', feed_id });
      expect([answer.status, answer.body]).toEqual([404, { detail: 'Feed not found' }]);
    }
  });
});

describe('an export with an Idempotency-Key', () => {
  const withKey = (idempotencyKey: string, body: object) =>
    api.call('POST', '/v1/exports', body, { ...key.headers, 'idempotency-key': idempotencyKey });
  const formats = [{ format: 'json' }, { format: 'csv' }];

  test.each(formats)('as $format is charged once, and is the same again', async ({ format }) => {
    const feed = await begin();
    await addEntities(place, feed, [{}, {}]);
    const body = { kind: 'entities', format };
    const first = await withKey('k', body);
    expect([first.status, first.headers['x-credits-consumed']]).toEqual([200, '2']);
    await addEntities(place, feed, [{}]);
    await run(
      sql.fragment`UPDATE data_entities SET canonical_name = 'Changed' WHERE feed_id = ${feed.id}`,
    );
    const again = await withKey('k', body);
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(again.headers).toMatchObject({
      'idempotent-replayed': 'true',
      'x-credits-consumed': '0',
    });
    for (const name of ['content-type', 'content-disposition']) {
      expect(again.headers[name]).toBe(first.headers[name]);
    }
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    expect(await chargedTo(feed.workspaceId)).toBe(2);
    const other = await withKey('other', body);
    expect(other.text).toContain('Changed');
    expect(await chargedTo(feed.workspaceId)).toBe(5);
  });

  test.each(formats)(
    'of more than 1 MB as $format is charged once, and has the same rows',
    async ({ format }) => {
      const feed = await begin();
      await fill(feed, 3_000);
      const body = { kind: 'entities', format };
      const first = await withKey('k', body);
      expect(first.text.length).toBeGreaterThan(1_500_000);
      const plain = await ask(body);
      const content = ({ text }: { text: string }) => text.split('"request_id"')[0];
      expect(content(first)).toBe(content(plain));
      await fill({ ...feed, id: (await addFeed(place)).id }, 3);
      const again = await withKey('k', body);
      expect([again.status, again.text === first.text]).toEqual([200, true]);
      expect(again.headers).toMatchObject({
        'idempotent-replayed': 'true',
        'x-credits-consumed': '0',
      });
      expect(await chargedTo(feed.workspaceId)).toBe(6_000);
      const stored = await api.db.oneFirst(sql.type(z.object({ bytes: z.number() }))`
      SELECT length(answer) AS bytes FROM idempotent_answers WHERE workspace_id = ${feed.workspaceId}`);
      expect(stored).toBeLessThan(200_000);
    },
  );

  test('that was cut says so again', async () => {
    const feed = await begin();
    await fill(feed, 10_001, 1);
    await api.db.query(
      sql.unsafe`UPDATE workspaces SET plan = 'enterprise' WHERE id = ${feed.workspaceId}`,
    );
    const body = { kind: 'entities', format: 'csv' };
    const [first, again] = [await withKey('k', body), await withKey('k', body)];
    for (const { headers, text } of [first, again]) {
      expect(headers['x-export-truncated']).toBe('true');
      expect(text).toBe(first.text);
    }
    expect(await chargedTo(feed.workspaceId)).toBe(10_000);
  });

  test('is charged once for requests at once', async () => {
    const feed = await begin();
    await addEntities(place, feed, [{}, {}]);
    const body = { kind: 'entities', format: 'json' };
    const answers = await Promise.all([withKey('k', body), withKey('k', body)]);
    const sent = answers.filter(({ status }) => status === 200);
    expect(sent.length).toBeGreaterThan(0);
    expect(new Set(sent.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([]);
    expect(await chargedTo(feed.workspaceId)).toBe(2);
  });

  test('gets the export of a request that ended while it waited to be charged', async () => {
    const feed = await begin();
    await addEntities(place, feed, [{}, {}]);
    const body = { kind: 'entities', format: 'json' };
    const earlier = await withKey('k', body);
    const hidden = await api.db.one(sql.type(z.object({ id: z.any() }))`
      UPDATE idempotent_answers SET created_at = created_at - interval '2 days'
      WHERE workspace_id = ${feed.workspaceId} RETURNING encode(id, 'hex') AS id`);
    expect(hidden.id).toEqual(expect.any(String));
    // The second request has looked for an answer, and waits for its snapshot.
    const second = await beside(
      api.db,
      sql.fragment`LOCK TABLE data_entities IN ACCESS EXCLUSIVE MODE`,
      () => withKey('k', body),
      () =>
        run(sql.fragment`
          UPDATE idempotent_answers SET created_at = now() WHERE workspace_id = ${feed.workspaceId}`),
    );
    expect([second.status, second.text]).toEqual([200, earlier.text]);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(await chargedTo(feed.workspaceId)).toBe(2);
  });

  test('without enough credits uses no key up', async () => {
    const feed = await begin({ monthly_credit_allowance: 2 });
    await addEntities(place, feed, [{}, {}, {}]);
    const body = { kind: 'entities', format: 'json' };
    expect((await withKey('k', body)).status).toBe(402);
    await run(sql.fragment`DELETE FROM data_entities WHERE external_key = (
      SELECT min(external_key) FROM data_entities WHERE workspace_id = ${feed.workspaceId})`);
    const sent = await withKey('k', body);
    expect([sent.status, sent.body.data.length]).toEqual([200, 2]);
    expect(sent.headers['idempotent-replayed']).toBeUndefined();
  });

  test('is refused with another body', async () => {
    await begin();
    await withKey('k', { kind: 'entities', format: 'json' });
    const other = await withKey('k', { kind: 'events', format: 'json' });
    expect(other.status).toBe(422);
  });
});

describe('exports in progress', () => {
  test('ignore rows that are changed or deleted in the meantime', async () => {
    const feed = await begin();
    await fill(feed, 3_000);
    const reader = await slowReader();
    await run(sql.fragment`DELETE FROM data_entities WHERE feed_id = ${feed.id} AND seq % 2 = 0`);
    await run(
      sql.fragment`UPDATE data_entities SET canonical_name = 'New' WHERE feed_id = ${feed.id}`,
    );
    const { data, meta } = JSON.parse(await reader.rest());
    expect([data.length, meta.credits_consumed]).toEqual([3_000, 3_000]);
    expect(data.filter((row: any) => row.canonical_name === 'New')).toEqual([]);
    expect(await chargedTo(place.workspaceId)).toBe(3_000);
  });

  test('are limited to two per workspace, and disconnected readers release their slots', async () => {
    const feed = await begin();
    // More than the buffers of two sockets can hold.
    await fill(feed, 10_000, 3_000);
    const readers = [await slowReader(), await slowReader()];
    const refused = await ask({ kind: 'entities', format: 'json' });
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, expect.any(String)]);
    for (const reader of readers) reader.leave();
    await until(async () => (await openTransactions()) === 0);
    await until(async () => (await ask({ kind: 'entities', format: 'json' })).status === 200);
  });

  const openTransactions = () =>
    api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND state LIKE 'idle in transaction%'`);

  async function until(condition: () => Promise<boolean>): Promise<void> {
    const end = Date.now() + 10_000;
    while (!(await condition())) {
      if (Date.now() > end) throw new Error('not within 10 s');
      await sleep(50);
    }
  }

  /** A reader that gets the head of the response and then stops reading. */
  async function slowReader() {
    if (!api.app.server.listening) await api.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = api.app.server.address() as AddressInfo;
    const request = httpRequest({
      port,
      method: 'POST',
      path: '/v1/exports',
      headers: { ...key.headers, 'content-type': 'application/json' },
    });
    request.on('error', () => undefined);
    request.end(JSON.stringify({ kind: 'entities', format: 'json' }));
    const response = await new Promise<IncomingMessage>((resolve) => {
      request.once('response', resolve);
    });
    expect(response.statusCode).toBe(200);
    response.on('error', () => undefined);
    return {
      leave: () => request.destroy(),
      rest: async () => {
        let text = '';
        for await (const chunk of response.setEncoding('utf8')) text += String(chunk);
        return text;
      },
    };
  }
});

describe('a CSV cell', () => {
  test.each<[unknown, string]>([
    [null, ''],
    ['', ''],
    [-1.5, '-1.5'],
    [true, 'true'],
    ['plain', 'plain'],
    ['a,b', '"a,b"'],
    ['say "x"', '"say ""x"""'],
    [{ a: [1, '=1'] }, '"{""a"":[1,""=1""]}"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\rx', '"\'\rx"'],
    ['  =1', "'  =1"],
    ['\u00a0=1', "'\u00a0=1"],
    ['\ufeff=1', "'\ufeff=1"],
    ['\u200b@x', "'\u200b@x"],
    ['\uff1d1', "'\uff1d1"],
    ['\uff20x', "'\uff20x"],
    ['a=1', 'a=1'],
    ['one\n=2', '"one\n\'=2"'],
    ['one\r\n  +2\r\nx', '"one\r\n\'  +2\r\nx"'],
    ['\n=1', '"\'\n\'=1"'],
  ])('%j becomes %j', (value, cell) => {
    expect(csvLine([value, 1])).toBe(`${cell},1\r\n`);
  });

  soakTest('takes linear time in its blanks', () => {
    const writing = (length: number) => {
      const text = `${' '.repeat(length)}x${'\n '.repeat(length / 3)}`;
      return () => csvLine([text]);
    };
    expect(growth(writing, 20_000)).toBeLessThan(3);
  });
});
