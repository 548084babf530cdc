import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { deleteExpiredAnswers } from '#shared/db/idempotency.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { resealEverything } from '#shared/operations/secrets/reseal.ts';
import { rowTexts } from '#test/support/stored-texts.ts';
import { beside } from '#test/support/lock-waits.ts';
import { startPostgresWire } from '#test/support/postgres-wire.ts';
import { addDataKey } from './data/data-key.ts';
import { addCaller } from './people/caller.ts';
import { callerOf, oneStep, type TestApi, useTestApi } from './test-api.ts';

// Without a worker: jobs stay as they were started.

const OLD = 'the old key of this test';
const NEW = 'the new key of this test';
const api = useTestApi({ ENCRYPTION_KEY: OLD });

const keyed = (key: string, headers: Record<string, string> = {}) => ({
  'idempotency-key': key,
  ...headers,
});
const count = (table: string) =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*)::int AS n FROM ${sql.identifier([table])}`);
const made = async (url: string, body: unknown, headers?: Record<string, string>) => {
  const answer = await api.call('POST', url, body, headers);
  expect([url, answer.status, answer.text]).toEqual([url, expect.any(Number), answer.text]);
  return answer.body;
};
const addWorkflow = async (): Promise<string> =>
  (await made('/api/workflows', { name: 'x', graph: oneStep })).id;
const endpoint = { url: 'https://no-such.invalid/', events: ['ping'] };
const addEndpoint = async (): Promise<string> => (await made('/api/webhooks', endpoint)).id;
const backtest = { policies: {}, since: '2026-01-01' };
const BACKTEST = '/api/workspace/policies/backtest';
const freeJobs = () => api.db.query(sql.unsafe`DELETE FROM background_jobs`);

interface Act {
  url: string;
  body?: object;
  /** The table with a row for each time it was done. */
  table: string;
  headers?: Record<string, string>;
}

const dataKey = async () => (await addDataKey(api)).headers;
const routes: [string, () => Promise<Act>][] = [
  [
    'POST /api/workflows/{id}/experiments',
    async () => {
      const id = await addWorkflow();
      const runId = (await made(`/api/workflows/${id}/runs`, {})).id;
      await api.db.query(sql.unsafe`
        UPDATE runs SET status = 'success', finished_at = now() WHERE id = ${runId}`);
      const body = { candidate: { version: 1 }, runs: [runId] };
      return { url: `/api/workflows/${id}/experiments`, body, table: 'background_jobs' };
    },
  ],
  [`POST ${BACKTEST}`, async () => ({ url: BACKTEST, body: backtest, table: 'background_jobs' })],
  [
    'POST /api/workflows/{id}/inbound-events/replay',
    async () => ({
      url: `/api/workflows/${await addWorkflow()}/inbound-events/replay`,
      body: { since: '2026-01-01' },
      table: 'background_jobs',
    }),
  ],
  [
    'POST /api/schedules',
    async () => ({
      url: '/api/schedules',
      body: { workflow_id: await addWorkflow(), cron: '0 9 * * *' },
      table: 'schedules',
    }),
  ],
  [
    'POST /api/schedules/{id}/trigger',
    async () => {
      const body = { workflow_id: await addWorkflow(), cron: '0 9 * * *', overlap: 'allow' };
      const { id } = await made('/api/schedules', body);
      return { url: `/api/schedules/${id}/trigger`, table: 'runs' };
    },
  ],
  [
    'POST /api/workflows/{id}/triggers',
    async () => ({
      url: `/api/workflows/${await addWorkflow()}/triggers`,
      body: { event: 'a.happened' },
      table: 'event_triggers',
    }),
  ],
  [
    'POST /api/webhooks',
    async () => ({ url: '/api/webhooks', body: endpoint, table: 'data_endpoints' }),
  ],
  [
    'POST /api/webhooks/{id}/rotate-secret',
    async () => ({
      url: `/api/webhooks/${await addEndpoint()}/rotate-secret`,
      table: 'audit_log',
    }),
  ],
  [
    'POST /api/webhooks/{id}/ping',
    async () => ({ url: `/api/webhooks/${await addEndpoint()}/ping`, table: 'data_deliveries' }),
  ],
  [
    'POST /api/webhooks/{id}/deliveries/{delivery_id}/redeliver',
    async () => {
      const id = await addEndpoint();
      const delivery = (await made(`/api/webhooks/${id}/ping`, undefined)).id;
      await api.db.query(sql.unsafe`
        UPDATE data_deliveries SET status = 'delivered', ended_at = now() WHERE id = ${delivery}`);
      return { url: `/api/webhooks/${id}/deliveries/${delivery}/redeliver`, table: 'audit_log' };
    },
  ],
  [
    'POST /api/webhooks/{id}/redeliver',
    async () => ({
      url: `/api/webhooks/${await addEndpoint()}/redeliver`,
      body: {},
      table: 'audit_log',
    }),
  ],
  [
    'POST /v1/webhooks',
    async () => ({
      url: '/v1/webhooks',
      body: endpoint,
      table: 'data_endpoints',
      headers: await dataKey(),
    }),
  ],
  [
    'POST /v1/webhooks/{id}/rotate-secret',
    async () => {
      const headers = await dataKey();
      const { id } = (await made('/v1/webhooks', endpoint, headers)).data;
      return { url: `/v1/webhooks/${id}/rotate-secret`, table: 'audit_log', headers };
    },
  ],
];

describe.each(routes)('%s', (_route, prepare) => {
  test('acts once per key, and answers as at first', async () => {
    await freeJobs();
    const { url, body, table, headers } = await prepare();
    const before = await count(table);
    const first = await api.call('POST', url, body, keyed('k', headers));
    expect([first.status, first.text]).toEqual([expect.any(Number), first.text]);
    expect(first.status).toBeLessThan(300);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    const again = await api.call('POST', url, body, keyed('k', headers));
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect(again.headers).toMatchObject({ 'idempotent-replayed': 'true' });
    expect(again.headers['location']).toEqual(first.headers['location']);
    expect(await count(table)).toBe(before + 1);
    await freeJobs();
  });
});

describe('a key', () => {
  const start = (key: string, body: object = backtest, headers?: Record<string, string>) =>
    api.call('POST', BACKTEST, body, keyed(key, headers));

  test('is refused with another body', async () => {
    await freeJobs();
    await start('body');
    const other = await start('body', { ...backtest, since: '2026-01-02' });
    expect(other).toMatchObject({
      status: 422,
      body: { detail: 'This Idempotency-Key was used with another request; use a new key' },
    });
    expect(await count('background_jobs')).toBe(1);
  });

  test('belongs to the credential', async () => {
    await freeJobs();
    const [one, two] = [
      await addCaller(api, { role: 'admin' }),
      await addCaller(api, { role: 'admin' }),
    ];
    const first = await start('own', backtest, one.headers);
    const second = await start('own', backtest, two.headers);
    const open = await start('own');
    const ids = [first, second, open].map(({ body }) => body.id);
    expect(new Set(ids).size).toBe(3);
    expect((await start('own', backtest, two.headers)).body.id).toBe(second.body.id);
    await freeJobs();
  });

  test('of one API key of a member is not that of another one', async () => {
    const url = '/v1/webhooks';
    const [one, two] = [await dataKey(), await dataKey()];
    const first = await api.call('POST', url, endpoint, keyed('two', one));
    const second = await api.call('POST', url, endpoint, keyed('two', two));
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.data.id).not.toBe(second.body.data.id);
  });

  test('belongs to the path', async () => {
    const [one, two] = [await addEndpoint(), await addEndpoint()];
    const ping = (id: string) =>
      api.call('POST', `/api/webhooks/${id}/ping`, undefined, keyed('p'));
    const [first, second] = [await ping(one), await ping(two)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.id).not.toBe(second.body.id);
  });

  test('is not used up by a refusal', async () => {
    await freeJobs();
    const later = new Date(Date.now() + 86_400_000).toISOString();
    expect(await start('refused', { ...backtest, since: later })).toMatchObject({ status: 400 });
    const unknown = { ...backtest, workflow_id: 'wf_0' };
    expect(await start('refused', unknown)).toMatchObject({ status: 404 });
    const accepted = await start('refused');
    expect(accepted.status).toBe(202);
    expect(accepted.headers['idempotent-replayed']).toBeUndefined();
  });

  test('must be printable', async () => {
    expect(await start('k'.repeat(256))).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('idempotency-key must be 1 to 255 printable') },
    });
  });

  test('can be used again after 24 hours, and the sweep deletes its answer', async () => {
    await freeJobs();
    const first = await start('old');
    const age = (hours: number) =>
      api.db.query(sql.unsafe`
        UPDATE idempotent_answers SET created_at = created_at - ${hours} * interval '1 hour'`);
    await age(23);
    expect((await start('old')).body.id).toBe(first.body.id);
    await age(1);
    const second = await start('old', { ...backtest, since: '2026-01-02' });
    expect([second.status, second.body.id === first.body.id]).toEqual([202, false]);
    await age(24);
    const all = await count('idempotent_answers');
    expect(all).toBeGreaterThan(0);
    expect(await deleteExpiredAnswers(api.db, newId('workspace'))).toBe(0);
    expect(await deleteExpiredAnswers(api.db, api.workspaceId)).toBe(all);
    expect(await count('idempotent_answers')).toBe(0);
    await freeJobs();
  });

  test('is in use while the first request is in progress', async () => {
    await freeJobs();
    let meanwhile: Awaited<ReturnType<typeof start>> | undefined;
    const first = await beside(
      api.db,
      sql.fragment`LOCK TABLE background_jobs IN SHARE MODE`,
      () => start('busy'),
      async () => {
        meanwhile = await start('busy');
      },
    );
    expect(meanwhile).toMatchObject({
      status: 409,
      headers: { 'retry-after': '2' },
      body: {
        detail:
          'A request with this Idempotency-Key is in progress; repeat this one later to get its answer',
      },
    });
    expect(first.status).toBe(202);
    expect((await start('busy')).body).toEqual(first.body);
    expect(await count('background_jobs')).toBe(1);
  });

  test('acts once for many requests at once', async () => {
    await freeJobs();
    const answers = await Promise.all(Array.from({ length: 12 }, () => start('many')));
    const started = answers.filter(({ status }) => status === 202);
    expect(started.length).toBeGreaterThan(0);
    expect(new Set(started.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ status }) => status !== 202 && status !== 409)).toEqual([]);
    expect(await count('background_jobs')).toBe(1);
  });
});

describe('the argument idempotency_key of a tool', () => {
  const use = async (name: string, args: object) => {
    const { body } = await api.call('POST', '/api/mcp', {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name, arguments: args },
    });
    const { isError = false, content, structuredContent } = body.result;
    return { isError, text: content[0].text as string, data: structuredContent };
  };

  test('makes a repeated call act once; the id of its JSON-RPC request does not', async () => {
    await freeJobs();
    const args = { ...backtest, idempotency_key: 'tool' };
    const first = await use('backtest_policies', args);
    expect([first.isError, first.text]).toEqual([false, first.text]);
    expect((await use('backtest_policies', args)).data).toEqual(first.data);
    expect(await count('background_jobs')).toBe(1);
    const plain = [
      await use('backtest_policies', backtest),
      await use('backtest_policies', backtest),
    ];
    expect(new Set([first, ...plain].map(({ data }) => data.id)).size).toBe(3);
    await freeJobs();
  });

  test('is refused with other arguments, and belongs to the tool', async () => {
    const created = await use('create_webhook', { ...endpoint, idempotency_key: 'tool' });
    expect(created.data.secret).toMatch(/^whsec_/);
    const other = { ...endpoint, events: ['run.failed'], idempotency_key: 'tool' };
    expect(await use('create_webhook', other)).toMatchObject({
      isError: true,
      text: 'This Idempotency-Key was used with another request; use a new key',
    });
    const webhook = created.data.id;
    const ping = await use('test_webhook', { webhook, idempotency_key: 'tool' });
    expect(ping.data).toMatchObject({ type: 'ping', status: 'pending' });
    const again = await use('test_webhook', { webhook, idempotency_key: 'tool' });
    expect(again.data.id).toBe(ping.data.id);
    const rotated = await use('rotate_webhook_secret', { webhook, idempotency_key: 'tool' });
    expect((await use('rotate_webhook_secret', { webhook, idempotency_key: 'tool' })).data).toEqual(
      rotated.data,
    );
  });
});

describe('an answer', () => {
  const register = (call: TestApi['call'], key: string) =>
    call('POST', '/api/webhooks', endpoint, keyed(key));

  test('is sealed in the database', async () => {
    const { body } = await register(api.call, 'sealed');
    expect(body.secret).toMatch(/^whsec_/);
    const texts = await rowTexts(api.db);
    expect(texts.filter((text) => text.includes(body.secret))).toEqual([]);
    expect(texts.some((text) => text.startsWith('idempotent_answers '))).toBe(true);
  });

  test('is sealed again with another key, and cannot be read without it', async () => {
    const first = await register(api.call, 'rotated');
    const keys = { encryptionKey: NEW, previousEncryptionKey: OLD };
    const serve = async (given: { encryptionKey: string | undefined }) => {
      const app = buildApp({ ...api, config: { ...api.config, ...given }, findRunnable });
      await app.ready();
      return app;
    };
    const only = await serve({ encryptionKey: NEW });
    const keyless = await serve({ encryptionKey: undefined });
    const lost = {
      status: 409,
      body: { detail: expect.stringContaining('sealed with an ENCRYPTION_KEY that this service') },
    };
    expect(await register(callerOf(only), 'rotated')).toMatchObject(lost);
    expect(await register(callerOf(keyless), 'rotated')).toMatchObject(lost);
    const totals = await resealEverything(api.db, createSealer(keys)!);
    const total = totals.find(({ table }) => table === 'answers to idempotency keys')!;
    expect(total).toMatchObject({ current: 0, unreadable: 0 });
    expect(total.resealed).toBeGreaterThan(0);
    expect((await register(callerOf(only), 'rotated')).body).toEqual(first.body);
    await Promise.all([only.close(), keyless.close()]);
    await resealEverything(
      api.db,
      createSealer({ encryptionKey: OLD, previousEncryptionKey: NEW })!,
    );
  });

  test('without ENCRYPTION_KEY is stored as it is, since it has no secret then', async () => {
    await freeJobs();
    const config = { ...api.config, encryptionKey: undefined };
    const app = buildApp({ ...api, config, findRunnable });
    await app.ready();
    const call = callerOf(app);
    const refused = await register(call, 'none');
    expect(refused).toMatchObject({ status: 400 });
    const start = () => call('POST', BACKTEST, backtest, keyed('plain'));
    const first = await start();
    expect((await start()).body).toEqual(first.body);
    const plain = await api.db.anyFirst(sql.type(z.object({ answer: z.string() }))`
      SELECT answer FROM idempotent_answers WHERE NOT sealed`);
    expect(plain).toEqual([first.text]);
    await app.close();
  });
});

describe('when the connection to Postgres is lost', () => {
  const lossy = async (use: (call: TestApi['call'], wire: Wire) => Promise<void>) => {
    const wire = await startPostgresWire(api.databaseUrl);
    const db = await connectDatabase(wire.url, { maxPoolSize: 4 });
    const app = buildApp({ ...api, db, findRunnable });
    await app.ready();
    try {
      await use(callerOf(app), wire);
    } finally {
      await app.close();
      await db.end();
      wire.close();
    }
  };
  type Wire = Awaited<ReturnType<typeof startPostgresWire>>;

  test('before the commit, nothing is done and the key is free at once', async () => {
    await freeJobs();
    await lossy(async (call, wire) => {
      wire.breakAt({ at: 'COMMIT', when: 'sent' });
      const lost = await call('POST', BACKTEST, backtest, keyed('lost'));
      expect([wire.hasBroken(), lost.status]).toEqual([true, 503]);
      wire.mend();
      expect(await count('background_jobs')).toBe(0);
      const again = await call('POST', BACKTEST, backtest, keyed('lost'));
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([202, undefined]);
      expect(await count('background_jobs')).toBe(1);
    });
  });

  test('after the commit, the request succeeds, and so does a repeated one', async () => {
    await freeJobs();
    await lossy(async (call, wire) => {
      wire.breakAt({ at: 'COMMIT', when: 'answered' });
      const first = await call('POST', BACKTEST, backtest, keyed('found'));
      expect([wire.hasBroken(), first.status]).toEqual([true, 202]);
      const again = await call('POST', BACKTEST, backtest, keyed('found'));
      expect([again.status, again.body]).toEqual([202, first.body]);
      expect(await count('background_jobs')).toBe(1);
    });
  });

  test('after the commit and longer, a repeated request gets what was done', async () => {
    await freeJobs();
    await lossy(async (call, wire) => {
      wire.breakAt({ at: 'COMMIT', when: 'answered', thenDown: true });
      const lost = await call('POST', BACKTEST, backtest, keyed('unknown'));
      expect([wire.hasBroken(), lost.status]).toEqual([true, 503]);
      wire.mend();
      expect(await count('background_jobs')).toBe(1);
      const again = await call('POST', BACKTEST, backtest, keyed('unknown'));
      expect([again.status, again.headers['idempotent-replayed']]).toEqual([202, 'true']);
      expect(await count('background_jobs')).toBe(1);
    });
    await freeJobs();
  });
});
