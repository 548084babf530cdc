import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createKeyUses } from '#api/identity/key-uses.ts';
import { recordKeyUses } from '#shared/db/people/key-uses.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { eventually } from '#test/support/engine.ts';
import { hostAndPort, startProxy } from '#test/support/proxy.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';

let api: TestApi;
let other: Awaited<ReturnType<TestApi['another']>>;
beforeAll(async () => {
  api = await startTestApi();
  other = await api.another();
  // Every statement that updates keys leaves a row, even if it changes no key.
  for (const statement of [
    sql.fragment`CREATE TABLE key_writes (at timestamptz DEFAULT clock_timestamp())`,
    sql.fragment`CREATE FUNCTION note_key_write() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN INSERT INTO key_writes DEFAULT VALUES; RETURN NULL; END'`,
    sql.fragment`CREATE TRIGGER note_key_write AFTER UPDATE ON api_keys
      FOR EACH STATEMENT EXECUTE FUNCTION note_key_write()`,
  ]) {
    await run(statement);
  }
});
afterAll(async () => {
  await other.app.close();
  await api.stop();
});

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const writes = (): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n FROM key_writes`);
const stored = async (keyId: string): Promise<number> =>
  api.db.oneFirst(sql.type(
    z.object({
      at: z
        .string()
        .nullable()
        .transform(Date.parse as never),
    }),
  )`
    SELECT last_used_at AS at FROM api_keys WHERE id = ${keyId}
  `) as Promise<number>;
const make = async (): Promise<{ id: string; secret: string }> =>
  (await api.call('POST', '/api/keys', { name: 'K', role: 'admin' })).body;
const use = async (key: { secret: string }, call = api.call) =>
  call('GET', '/api/auth/me', undefined, { 'x-api-key': key.secret });
const shown = async (keyId: string, call = api.call): Promise<string | null> =>
  (await call('GET', '/api/keys')).body.find((key: { id: string }) => key.id === keyId)
    .last_used_at;

describe('the last use of a key', () => {
  soakTest('is stored with few writes for a thousand requests', async () => {
    const keys = [await make(), await make(), await make()];
    const before = await writes();
    const began = Date.now();
    let lastBatch = began;
    for (let i = 0; i < 1_000; i += 10) {
      lastBatch = Date.now();
      const batch = Array.from({ length: 10 }, (_, j) =>
        use(keys[(i + j) % 3]!, j % 2 === 0 ? api.call : other.call),
      );
      for (const answer of await Promise.all(batch)) expect(answer.status).toBe(200);
    }
    const ended = Date.now();
    const last = async () => Math.min(...(await Promise.all(keys.map((key) => stored(key.id)))));
    await eventually(async () => (await last()) >= lastBatch);
    const perProcess = Math.ceil((Date.now() - began) / 2_000);
    expect((await writes()) - before).toBeLessThanOrEqual(2 * perProcess);
    expect(await last()).toBeLessThanOrEqual(ended);
  });

  test('is visible immediately in the same process, without a write', async () => {
    const key = await make();
    expect(await shown(key.id)).toBeNull();
    const before = await writes();
    const began = new Date().toISOString();
    await use(key);
    const at = await shown(key.id);
    expect(at! >= began && at! <= new Date().toISOString()).toBe(true);
    expect(await stored(key.id)).toBeNaN();
    expect(await writes()).toBe(before);
    await eventually(async () => (await shown(key.id, other.call)) === at, 4_000);
  });

  test('is updated by requests that fail for other reasons', async () => {
    const key = await make();
    await api.call('GET', '/api/runs/run_x', undefined, { 'x-api-key': key.secret });
    expect(await shown(key.id)).not.toBeNull();
  });

  test('is written when the process stops', async () => {
    const key = await make();
    const short = await api.another();
    const began = Date.now();
    await use(key, short.call);
    await short.app.close();
    expect(await stored(key.id)).toBeGreaterThanOrEqual(began);
  });

  test('never moves backwards, regardless of write order', async () => {
    const keys = await Promise.all(Array.from({ length: 8 }, make));
    const at = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms);
    for (let round = 0; round < 50; round += 1) {
      const latest = round * 10 + 9;
      const turns = Array.from({ length: 10 }, (_, i) => {
        const uses = keys.map(({ id }) => [id, at(round * 10 + i)] as const);
        return i % 2 === 0 ? uses : uses.reverse();
      });
      await Promise.all(turns.toReversed().map((uses) => recordKeyUses(api.db, uses)));
      for (const { id } of keys) expect(await stored(id)).toBe(at(latest).getTime());
    }
    const before = await stored(keys[0]!.id);
    await recordKeyUses(api.db, [[keys[0]!.id, at(0)]]);
    expect(await stored(keys[0]!.id)).toBe(before);
  });

  soakTest('is written by concurrent processes without deadlocks', async () => {
    await run(sql.fragment`
      INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
      SELECT 'key_many_' || i, ${api.workspaceId}, 'Many', 'ops_x', sha256(i::text::bytea), 'viewer'
      FROM generate_series(1, 1000) AS i
    `);
    const ids = Array.from({ length: 1_000 }, (_, i) => `key_many_${i + 1}`);
    for (let round = 1; round <= 20; round += 1) {
      const turns = Array.from({ length: 4 }, (_, i) => {
        const uses = ids.map((id) => [id, new Date(round * 10 + i)] as const);
        return i % 2 === 0 ? uses : uses.reverse();
      });
      await Promise.all(turns.map((uses) => recordKeyUses(api.db, uses)));
      expect(await stored('key_many_500')).toBe(round * 10 + 3);
    }
    // A workspace is not allowed this many keys.
    await run(sql.fragment`DELETE FROM api_keys WHERE id LIKE 'key_many_%'`);
  });

  test('is written for a revoked key and ignored for an unknown one', async () => {
    const [revoked, kept] = [await make(), await make()];
    const began = Date.now();
    await use(revoked);
    await api.call('DELETE', `/api/keys/${revoked.id}`);
    await use(kept);
    await recordKeyUses(api.db, [[newId('apiKey'), new Date()]]);
    await eventually(async () => (await stored(kept.id)) >= began, 4_000);
    expect((await use(revoked)).status).toBe(401);
    const { body } = await api.call('GET', '/api/keys');
    const found = body.find((key: { id: string }) => key.id === revoked.id);
    expect(found.revoked).toBe(true);
    expect(Date.parse(found.last_used_at)).toBeGreaterThanOrEqual(began);
  });
});

soakDescribe('pending key uses', () => {
  test('are written when the database is back', async () => {
    const keys = [await make(), await make()] as const;
    const proxy = await startProxy(hostAndPort(api.databaseUrl));
    const url = new URL(api.databaseUrl);
    url.host = proxy.address;
    const db = await connectDatabase(url.href, { maxPoolSize: 2 });
    let logged = '';
    const log = createLogger(
      { name: 'test', level: 'warn' },
      { write: (line) => void (logged += line) },
    );
    const uses = createKeyUses({ db, log });
    proxy.cut();
    const began = Date.now();
    uses.note(keys[0].id);
    await eventually(() => logged.includes('could not write'), 10_000);
    expect(uses.latest(keys[0].id)).toBeDefined();
    uses.note(keys[1].id);
    proxy.restore();
    await eventually(async () => (await stored(keys[1].id)) >= began, 10_000);
    expect(await stored(keys[0].id)).toBeGreaterThanOrEqual(began);
    await eventually(() => uses.latest(keys[0].id) === undefined);
    await uses.stop();
    await db.end();
    await proxy.close();
  });

  test('are bounded, and the least recently used key is evicted', async () => {
    const key = await make();
    const uses = createKeyUses({
      db: api.db,
      log: createLogger({ name: 'test', level: 'silent' }),
    });
    uses.note('key_first');
    uses.note(key.id);
    for (let i = 0; i < 9_998; i += 1) uses.note(`key_${i}`);
    expect(uses.latest('key_first')).toBeDefined();
    uses.note(key.id);
    uses.note('key_one_more');
    expect(uses.latest('key_first')).toBeUndefined();
    expect(uses.latest(key.id)).toBeDefined();
    await uses.stop();
    expect(await stored(key.id)).not.toBeNaN();
  });
});
