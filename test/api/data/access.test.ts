import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newApiKeySecret } from '#shared/crypto/api-key-secrets.ts';
import type { PlanName } from '#shared/people/plans.ts';
import { startTestApi, useTestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import { raceRounds } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi();

const setPlan = (plan: PlanName) =>
  api.db.query(sql.unsafe`UPDATE workspaces SET plan = ${plan} WHERE id = ${api.workspaceId}`);
const setRequests = (requests: number) =>
  api.db.query(sql.unsafe`
    INSERT INTO data_months (workspace_id, month, requests)
    VALUES (${api.workspaceId}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, ${requests})
    ON CONFLICT (workspace_id, month) DO UPDATE SET requests = excluded.requests
  `);
const requests = (): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT coalesce(sum(requests), 0) AS n FROM data_months WHERE workspace_id = ${api.workspaceId}
  `);
const usage = (headers: Record<string, string>, call = api.call) =>
  call('GET', '/v1/usage', undefined, headers);

describe('a call', () => {
  test.each([
    ['Authorization', (secret: string) => ({ authorization: `Bearer ${secret}` })],
    ['X-API-Key', (secret: string) => ({ 'x-api-key': secret })],
  ])('can send its key in %s', async (_name, headersOf) => {
    const { id, secret } = await addDataKey(api);
    const { status, body } = await usage(headersOf(secret));
    expect(status).toBe(200);
    expect(body.data.key).toMatchObject({ id, requests: { used: 1, limit: null } });
    expect(body.meta).toMatchObject({ schema_version: '2026-07-01', credits_consumed: 0 });
  });

  test('uses X-API-Key when both headers are set', async () => {
    const [good, other] = [await addDataKey(api), await addDataKey(api)];
    const both = { authorization: `Bearer ${other.secret}`, 'x-api-key': good.secret };
    expect((await usage(both)).body.data.key.id).toBe(good.id);
    const { status } = await usage({ ...good.headers, 'x-api-key': 'svc_live_nonsense' });
    expect(status).toBe(401);
  });

  const refusals: [string, (secret: string) => Record<string, string>][] = [
    ['with another scheme', (secret) => ({ authorization: `Basic ${secret}` })],
    ['with nothing after the scheme', () => ({ authorization: 'Bearer ' })],
    ['with another prefix', (secret) => ({ 'x-api-key': secret.replace('svc_', 'ops_') })],
    ['with no prefix', (secret) => ({ 'x-api-key': secret.slice('svc_live_'.length) })],
    [
      'with the prefix of the other mode',
      (secret) => ({ 'x-api-key': secret.replace('live', 'test') }),
    ],
    ['with a key a character too long', (secret) => ({ 'x-api-key': `${secret}0` })],
    ['with a key too long to be one', () => ({ 'x-api-key': `svc_live_${'0'.repeat(1_000)}` })],
    ['with two keys in one header', (secret) => ({ 'x-api-key': `${secret}, ${secret}` })],
  ];
  test.each(refusals)('%s is refused and not counted', async (_name, headersOf) => {
    const { secret } = await addDataKey(api);
    const before = await requests();
    const { status, body, headers } = await usage(headersOf(secret));
    expect([status, headers['www-authenticate'], Object.keys(body)]).toEqual([
      401,
      'Bearer',
      ['detail'],
    ]);
    expect(headers['x-credits-consumed']).toBeUndefined();
    expect(await requests()).toBe(before);
  });

  test('with a repeated key header is refused', async () => {
    const { secret } = await addDataKey(api);
    await api.app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = api.app.server.address() as { port: number };
    for (const [name, value] of [
      ['x-api-key', secret],
      ['authorization', `Bearer ${secret}`],
    ] as const) {
      const { request } = await import('node:http');
      const status = await new Promise((resolve, reject) => {
        const sent = request({ port, host: '127.0.0.1', path: '/v1/usage' }, (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        });
        sent.on('error', reject);
        sent.setHeader(name, [value, value]);
        sent.end();
      });
      expect([name, status]).toEqual([name, 401]);
    }
  });

  test('with a revoked key is refused in every process', async () => {
    const { id, headers } = await addDataKey(api);
    const other = await api.another();
    expect((await usage(headers)).status).toBe(200);
    expect((await usage(headers, other.call)).status).toBe(200);
    await api.db.query(sql.unsafe`UPDATE data_keys SET revoked_at = now() WHERE id = ${id}`);
    expect((await usage(headers)).status).toBe(401);
    expect((await usage(headers, other.call)).status).toBe(401);
    await other.app.close();
  });

  test('with an expired key is refused', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const { id, headers } = await addDataKey(api, { expires_at });
    expect((await usage(headers)).status).toBe(200);
    await api.db.query(sql.unsafe`UPDATE data_keys SET expires_at = now() WHERE id = ${id}`);
    expect((await usage(headers)).status).toBe(401);
  });

  test('to an unknown route is 401 without a key, 404 or 405 with one', async () => {
    const { headers } = await addDataKey(api);
    expect((await api.call('GET', '/v1/nothing')).status).toBe(401);
    expect((await api.call('GET', '/v1/nothing', undefined, headers)).status).toBe(404);
    expect((await api.call('DELETE', '/v1/usage')).status).toBe(401);
    expect((await api.call('DELETE', '/v1/usage', undefined, headers)).status).toBe(405);
  });

  test('is refused by the operations API', async () => {
    const { secret, headers } = await addDataKey(api);
    expect((await api.call('GET', '/api/workflows', undefined, headers)).status).toBe(401);
    expect(
      (await api.call('GET', '/api/workflows', undefined, { 'x-api-key': secret })).status,
    ).toBe(401);
  });

  test('from another origin needs only a valid key', async () => {
    const { headers } = await addDataKey(api);
    const { status } = await usage({ ...headers, origin: 'https://elsewhere.example' });
    expect(status).toBe(200);
  });
});

describe('the IP allowlist of a key', () => {
  const from = (remoteAddress: string, headers: Record<string, string>, app = api.app) =>
    app.inject({ method: 'GET', url: '/v1/usage', headers, remoteAddress });

  test.each([
    ['10.1.2.3', ['10.0.0.0/8'], 200],
    ['11.1.2.3', ['10.0.0.0/8'], 403],
    ['10.1.2.3', ['10.1.2.3'], 200],
    ['10.1.2.4', ['10.1.2.3'], 403],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], 200],
    ['::ffff:a01:203', ['10.1.2.0/24'], 200],
    ['::ffff:11.1.2.3', ['10.0.0.0/8'], 403],
    ['10.1.2.3', ['::ffff:10.0.0.0/104'], 200],
    ['11.1.2.3', ['::ffff:10.0.0.0/104'], 403],
    ['2001:db8::1', ['2001:db8::/32'], 200],
    ['2001:db9::1', ['2001:db8::/32'], 403],
    ['2001:db8::1', ['0.0.0.0/0'], 403],
    ['10.1.2.3', ['::/0'], 403],
    ['192.0.2.7', ['10.0.0.0/8', '192.0.2.0/28', '2001:db8::/32'], 200],
  ])('%s against %j: %i', async (address, ip_allowlist, expected) => {
    const { headers } = await addDataKey(api, { ip_allowlist });
    const { statusCode } = await from(address, headers);
    expect(statusCode).toBe(expected);
  });

  test('uses X-Forwarded-For only from a trusted proxy', async () => {
    const { headers } = await addDataKey(api, { ip_allowlist: ['203.0.113.0/24'] });
    const forwarded = { ...headers, 'x-forwarded-for': '203.0.113.9' };
    expect((await from('10.0.0.1', forwarded)).statusCode).toBe(403);
    const behind = await startTestApi({ TRUSTED_PROXIES: '10.0.0.0/8' });
    const key = await addDataKey(behind, { ip_allowlist: ['203.0.113.0/24'] });
    const by = (address: string, told: string) =>
      from(address, { ...key.headers, 'x-forwarded-for': told }, behind.app);
    expect((await by('10.0.0.1', '203.0.113.9')).statusCode).toBe(200);
    expect((await by('11.0.0.1', '203.0.113.9')).statusCode).toBe(403);
    expect((await by('10.0.0.1', '198.51.100.1')).statusCode).toBe(403);
    expect((await by('10.0.0.1', '203.0.113.9, 198.51.100.1')).statusCode).toBe(403);
    expect((await by('10.0.0.1', 'nonsense')).statusCode).toBe(403);
    await behind.stop();
  });
});

describe('requests', () => {
  afterEach(async () => setPlan('free'));

  test('count for the workspace and the key, also when refused', async () => {
    await setRequests(0);
    const { headers } = await addDataKey(api, {
      scopes: ['usage:read'],
      ip_allowlist: ['127.0.0.0/8'],
    });
    expect((await usage(headers)).status).toBe(200);
    const elsewhere = {
      method: 'GET',
      url: '/v1/usage',
      headers,
      remoteAddress: '10.0.0.1',
    } as const;
    expect((await api.send(elsewhere)).status).toBe(403);
    expect((await api.call('GET', '/v1/nothing', undefined, headers)).status).toBe(404);
    const { body } = await usage(headers);
    expect(body.data.requests).toEqual({ used: 4, limit: 5_000 });
    expect(body.data.key.requests).toEqual({ used: 4, limit: null });
    expect(await requests()).toBe(4);
  });

  test("are refused beyond the plan's allowance until the month ends", async () => {
    await setRequests(4_999);
    const { headers } = await addDataKey(api);
    const last = await usage(headers);
    expect([last.status, last.headers['ratelimit-remaining']]).toEqual([200, '0']);
    const before = Date.now();
    const refused = await usage(headers);
    expectRefusal(refused, 429, 'Monthly request allowance exhausted (5000/5000 on the free plan)');
    const now = new Date();
    const end = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1);
    const seconds = Number(refused.headers['retry-after']);
    expect(seconds).toBeGreaterThanOrEqual((end - now.getTime()) / 1000 - 1);
    expect(seconds).toBeLessThanOrEqual((end - before) / 1000 + 1);
    expect(refused.headers['ratelimit-reset']).toBe(String(seconds));
    await setPlan('starter');
    expect((await usage(headers)).status).toBe(200);
    await setRequests(0);
  });

  test('are refused beyond the allowance of their key; other keys work', async () => {
    await setRequests(0);
    const { headers } = await addDataKey(api, { monthly_request_allowance: 2 });
    const statuses = [];
    for (let i = 0; i < 4; i += 1) statuses.push((await usage(headers)).status);
    expect(statuses).toEqual([200, 200, 429, 429]);
    expect((await usage(headers)).body.detail).toBe(
      'Monthly request allowance exhausted (2/2 of this key)',
    );
    const other = await addDataKey(api);
    expect((await usage(other.headers)).status).toBe(200);
  });

  test('sent concurrently to several processes use an allowance exactly', async () => {
    await setPlan('enterprise');
    const processes = [await api.another(), await api.another(), await api.another()];
    for (let round = 0; round < raceRounds(10); round += 1) {
      const allowance = 5 + round;
      const { id, headers } = await addDataKey(api, { monthly_request_allowance: allowance });
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => usage(headers, processes[i % 3]!.call)),
      );
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(allowance);
      expect(statuses.filter((status) => status === 429)).toHaveLength(30 - allowance);
      const counted = await api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT requests AS n FROM data_key_months WHERE key_id = ${id}
      `);
      expect(counted).toBe(30);
    }
    for (const { app } of processes) await app.close();
  });

  test('after a revocation are refused while others are in flight', async () => {
    await setPlan('enterprise');
    for (let round = 0; round < raceRounds(20); round += 1) {
      const { id, headers } = await addDataKey(api);
      const before = Array.from({ length: 20 }, () => usage(headers));
      await api.db.query(sql.unsafe`UPDATE data_keys SET revoked_at = now() WHERE id = ${id}`);
      const after = Array.from({ length: 5 }, () => usage(headers));
      for (const { status } of await Promise.all(after)) expect(status).toBe(401);
      await Promise.all(before);
    }
  });

  test('are limited per minute for each key', async () => {
    const limited = await startTestApi({ DATA_RATE_LIMIT_PER_MINUTE: '3' });
    const [one, other] = [await addDataKey(limited), await addDataKey(limited)];
    const statuses = [];
    for (let i = 0; i < 5; i += 1) statuses.push((await usage(one.headers, limited.call)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    const refused = await usage(one.headers, limited.call);
    expect(refused.body.detail).toMatch(/^Too many requests: at most 3 a minute with this key\./);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(50);
    expect((await usage(other.headers, limited.call)).status).toBe(200);
    const unknown = { 'x-api-key': newApiKeySecret('svc_live_').secret };
    for (let i = 0; i < 5; i += 1) expect((await usage(unknown, limited.call)).status).toBe(401);
    await limited.stop();
  });
});

describe('a response', () => {
  test('states the cost and what remains', async () => {
    await setRequests(10);
    const { headers } = await addDataKey(api, {
      monthly_request_allowance: 100,
      monthly_credit_allowance: 50,
    });
    const answer = await usage(headers);
    expect(answer.headers).toMatchObject({
      'x-credits-consumed': '0',
      'x-credits-remaining': '50',
      'ratelimit-limit': '100',
      'ratelimit-remaining': '99',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(Number(answer.headers['ratelimit-reset'])).toBeGreaterThan(0);
  });

  test('omits remaining amounts when there is no limit', async () => {
    await setPlan('enterprise');
    const { headers } = await addDataKey(api);
    const answer = await usage(headers);
    expect(answer.headers['x-credits-consumed']).toBe('0');
    expect(answer.headers).not.toHaveProperty('x-credits-remaining');
    expect(answer.headers).not.toHaveProperty('ratelimit-limit');
    expect(answer.body.data.credits).toEqual({ used: 0, limit: null });
    await setPlan('free');
  });
});

test('closing a process saves when a key was last used', async () => {
  const { id, headers } = await addDataKey(api);
  const short = await api.another();
  const began = Date.now();
  await usage(headers, short.call);
  await short.app.close();
  const at = await api.db.oneFirst(sql.type(z.object({ at: z.string() }))`
    SELECT last_used_at AS at FROM data_keys WHERE id = ${id}
  `);
  expect(Date.parse(at)).toBeGreaterThanOrEqual(began);
});
