import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { WebSocket } from 'ws';
import type { WorkspaceFrame } from '#shared/contract/runs/stream.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { sql } from '#shared/db/pool.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { type ServedApi, serveApi } from '#test/support/served-api.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { addCaller } from '#test/api/people/caller.ts';

const SECRET_KEY = 'a secret of the stream tests';
const tokens = createSessionTokens(SECRET_KEY);

let engine: Engine;
let api: ServedApi;
beforeAll(async () => {
  engine = await startEngine({ env: { AUTH_MODE: 'required', SECRET_KEY } });
  const env = { ...engine.env, STREAM_SOCKETS_PER_MEMBER_AND_RUN: '3' };
  api = await serveApi({ ...engine, env });
}, 60_000);
afterAll(async () => {
  await api.stop();
  await engine.close();
});

async function addMember(role: 'admin' | 'viewer' = 'admin', workspaceId?: string) {
  const place = { db: engine.db, workspaceId: workspaceId ?? engine.actor.workspaceId };
  const { id } = await addCaller(place, { role });
  return { id, token: (await tokens.issue({ memberId: id, epoch: 1 })).token };
}

async function otherWorkspace(): Promise<string> {
  const id = newId('workspace');
  await engine.db.query(sql.unsafe`
    INSERT INTO workspaces (id, name) VALUES (${id}, 'Other')`);
  return id;
}

interface Reader {
  socket: WebSocket;
  frames: WorkspaceFrame[];
  closed: Promise<{ code: number; reason: string }>;
  /** Waits until frames have named this topic. */
  named: (topic: string) => Promise<void>;
}

async function follow(token: string): Promise<Reader> {
  const url = `${api.url.replace('http', 'ws')}/api/stream?token=${token}`;
  const socket = new WebSocket(url);
  const frames: WorkspaceFrame[] = [];
  socket.on('message', (data) =>
    frames.push(JSON.parse((data as Buffer).toString()) as WorkspaceFrame),
  );
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const named = (topic: string) =>
    eventually(() => frames.some(({ changed }) => changed.includes(topic as never)), 15_000).catch(
      (error: unknown) => {
        throw new Error(`no frame names '${topic}': ${JSON.stringify(frames)}`, { cause: error });
      },
    );
  return { socket, frames, closed, named };
}

const call = async (token: string, method: string, path: string, body?: unknown): Promise<any> => {
  const response = await fetch(api.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return response.json();
};

const audited = (workspaceId: string, targetType: 'tool' | 'secret') =>
  recordAudit(
    engine.db,
    { workspaceId, id: null, name: 'Ada' },
    {
      action: 'create',
      targetType,
      targetId: newId('tool'),
    },
  );

test('reports what changes, including what is not in the audit log', async () => {
  const { token } = await addMember();
  const reader = await follow(token);
  const graph = { nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x' } }], edges: [] };
  const { id } = await call(token, 'POST', '/api/workflows', { name: 'x', graph });
  await reader.named('workflow');
  const run = await call(token, 'POST', `/api/workflows/${id}/runs`, {});
  await engine.until(run.id, ['success']);
  await reader.named('step');
  const policies = { policies: { model_allowlist: [] }, since: '2026-01-01' };
  await call(token, 'POST', '/api/workspace/policies/backtest', policies);
  await reader.named('job');
  const feed = await call(token, 'POST', '/api/data/feeds', { name: 'Orders' });
  const record = { type: 'entity', external_key: 'a', entity_type: 'order', canonical_name: 'A' };
  for (const state of ['open', 'paid']) {
    const attributes = { state };
    await call(token, 'POST', '/api/data/ingest', {
      feed_id: feed.id,
      records: [{ ...record, attributes }],
    });
  }
  await reader.named('record');
  for (const { type, changed } of reader.frames) {
    expect(type).toBe('changed');
    expect(new Set(changed).size).toBe(changed.length);
  }
  reader.socket.close();
}, 90_000);

test('is silent while nothing changes, and about other workspaces', async () => {
  const other = await otherWorkspace();
  const mine = await follow((await addMember('viewer', other)).token);
  await audited(engine.actor.workspaceId, 'tool');
  const { token } = await addMember();
  const workflow = await engine.define({
    nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x' } }],
    edges: [],
  } as never);
  const run = await call(token, 'POST', `/api/workflows/${workflow}/runs`, {});
  await engine.until(run.id, ['success']);
  await sleep(2_500);
  expect(mine.frames).toEqual([]);
  await audited(other, 'secret');
  await mine.named('secret');
  expect(mine.frames[0]).toEqual({ type: 'changed', changed: ['secret'] });
  mine.socket.close();
}, 60_000);

test('reports a change that commits after a later one', async () => {
  const other = await otherWorkspace();
  const reader = await follow((await addMember('viewer', other)).token);
  const early = new pg.Client({ connectionString: engine.databaseUrl });
  await early.connect();
  await early.query('BEGIN');
  await early.query(
    `INSERT INTO audit_log (id, workspace_id, action, target_type, target_id) VALUES ($1, $2, 'create', 'tool', 'x')`,
    [newId('audit'), other],
  );
  await audited(other, 'tool');
  await reader.named('tool');
  reader.frames.length = 0;
  await early.query('COMMIT');
  await early.end();
  await reader.named('tool');
  reader.socket.close();
}, 60_000);

test('is refused without a token, without the permission and beyond the limit', async () => {
  expect(await (await follow('x')).closed).toMatchObject({ code: 4401 });
  const { id, token } = await addMember();
  const readers = await Promise.all([follow(token), follow(token), follow(token)]);
  expect(await (await follow(token)).closed).toEqual({
    code: 1013,
    reason: 'One member has on one workspace at most 3 streams',
  });
  await engine.db.query(sql.unsafe`
    UPDATE members SET overrides = '{"view": false}' WHERE id = ${id}`);
  for (const { closed } of readers) expect(await closed).toMatchObject({ code: 4403 });
  expect(await (await follow(token)).closed).toMatchObject({ code: 4403 });
}, 60_000);
