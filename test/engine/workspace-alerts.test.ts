import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import { createBudget } from '#shared/db/money/budgets.ts';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { createWorkflow } from '#shared/db/workflows/workflows.ts';
import type { Actor } from '#shared/people/actor.ts';
import { sql } from '#shared/db/pool.ts';
import { cancelRun, triggerRun } from '#shared/operations/runs/runs.ts';
import { createEgress } from '#shared/platform/egress/egress.ts';
import { changeAlerts } from '#shared/operations/alerts/alerts.ts';
import { alertSettingsInput } from '#shared/contract/alerts/alert.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type MailServer, startMailServer } from '#test/fakes/mail-server.ts';
import { chain, type Engine, eventually, mock, startEngine } from '#test/support/engine.ts';
import { readable } from '#test/support/executions.ts';

const ENCRYPTION_KEY = 'a key of this test, long enough';
const SECRET = 'S3CR3T-of-a-workspace';
let chat: FakeServer;
let mail: MailServer;
let engine: Engine;
/** The owner of a workspace that is not the first. */
let other: Actor;

beforeAll(async () => {
  chat = await startHttpServer((_request, response) => sendJson(response, 200, {}));
  mail = await startMailServer();
  engine = await startEngine({
    env: {
      ENCRYPTION_KEY,
      CHAT_WEBHOOK_URL: `${chat.url}/service`,
      EMAIL_API_KEY: 're_key_of_this_test',
      EMAIL_API_URL: mail.url,
      ALERT_EMAIL: 'service@example.com',
      RECONCILE_INTERVAL_SECONDS: '0.3',
    },
  });
  const owner = { name: 'Zoe', email: 'zoe@example.com', passwordHash: 'x' };
  const workspaceId = await createWorkspace(engine.db, { name: 'Second', owner });
  other = { ...engine.actor, id: null, workspaceId, name: 'Zoe' };
});
afterAll(async () => {
  await engine.close();
  await Promise.all([chat.close(), mail.close()]);
});
beforeEach(async () => {
  await engine.db.query(sql.unsafe`DELETE FROM workspace_alerts`);
  chat.seen.length = 0;
  mail.seen.length = 0;
});

const set = async (actor: Actor, settings: object): Promise<void> => {
  const egress = createEgress({ allow: engine.deps.config.egressAllow });
  const sealer = createSealer({ encryptionKey: ENCRYPTION_KEY });
  const { db, config } = engine.deps;
  await changeAlerts({ db, egress, sealer, config }, actor, alertSettingsInput.parse(settings));
  await egress.close();
};
const failing = chain(mock('book', { output: 'x', fail_times: 9 }));
const define = (actor: Actor): Promise<string> =>
  createWorkflow(engine.db, actor, { name: 'W', graph: failing, description: '' } as never);
const trigger = async (actor: Actor, workflowId: string): Promise<string> =>
  (await triggerRun(engine.deps, { actor, workflowId, trigger: 'manual', input: {} })).runId;
const hasFailed = (runId: string): Promise<void> =>
  eventually(
    () => engine.db.exists(sql.unsafe`SELECT FROM runs WHERE id = ${runId} AND status = 'failed'`),
    30_000,
  );
const isSent = (): Promise<void> =>
  eventually(
    async () => !(await engine.db.exists(sql.unsafe`SELECT FROM outbox WHERE kind = 'alert'`)),
    30_000,
  );
const paths = () => chat.seen.map(({ url }) => url);
const recipients = () => mail.seen.map(({ body }) => (JSON.parse(body) as { to: string[] }).to);

describe('a failed run', () => {
  test('alerts its own workspace, at the addresses that are set when it is sent', async () => {
    await set(other, {
      chat_webhook_url: `${chat.url}/${SECRET}`,
      email: ['ops@second.example', 'lead@second.example'],
    });
    const runId = await trigger(other, await define(other));
    await eventually(() => chat.seen.length === 1 && mail.seen.length === 1, 30_000);
    expect(paths()).toEqual([`/${SECRET}`]);
    expect(recipients()).toEqual([['ops@second.example', 'lead@second.example']]);
    const { client } = engine.deps.temporal;
    // The list has an execution twice if others begin while it is read.
    const alerts = new Set<string>();
    for await (const { workflowId } of client.workflow.list()) {
      if (workflowId.startsWith(`alert-${runId}`)) alerts.add(workflowId);
    }
    expect([...alerts]).toHaveLength(1);
    const [alert = ''] = alerts;
    const history = readable(await client.workflow.getHandle(alert).fetchHistory());
    expect(history).not.toContain(SECRET);
    expect(history).not.toContain('second.example');
  }, 60_000);

  test('alerts no one in another workspace without settings, also if the service has addresses', async () => {
    const runId = await trigger(other, await define(other));
    await hasFailed(runId);
    expect(await engine.db.exists(sql.unsafe`SELECT FROM outbox WHERE kind = 'alert'`)).toBe(false);
    const own = await engine.trigger(await engine.define(failing));
    await eventually(() => chat.seen.length === 1 && mail.seen.length === 1, 30_000);
    expect(paths()).toEqual(['/service']);
    expect(chat.seen[0]!.body).toContain(own);
    expect(recipients()).toEqual([['service@example.com']]);
  }, 60_000);

  test('alerts whom its workflow names, and no one about an event that is turned off', async () => {
    const [loud, quiet, muted] = await Promise.all([define(other), define(other), define(other)]);
    await set(other, {
      chat_webhook_url: `${chat.url}/${SECRET}`,
      email: ['ops@second.example'],
      on: ['budget'],
      workflows: {
        [loud]: {
          on: ['failed'],
          chat_webhook_url: `${chat.url}/own`,
          email: ['own@second.example'],
        },
        [muted]: { on: ['failed'], email: [] },
      },
    });
    for (const workflowId of [quiet, loud, muted]) {
      await hasFailed(await trigger(other, workflowId));
    }
    await isSent();
    await eventually(() => chat.seen.length === 2 && mail.seen.length === 1, 30_000);
    expect(paths().sort()).toEqual([`/${SECRET}`, '/own']);
    expect(recipients()).toEqual([['own@second.example']]);
  }, 60_000);

  test('of the first workspace uses the service for what the workspace leaves open', async () => {
    await set(engine.actor, { email: ['mine@example.com'] });
    const runId = await engine.trigger(await engine.define(failing));
    await hasFailed(runId);
    await eventually(() => chat.seen.length === 1 && mail.seen.length === 1, 30_000);
    expect(paths()).toEqual(['/service']);
    expect(recipients()).toEqual([['mine@example.com']]);
  }, 60_000);
});

test('a cancelled run and a full budget alert another workspace as well', async () => {
  await set(other, { email: ['ops@second.example'] });
  await createBudget(engine.db, other, {
    name: 'All',
    scope: 'workspace',
    window: 'total',
    limit_usd: 1,
  });
  const graph = chain(mock('write', { cost_usd: 1, output: 'x' }), {
    id: 'review',
    kind: 'human_gate',
    prompt: 'Sure?',
  });
  const created = { name: 'G', graph, description: '' } as never;
  const workflowId = await createWorkflow(engine.db, other, created);
  const runId = await trigger(other, workflowId);
  await eventually(
    () => engine.db.exists(sql.unsafe`SELECT FROM runs WHERE id = ${runId} AND status = 'paused'`),
    30_000,
  );
  await cancelRun(engine.deps, { actor: other, runId });
  await eventually(() => mail.seen.length === 3, 30_000);
  const subjects = mail.seen.map(({ body }) => (JSON.parse(body) as { subject: string }).subject);
  expect(subjects.sort()).toEqual([
    '[Durable workflows] Approval needed - G',
    '[Durable workflows] Budget limit reached - All',
    '[Durable workflows] Run failed - G',
  ]);
}, 60_000);

test('a test alert goes to the addresses of the workspace', async () => {
  await set(engine.actor, {
    chat_webhook_url: `${chat.url}/${SECRET}`,
    email: ['mine@example.com'],
    on: [],
  });
  const app = buildApp({ ...engine.deps });
  try {
    const sent = await app.inject({ method: 'POST', url: '/api/workspace/alerts/test' });
    expect([sent.statusCode, sent.json()]).toEqual([202, { channels: ['chat', 'email'] }]);
  } finally {
    await app.close();
  }
  await eventually(() => chat.seen.length === 1 && mail.seen.length === 1, 30_000);
  expect(paths()).toEqual([`/${SECRET}`]);
  expect(recipients()).toEqual([['mine@example.com']]);
}, 60_000);
