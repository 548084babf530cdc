import { beforeEach, describe, expect, test } from '@jest/globals';
import { webhookPlace } from '#shared/db/alerts/alerts.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { sql } from '#shared/db/pool.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { resealEverything } from '#shared/operations/secrets/reseal.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { addMember, PASSWORD } from '#test/support/people.ts';
import { startTestApi, useTestApi } from '#test/api/test-api.ts';

const KEY = 'a key of this test, long enough';
const api = useTestApi({
  ENCRYPTION_KEY: KEY,
  EGRESS_ALLOW: '127.0.0.0/8',
  EMAIL_API_KEY: 're_key_of_this_test',
  ALERT_EMAIL: 'service@example.com',
  CHAT_WEBHOOK_URL: 'http://127.0.0.1:9/service-path',
});
beforeEach(() => api.db.query(sql.unsafe`DELETE FROM workspace_alerts`));

const PATH = '/api/workspace/alerts';
const SECRET = 'T0/B0/the-secret-path';
const url = `http://127.0.0.1:9/${SECRET}`;
const read = async () => (await api.call('GET', PATH)).body;
const put = (body: object, headers?: Record<string, string>) =>
  api.call('PUT', PATH, body, headers);
const sourcesOf = (body: any) => body.channels.map((each: any) => [each.channel, each.source]);
const newWorkflow = async () =>
  (await api.call('POST', '/api/workflows', { name: 'W', graph: { nodes: [], edges: [] } })).body
    .id as string;
const lastAudit = async () => (await api.call('GET', '/api/audit?limit=1')).body.logs[0];

describe('the alerts of a workspace', () => {
  test('are replaced and read, without the secret part of the URL', async () => {
    const workflowId = await newWorkflow();
    const input = {
      chat_webhook_url: url,
      email: ['ada@example.com'],
      on: ['failed', 'budget'],
      workflows: { [workflowId]: { chat_webhook_url: `${url}-2`, email: [], on: [] } },
    };
    const { status, body, headers } = await put(input);
    expect([status, body]).toEqual([
      200,
      {
        chat_webhook_url: 'http://127.0.0.1:9/***',
        email: ['ada@example.com'],
        on: ['failed', 'budget'],
        decide_by_link: false,
        slack: null,
        workflows: {
          [workflowId]: { chat_webhook_url: 'http://127.0.0.1:9/***', email: [], on: [] },
        },
        channels: [
          {
            channel: 'chat',
            configured: true,
            source: 'workspace',
            events: ['failed', 'budget'],
            hint: expect.any(String),
            ...{ team_id: null, problem: null },
          },
          {
            channel: 'email',
            configured: true,
            source: 'workspace',
            events: ['failed', 'budget'],
            hint: expect.any(String),
            ...{ team_id: null, problem: null },
          },
          {
            ...{ channel: 'slack', configured: false, source: null, events: [] },
            ...{ hint: expect.any(String), team_id: null, problem: null },
          },
        ],
        etag: expect.any(String),
      },
    ]);
    expect(headers['etag']).toBe(`"${body.etag}"`);
    expect(await read()).toEqual(body);
    const entry = await lastAudit();
    expect(entry).toMatchObject({
      action: 'alerts_update',
      target_type: 'workspace',
      details: {
        changed: ['chat_webhook_url', 'email', 'on', 'workflows'],
        chat_webhook: 'http://127.0.0.1:9',
        emails: 1,
        on: ['failed', 'budget'],
        workflows: [workflowId],
      },
    });
    const stored = await api.db.anyFirst(sql.unsafe`
      SELECT a::text FROM workspace_alerts a UNION ALL SELECT w::text FROM workflow_alerts w`);
    expect(stored).toHaveLength(2);
    for (const text of [...stored, JSON.stringify([body, entry])]) {
      expect(text).not.toContain('the-secret-path');
    }
    expect(JSON.stringify(entry)).not.toContain('ada@example.com');
  });

  test('keep a URL that is sent back masked, and change their tag with another one', async () => {
    const first = (await put({ chat_webhook_url: url })).body;
    const again = await put({ chat_webhook_url: first.chat_webhook_url, on: ['failed'] });
    expect(again.body.chat_webhook_url).toBe(first.chat_webhook_url);
    const sealed = await api.db.oneFirst(sql.unsafe`
      SELECT chat_webhook_sealed FROM workspace_alerts`);
    const opened = createSealer({ encryptionKey: KEY })!.open(
      String(sealed),
      webhookPlace(api.workspaceId),
    );
    expect(opened).toBe(url);
    const before = (await put({ chat_webhook_url: url, on: ['failed'] })).body;
    expect(before.etag).toBe(again.body.etag);
    const other = (await put({ chat_webhook_url: `${url}-other`, on: ['failed'] })).body;
    expect(other.chat_webhook_url).toBe(first.chat_webhook_url);
    expect(other.etag).not.toBe(before.etag);
    const removed = (await put({ on: ['failed'] })).body;
    expect([removed.chat_webhook_url, sourcesOf(removed)]).toEqual([
      null,
      [
        ['chat', 'service'],
        ['email', 'service'],
        ['slack', null],
      ],
    ]);
  });

  test('write no audit entry when nothing changes', async () => {
    await put({ chat_webhook_url: url });
    const { total } = (await api.call('GET', '/api/audit?limit=1')).body;
    await put({ chat_webhook_url: url });
    await put({ chat_webhook_url: 'http://127.0.0.1:9/***' });
    expect((await api.call('GET', '/api/audit?limit=1')).body.total).toBe(total);
  });

  test('are only replaced in the state that If-Match names', async () => {
    const { etag } = (await put({ email: ['ada@example.com'] })).body;
    expect((await put({ on: ['failed'] }, { 'if-match': `"${etag}"` })).status).toBe(200);
    const late = await put({ on: ['paused'] }, { 'if-match': `"${etag}"` });
    expect([late.status, late.body.current.on]).toEqual([412, ['failed']]);
  });

  test.each<[string, object, RegExp]>([
    ['a private address', { chat_webhook_url: 'http://10.0.0.1/hook' }, /chat_webhook_url/],
    ['another scheme', { chat_webhook_url: 'ftp://127.0.0.1/x' }, /chat_webhook_url must be a URL/],
    [
      'a masked URL without a stored one',
      { chat_webhook_url: 'http://127.0.0.1:9/***' },
      /no stored URL/,
    ],
    ['a name instead of an address', { email: ['Ada'] }, /email.*must be an email address/],
    ['an address twice', { email: ['a@example.com', 'A@example.com'] }, /address twice/],
    [
      'too many addresses',
      { email: Array.from({ length: 21 }, (_, n) => `a${n}@example.com`) },
      /email/,
    ],
    ['an unknown event', { on: ['started'] }, /on.0 must be one of/],
    ['an unknown workflow', { workflows: { wf_none: {} } }, /no workflow has the id 'wf_none'/],
    ['an unknown field', { slack: true }, /slack/],
  ])('refuse %s', async (_case, body, detail) => {
    const answer = await put(body);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    expect(await api.db.exists(sql.unsafe`SELECT FROM workspace_alerts`)).toBe(false);
  });

  test('are changed by members with manage_workspace; others see the domains', async () => {
    await put({ email: ['ada@example.com', 'ben@example.com'] });
    const viewer = await addMember(api, { role: 'viewer' });
    const seen = await api.call('GET', PATH, undefined, viewer.headers);
    expect([seen.status, seen.body.email]).toEqual([200, ['***@example.com']]);
    const refused = await api.call('PUT', PATH, {}, viewer.headers);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      expect.stringContaining('manage_workspace'),
    ]);
  });

  test('use the settings of the service only in the first workspace', async () => {
    expect(sourcesOf(await read())).toEqual([
      ['chat', 'service'],
      ['email', 'service'],
      ['slack', null],
    ]);
    const owner = {
      name: 'Zoe',
      email: 'zoe@example.com',
      passwordHash: await hashPassword(PASSWORD),
    };
    const otherId = await createWorkspace(api.db, { name: 'Second', owner });
    const login = { email: owner.email, password: PASSWORD };
    const { token } = (await api.call('POST', '/api/auth/login', login)).body;
    const headers = { authorization: `Bearer ${token}` };
    const other = (await api.call('GET', PATH, undefined, headers)).body;
    expect(sourcesOf(other)).toEqual([
      ['chat', null],
      ['email', null],
      ['slack', null],
    ]);
    const sent = await api.call('POST', `${PATH}/test`, undefined, headers);
    expect([sent.status, sent.body.detail]).toEqual([409, 'No alert channel is configured']);
    await put({ email: ['first@example.com'] });
    const set = await api.call('PUT', PATH, { email: ['zoe@example.com'] }, headers);
    expect(sourcesOf(set.body)[1]).toEqual(['email', 'workspace']);
    expect((await read()).email).toEqual(['first@example.com']);
    const foreign = { workflows: { [await newWorkflow()]: {} } };
    expect((await api.call('PUT', PATH, foreign, headers)).status).toBe(400);
    const tested = await api.call('POST', `${PATH}/test`, undefined, headers);
    expect([tested.status, tested.body]).toEqual([202, { channels: ['email'] }]);
    await api.db.query(sql.unsafe`DELETE FROM workspaces WHERE id = ${otherId}`);
  });

  test('lose what differs for a workflow with the workflow', async () => {
    const workflowId = await newWorkflow();
    await put({ workflows: { [workflowId]: { on: [] } } });
    expect((await api.call('DELETE', `/api/workflows/${workflowId}`)).status).toBe(204);
    expect((await read()).workflows).toEqual({});
  });

  test('are sealed again with a new key', async () => {
    const workflowId = await newWorkflow();
    const own = { [workflowId]: { chat_webhook_url: `${url}-2` } };
    await put({ chat_webhook_url: url, workflows: own });
    const next = createSealer({ encryptionKey: `another ${KEY}`, previousEncryptionKey: KEY })!;
    const totals = await resealEverything(api.db, next);
    expect(totals.filter(({ table }) => table.startsWith('webhooks of alerts'))).toEqual([
      { table: 'webhooks of alerts', resealed: 1, current: 0, unreadable: 0 },
      { table: 'webhooks of alerts of workflows', resealed: 1, current: 0, unreadable: 0 },
    ]);
    const only = createSealer({ encryptionKey: `another ${KEY}` })!;
    const sealed = await api.db.oneFirst(
      sql.unsafe`SELECT chat_webhook_sealed FROM workflow_alerts`,
    );
    expect(only.open(String(sealed), webhookPlace(api.workspaceId, workflowId))).toBe(`${url}-2`);
  });
});

test('a webhook is refused by a service without ENCRYPTION_KEY', async () => {
  const plain = await startTestApi({ EGRESS_ALLOW: '127.0.0.0/8' });
  try {
    const { status, body } = await plain.call('PUT', PATH, { chat_webhook_url: url });
    expect([status, body.detail]).toEqual([
      400,
      'Invalid body: chat_webhook_url cannot be stored, since ENCRYPTION_KEY is not set on this service',
    ]);
    expect((await plain.call('PUT', PATH, { email: ['a@example.com'] })).status).toBe(200);
  } finally {
    await plain.stop();
  }
});
