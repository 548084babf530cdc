import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const valid = { name: 'Warehouse', mode: 'live', scopes: ['usage:read', 'entities:read'] };
const make = (fields: object = {}) => api.call('POST', '/api/data/keys', { ...valid, ...fields });
const use = (secret: string) =>
  api.call('GET', '/v1/usage', undefined, { authorization: `Bearer ${secret}` });

describe('a key', () => {
  test('is created with its limits, and its secret is shown once', async () => {
    const given = {
      ip_allowlist: ['127.0.0.1', '10.0.0.0/8', '2001:db8::/32'],
      expires_at: '2090-01-01T00:00:00+02:00',
      monthly_request_allowance: 10,
      monthly_credit_allowance: 0,
    };
    const { status, body } = await make(given);
    const { secret, ...key } = body;
    expect(status).toBe(201);
    expect(key).toEqual({
      ...valid,
      ...given,
      id: expect.stringMatching(/^dkey_/),
      expires_at: '2089-12-31T22:00:00.000Z',
      prefix: secret.slice(0, 'svc_live_'.length + 8),
      revoked: false,
      created_at: expect.stringMatching(/Z$/),
      last_used_at: null,
      etag: expect.any(String),
    });
    expect(secret).toMatch(/^svc_live_[0-9a-z]{48}$/);
    const read = await api.call('GET', `/api/data/keys/${key.id}`);
    expect(read.body).toEqual(key);
    const list = await api.call('GET', '/api/data/keys');
    expect(list.body[0]).toEqual(key);
    expect(list.text).not.toContain(secret);
  });

  test('has its mode in its secret', async () => {
    expect((await make({ mode: 'test' })).body.secret).toMatch(/^svc_test_/);
  });

  test('has no limits by default', async () => {
    expect((await make()).body).toMatchObject({
      expires_at: null,
      ip_allowlist: [],
      monthly_request_allowance: null,
      monthly_credit_allowance: null,
    });
  });

  test.each([
    ['scopes', { scopes: ['usage:read', 'usage:read'] }],
    ['ip_allowlist.0', { ip_allowlist: ['10.0.0.0/33'] }],
    ['ip_allowlist.1', { ip_allowlist: ['10.0.0.1', '10.0.0'] }],
    ['ip_allowlist.0', { ip_allowlist: ['2001:db8::/129'] }],
    ['ip_allowlist.0', { ip_allowlist: ['example.com'] }],
    ['ip_allowlist.0', { ip_allowlist: ['0x7f.1'] }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['expires_at', { expires_at: '2090-01-01T00:00:00' }],
  ])('is refused for %s in %j', async (field, fields) => {
    const { status, body } = await make(fields);
    expect(status).toBe(400);
    expect(body.detail).toContain(`Invalid body: ${field}`);
  });

  test('works from its allowed addresses in every notation', async () => {
    for (const range of ['127.0.0.1', '::ffff:127.0.0.0/104', '127.0.0.1/32', '::ffff:7f00:1']) {
      const { status, body } = await make({ ip_allowlist: [range] });
      expect([range, status]).toEqual([range, 201]);
      expect([range, (await use(body.secret as string)).status]).toEqual([range, 200]);
    }
  });

  test('that is revoked gets 401 and stays in the list', async () => {
    const { id, secret } = (await make()).body;
    expect((await use(secret as string)).status).toBe(200);
    expect((await api.call('DELETE', `/api/data/keys/${id}`)).status).toBe(204);
    expect((await use(secret as string)).status).toBe(401);
    expect((await api.call('DELETE', `/api/data/keys/${id}`)).status).toBe(204);
    expect((await api.call('GET', `/api/data/keys/${id}`)).body.revoked).toBe(true);
    const listed = (await api.call('GET', '/api/data/keys')).body;
    expect(listed.find((key: { id: string }) => key.id === id).revoked).toBe(true);
  });

  test('shows its last use immediately', async () => {
    const { id, secret } = (await make()).body;
    const began = new Date().toISOString();
    await use(secret as string);
    const { last_used_at: at } = (await api.call('GET', `/api/data/keys/${id}`)).body;
    expect(at >= began).toBe(true);
  });

  test('is audited once when created and once when revoked, without its secret', async () => {
    const { id, secret, prefix } = (await make()).body;
    for (let i = 0; i < 2; i += 1) await api.call('DELETE', `/api/data/keys/${id}`);
    const { body, text } = await api.call('GET', '/api/audit?limit=200');
    const logs = body.logs.filter((entry: { target_id: string }) => entry.target_id === id);
    expect(logs.map(({ action }: { action: string }) => action)).toEqual(['revoke', 'create']);
    expect(logs[0]).toMatchObject({
      target_type: 'data_key',
      details: { name: 'Warehouse', mode: 'live', prefix, scopes: valid.scopes },
    });
    expect(text).not.toContain(secret);
  });
});

describe('the usage of a workspace', () => {
  test('covers the current month and lists the used keys', async () => {
    const { id, secret } = (await make({ name: 'Busy', monthly_credit_allowance: 70 })).body;
    await use(secret as string);
    await use(secret as string);
    await api.db.query(sql.unsafe`
      UPDATE data_key_months SET credits = 60, records = 20 WHERE key_id = ${id}
    `);
    await api.db.query(sql.unsafe`
      UPDATE data_months SET credits = 60, records = 20, deliveries = 3, source_checks = 4
      WHERE workspace_id = ${api.workspaceId}
    `);
    const { status, body } = await api.call('GET', '/api/data/usage');
    expect(status).toBe(200);
    const month = new Date().toISOString().slice(0, 7);
    expect(body).toMatchObject({
      month,
      period_start: `${month}-01T00:00:00.000Z`,
      plan: 'free',
      requests: { limit: 5_000 },
      credits: { used: 60, limit: 5_000 },
      records: 20,
      webhook_deliveries: 3,
      source_checks: 4,
    });
    expect(body.period_end).toMatch(new RegExp(`^${month}-(28|29|30|31)T23:59:59.000Z$`));
    expect(body.keys[0]).toEqual({
      id,
      name: 'Busy',
      mode: 'live',
      requests: { used: 2, limit: null },
      credits: { used: 60, limit: 70 },
      records: 20,
    });
    const own = await use(secret as string);
    expect(own.body.data).toMatchObject({
      credits: { used: 60 },
      webhook_deliveries: 3,
      source_checks: 4,
      key: { id, name: 'Busy', requests: { used: 3 }, credits: { used: 60, limit: 70 } },
    });
  });
});
