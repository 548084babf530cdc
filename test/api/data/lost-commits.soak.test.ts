import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { chargeBatch, findTaken, takeCredits } from '#shared/db/data/metering.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { startPostgresWire, type PostgresWire } from '#test/support/postgres-wire.ts';
import { callerOf, startTestApi, type TestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import { addEntities, addEvents, addFeed } from './records.ts';

// The connection to Postgres is lost while credits are charged: an answered request is charged exactly once, a request
// without an answer is not charged.

let api: TestApi;
let wire: PostgresWire;
let db: Pool;
let app: App;
let lossy: ReturnType<typeof callerOf>;
let entityId: string;
let headers: Record<string, string>;
beforeAll(async () => {
  api = await startTestApi();
  wire = await startPostgresWire(api.databaseUrl);
  db = await connectDatabase(wire.url, { maxPoolSize: 4 });
  app = buildApp({ ...api, db, findRunnable });
  await app.ready();
  lossy = callerOf(app);
  const feed = await addFeed(api);
  const ids = await addEntities(api, feed, [{}, {}, {}]);
  entityId = ids[0]!;
  await addEvents(api, feed, entityId, [{}, {}]);
  await api.db.query(sql.unsafe`
    INSERT INTO data_changes (id, changed_at, workspace_id, feed_id, is_demo, entity_id, entity_type, version, attribute, old_value, new_value)
    SELECT 'chg_' || id, now(), workspace_id, feed_id, is_demo, id, entity_type, 2, 'status', '"a"', '"b"' FROM data_entities`);
  headers = (await addDataKey(api)).headers;
}, 60_000);
afterAll(async () => {
  await app.close();
  await db.end();
  wire.close();
  await api.stop();
});
beforeEach(() => wire.mend());

const paid = async () => {
  const row = z.object({
    charges: z.number(),
    ledger: z.number(),
    plan: z.number(),
    keys: z.number(),
  });
  const { charges, ledger, plan, keys } = await api.db.one(sql.type(row)`
    SELECT (SELECT count(*) FROM data_charges) AS charges,
           (SELECT coalesce(sum(credits), 0)::bigint FROM data_charges) AS ledger,
           (SELECT coalesce(sum(credits), 0)::bigint FROM data_months) AS plan,
           (SELECT coalesce(sum(credits), 0)::bigint FROM data_key_months) AS keys`);
  expect([plan, keys]).toEqual([ledger, ledger]);
  return { charges, credits: ledger };
};
const get = (path: string) => lossy('GET', `/v1/${path}`, undefined, headers);
const TAKING = 'INSERT INTO data_charges';

describe.each([
  ['a list of records', () => 'entities', TAKING],
  ['a record', () => `entities/${entityId}`, TAKING],
  ['a record with its history', () => `entities/${entityId}?include=history`, TAKING],
  ['a list of changes', () => 'changes', TAKING],
  ['a list of events', () => 'events', 'COMMIT'],
])('%s', (_what, path, at) => {
  test('costs nothing when the connection is lost before the charge', async () => {
    const before = await paid();
    wire.breakAt({ at, when: 'sent' });
    const { status, body } = await get(path());
    expect([wire.hasBroken(), status, body.detail]).toEqual([
      true,
      503,
      'The database cannot be reached; try again',
    ]);
    expect(await paid()).toEqual(before);
  });

  test('is returned and charged once when the response of the charge is lost', async () => {
    const before = await paid();
    wire.breakAt({ at, when: 'answered' });
    const { status, body, headers: told, text } = await get(path());
    expect([wire.hasBroken(), status, text]).toEqual([true, 200, text]);
    const after = await paid();
    expect(after.charges).toBe(before.charges + 1);
    expect(body.meta.credits_consumed).toBe(after.credits - before.credits);
    expect(told['x-credits-consumed']).toBe(String(after.credits - before.credits));
    expect(told['x-credits-remaining']).toBe(String(5_000 - after.credits));
  });

  test('is 503 with an unknown outcome when Postgres stays down', async () => {
    const before = await paid();
    wire.breakAt({ at, when: 'answered', thenDown: true });
    const { status, body } = await get(path());
    wire.mend();
    expect([wire.hasBroken(), status, body.detail]).toEqual([
      true,
      503,
      expect.stringContaining('the outcome is unknown'),
    ]);
    expect((await paid()).charges).toBe(before.charges + 1);
  }, 20_000);
});

test('of concurrent requests, charged ones succeed and those over the allowance are refused', async () => {
  const { headers: limited } = await addDataKey(api, { monthly_credit_allowance: 7 });
  // All requests share one request id, so charges cannot be looked up by it.
  const same = { ...limited, 'x-request-id': 'the-same-for-all' };
  const one = () => lossy('GET', '/v1/entities', undefined, same);
  const before = await paid();
  wire.breakAt({ at: TAKING, when: 'answered' });
  const answers = await Promise.all(Array.from({ length: 6 }, one));
  expect(wire.hasBroken()).toBe(true);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 402, 402, 402, 402]);
  const after = await paid();
  expect([after.charges - before.charges, after.credits - before.credits]).toEqual([2, 6]);
});

test('findTaken finds each charge of a batch, and nothing for a batch that was not sent', async () => {
  const { id: keyId, headers: limited } = await addDataKey(api, { monthly_credit_allowance: 7 });
  expect((await lossy('GET', '/v1/feeds', undefined, limited)).status).toBe(200);
  const month = await api.db.oneFirst(sql.type(z.object({ month: z.string() }))`
    SELECT month::text FROM data_key_months WHERE key_id = ${keyId}`);
  const payer = { workspaceId: api.workspaceId, keyId, month };
  const cost = (credits: number) => ({ requestId: 'same', operation: 'x', credits, records: 1 });
  const batch = chargeBatch([cost(3), cost(5), cost(3), cost(3), cost(1)]);
  expect(await findTaken(db, payer, batch)).toBeNull();
  const taken = await takeCredits(db, payer, batch);
  expect(taken.map((charge) => charge.taken)).toEqual([true, false, true, false, true]);
  const found = await findTaken(db, payer, batch);
  expect(found?.map((charge) => charge.taken)).toEqual([true, false, true, false, true]);
  expect(found?.at(-1)).toEqual(taken.at(-1));
  expect(await findTaken(db, payer, chargeBatch(batch.charges))).toBeNull();
});
