import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { hashInviteCode } from '#shared/db/people/invite-codes.ts';
import { sql } from '#shared/db/pool.ts';
import { ensureOwnerPassword } from '#shared/operations/people/sign-in.ts';
import { newId, randomText } from '#shared/crypto/ids.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createWorker, type RunningWorker } from '#worker/create-worker.ts';
import { echo, edge, type Engine, startEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';

/**
 * A word in every credential that this file sends, valid and invalid, in every place for one. The tests then search for
 * it in all stored, logged and returned data.
 */
const CANARY = `canary${randomText(20)}`;
const credential = (name: string) => `${CANARY}-${name}`;

const secretKey = credential('signing-key');
const ownerPassword = credential('owner-password');
const keySecret = `ops_${credential('key')}`;
const inviteCode = credential('invite');
/** Not a credential: the search must find it, or the search does not work. */
const needle = `needle${randomText(20)}`;

let engine: Engine;
let app: App;
let worker: RunningWorker;
let logged = '';
/** All responses, with their headers. */
const answers: string[] = [];
/** Secrets that the service generated and returned once: session tokens and the secrets of keys. */
const issued: string[] = [];
const runIds: string[] = [];
const closeCodes: number[] = [];

const nothing = z.object({});

/** Rows of any table that contain a text, as text or as bytes. */
async function rowsWith(text: string): Promise<string[]> {
  const tables = await engine.db.anyFirst(sql.type(z.object({ name: z.string() }))`
    SELECT table_name AS name FROM information_schema.tables
    WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
  `);
  const hex = Buffer.from(text).toString('hex');
  const found = await Promise.all(
    tables.map(async (table) => {
      const rows = await engine.db.anyFirst(sql.type(z.object({ row: z.string() }))`
        SELECT t::text AS row FROM ${sql.identifier([table])} t
        WHERE strpos(t::text, ${text}) > 0 OR strpos(t::text, ${hex}) > 0
      `);
      return rows.map((row) => `${table}: ${row}`);
    }),
  );
  return found.flat();
}

interface Sent {
  status: number;
  body: any;
}

async function send(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Sent> {
  const answer = await app.inject({
    method: method as 'GET',
    url,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined
      ? {}
      : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  answers.push(`${JSON.stringify(answer.headers)}\n${answer.payload}`);
  const isJson = String(answer.headers['content-type']).startsWith('application/json');
  const sent = { status: answer.statusCode, body: isJson ? answer.json() : undefined };
  for (const secret of [sent.body?.token, sent.body?.secret]) {
    if (typeof secret === 'string') issued.push(secret);
  }
  return sent;
}

const expectStatus = async (sent: Promise<Sent>, ...statuses: number[]): Promise<any> => {
  const { status, body } = await sent;
  expect({ ok: statuses.includes(status), status, body }).toMatchObject({ ok: true });
  return body;
};
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

async function stream(runId: string, query: string): Promise<void> {
  const { port } = app.server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/${runId}/stream${query}`);
  socket.on('message', (data) => answers.push((data as Buffer).toString()));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  setTimeout(() => socket.close(4000), 100);
  closeCodes.push(await closed);
}

/** Valid and invalid sign-ins of every kind; returns the session of the owner. */
async function signInEveryWay(): Promise<string> {
  const login = (body: unknown) => send('POST', '/api/auth/login', body);
  const { token } = await expectStatus(
    login({ email: 'owner@localhost', password: ownerPassword }),
    200,
  );
  await expectStatus(
    login({ email: 'owner@localhost', password: credential('wrong-password') }),
    401,
  );
  await expectStatus(
    login({ email: 'nobody@example.com', password: credential('of-nobody') }),
    401,
  );
  await expectStatus(login(`{"email": "owner@localhost", "password": "${credential('cut')}`), 400);
  await expectStatus(login(`"${credential('alone')}" x`), 400);
  for (const password of [
    CANARY.repeat(20),
    { value: credential('object') },
    [credential('list')],
  ]) {
    await expectStatus(login({ email: 'owner@localhost', password }), 400);
  }

  const signup = { name: 'New', email: 'new@example.com', password: credential('signup') };
  await expectStatus(send('POST', '/api/auth/signup', signup), 201);
  await expectStatus(send('POST', '/api/auth/signup', signup), 201);
  await expectStatus(login({ email: signup.email, password: signup.password }), 403);

  const accept = (body: object) => send('POST', '/api/auth/accept-invite', body);
  const password = credential('accepted');
  await expectStatus(accept({ invite_code: credential('no-invite'), password }), 400);
  await expectStatus(accept({ invite_code: inviteCode, password: [password] }), 400);
  const accepted = await expectStatus(accept({ invite_code: inviteCode, password }), 200);
  await expectStatus(accept({ invite_code: inviteCode, password }), 400);

  const change = (body: object) =>
    send('POST', '/api/auth/password', body, bearer(accepted.token as string));
  const next = { new_password: credential('next') };
  await expectStatus(change({ current_password: credential('not-current'), ...next }), 400);
  await expectStatus(change({ current_password: password, ...next }), 200);
  await expectStatus(change({ current_password: password, ...next }), 401);
  return token as string;
}

/** Requests with credentials of every kind, and runs that they trigger. */
async function actEveryWay(token: string): Promise<void> {
  const key = { 'x-api-key': keySecret };
  const define = (graph: object) =>
    expectStatus(send('POST', '/api/workflows', { name: 'W', graph }, key), 201);
  const echoing = await define({ nodes: [echo('a', 'ticket')], edges: [] });
  const gated = await define({
    nodes: [{ id: 'gate', kind: 'human_gate', prompt: 'Go on?' }, echo('b')],
    edges: [edge('gate', 'b')],
  });
  const failing = await define({
    nodes: [{ id: 'a', kind: 'agent', mock: { fail_times: 9 } }],
    edges: [],
  });
  const trigger = async (id: string, headers: Record<string, string>) => {
    const url = `/api/workflows/${id}/runs`;
    const run = await expectStatus(send('POST', url, { ticket: needle }, headers), 201);
    runIds.push(run.id as string);
    return run.id as string;
  };
  await engine.until(await trigger(echoing.id, key), ['success']);
  await engine.until(await trigger(failing.id, bearer(token)), ['failed']);
  const waiting = await trigger(gated.id, bearer(token));
  await engine.until(waiting, ['paused']);
  await stream(waiting, `?token=${token}`);
  await stream(waiting, `?token=${credential('stream-token')}`);
  await stream(waiting, `?token=${keySecret}`);
  await expectStatus(
    send('POST', `/api/runs/${waiting}/approve`, { approved: true }, bearer(token)),
    200,
  );
  await engine.until(waiting, ['success']);

  const made = await expectStatus(
    send('POST', '/api/keys', { name: 'Made', role: 'admin' }, bearer(token)),
    201,
  );
  const own = { 'x-api-key': made.secret as string };
  await expectStatus(send('GET', '/api/keys', undefined, own), 200);
  await expectStatus(send('DELETE', `/api/keys/${made.id}`, undefined, own), 204);
  await expectStatus(send('GET', '/api/keys', undefined, own), 401);

  const wrong: Record<string, string>[] = [
    { 'x-api-key': `ops_${credential('wrong-key')}` },
    { 'x-api-key': CANARY.repeat(400) },
    { authorization: `Bearer ${credential('wrong-token')}` },
    { authorization: `Basic ${credential('basic')}` },
    { authorization: `Bearer ${keySecret}` },
    { cookie: `session=${credential('cookie')}` },
  ];
  for (const headers of wrong) {
    for (const url of ['/api/workflows', '/api/nothing', `/api/runs/${waiting}/stream`]) {
      await expectStatus(send('GET', url, undefined, headers), 401);
    }
  }
  await expectStatus(send('GET', `/api/keys?token=${credential('query')}`, undefined, key), 400);
  for (const url of ['/api/audit?limit=200', '/api/keys', '/api/runs', `/api/runs/${waiting}`]) {
    await expectStatus(send('GET', url, undefined, bearer(token)), 200);
  }
}

/** Sends credentials in requests whose statements fail for an unforeseen reason. */
async function failEveryWay(): Promise<void> {
  const alter = (change: ReturnType<typeof sql.fragment>) =>
    engine.db.query(sql.type(nothing)`ALTER TABLE ${change}`);
  const password = credential('unlucky');
  await alter(sql.fragment`members RENAME COLUMN invite_code_hash TO away`);
  await expectStatus(
    send('POST', '/api/auth/accept-invite', { invite_code: credential('unlucky'), password }),
    500,
  );
  await expectStatus(
    send('POST', '/api/auth/login', { email: 'owner@localhost', password: ownerPassword }),
    500,
  );
  await expectStatus(
    send('POST', '/api/auth/signup', { name: 'U', email: 'u@example.com', password }),
    500,
  );
  await alter(sql.fragment`members RENAME COLUMN away TO invite_code_hash`);
  await alter(sql.fragment`api_keys RENAME COLUMN secret_hash TO away`);
  await expectStatus(send('GET', '/api/keys', undefined, { 'x-api-key': keySecret }), 500);
  await alter(sql.fragment`api_keys RENAME COLUMN away TO secret_hash`);

  // For an unknown constraint, Postgres reports the whole row.
  const refuse = async (table: string, attempt: () => Promise<unknown>) => {
    const named = sql.identifier([table]);
    await alter(sql.fragment`${named} ADD CONSTRAINT unforeseen CHECK (id = '') NOT VALID`);
    await attempt();
    await alter(sql.fragment`${named} DROP CONSTRAINT unforeseen`);
  };
  await refuse('members', () =>
    expectStatus(
      send('POST', '/api/auth/signup', { name: 'U', email: 'u@example.com', password }),
      500,
    ),
  );
  await refuse('api_keys', () =>
    expectStatus(
      send('POST', '/api/keys', { name: 'U', role: 'viewer' }, { 'x-api-key': keySecret }),
      500,
    ),
  );

  // A row that does not match the schema of its statement.
  const owner = sql.fragment`WHERE is_owner`;
  const update = (change: ReturnType<typeof sql.fragment>) =>
    engine.db.query(sql.type(nothing)`UPDATE members SET ${change} ${owner}`);
  await update(sql.fragment`overrides = '{"view": "yes"}'`);
  await expectStatus(
    send('POST', '/api/auth/login', { email: 'owner@localhost', password: ownerPassword }),
    500,
  );
  await update(sql.fragment`overrides = '{}'`);
}

beforeAll(async () => {
  engine = await startEngine({
    worker: false,
    env: { AUTH_MODE: 'required', SECRET_KEY: secretKey, OWNER_PASSWORD: ownerPassword },
  });
  const log = createLogger(
    { name: 'canary', level: 'trace' },
    { write: (line) => void (logged += line) },
  );
  const { config, db, temporal } = engine.deps;
  log.info({ needle }, 'starting');
  worker = await createWorker({
    config,
    db,
    log,
    temporal,
    bundle: { codePath: setting('WORKFLOW_BUNDLE') },
  });
  app = buildApp({ ...engine.deps, log });
  await app.listen({ host: '127.0.0.1', port: 0 });
  await ensureOwnerPassword(db, config.auth.ownerPassword);
  const { workspaceId } = engine.actor;
  await db.query(sql.type(nothing)`
    INSERT INTO members (id, workspace_id, name, email, role, status, invite_code_hash, invite_expires_at)
    VALUES (${newId('member')}, ${workspaceId}, ${inviteCode}, 'invited@example.com', 'editor', 'invited',
            ${sql.binary(hashInviteCode(inviteCode))}, now() + interval '1 day')
  `);
  await db.query(sql.type(nothing)`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
    VALUES (${newId('apiKey')}, ${workspaceId}, 'Canary', 'ops_c',
            ${sql.binary(createHash('sha256').update(keySecret).digest())}, 'admin')
  `);
  // The search finds the readable credential. No other is readable, not even that of the open invitation.
  expect(await rowsWith(CANARY)).toHaveLength(1);
  await db.query(sql.type(nothing)`UPDATE members SET name = 'Invited' WHERE status = 'invited'`);
  expect(await rowsWith(CANARY)).toHaveLength(0);
  await actEveryWay(await signInEveryWay());
  await failEveryWay();
}, 60_000);
afterAll(async () => {
  await app.close();
  await worker.stop();
  await engine.close();
});

/** A history as text, with decoded payloads. */
const readable = (history: object): string =>
  JSON.stringify(history, (key, value: unknown) =>
    key === 'data' && typeof value === 'string' ? Buffer.from(value, 'base64').toString() : value,
  );

describe('no credential appears', () => {
  const expectNone = (text: string) => {
    const at = text.indexOf(CANARY);
    expect(at < 0 ? '' : text.slice(Math.max(0, at - 200), at + 100)).toBe('');
    for (const secret of issued) expect(text).not.toContain(secret.slice(12));
  };

  test('in the logs, at any level, not even as a hash', () => {
    expect(logged).toContain(needle);
    expect(logged).toContain('request failed');
    expectNone(logged);
    expect(logged).not.toContain('$argon2id$');
    // The start of api_keys.secret_hash, as Postgres writes it.
    expect(logged).not.toMatch(/\\x[0-9a-f]{40}/);
  });

  test('in any response, except new secrets once', () => {
    expect(answers.length).toBeGreaterThan(50);
    expect(issued.length).toBeGreaterThanOrEqual(4);
    for (const answer of answers) expect(answer).not.toContain(CANARY);
    for (const secret of issued) {
      expect(answers.filter((answer) => answer.includes(secret.slice(12)))).toHaveLength(1);
    }
    expect(closeCodes).toEqual([4000, 4401, 4401]);
  });

  test('in any row of any table', async () => {
    expect((await rowsWith(needle)).length).toBeGreaterThan(3);
    expect(await rowsWith(CANARY)).toEqual([]);
    for (const secret of issued) expect(await rowsWith(secret.slice(12))).toEqual([]);
  });

  test('in any workflow history', async () => {
    expect(runIds).toHaveLength(3);
    for (const runId of runIds) {
      const handle = engine.deps.temporal.client.workflow.getHandle(runId);
      const text = readable(await handle.fetchHistory()) + JSON.stringify(await handle.describe());
      expect(text).toContain(needle);
      expectNone(text);
    }
  });

  test('in the OpenAPI document', async () => {
    const committed = join(import.meta.dirname, '../../docs/openapi/ops.json');
    const { payload } = await app.inject({ method: 'GET', url: '/api/openapi.json' });
    expect(payload).toContain('/api/auth/login');
    for (const text of [payload, readFileSync(committed, 'utf8')]) expectNone(text);
  });
});
