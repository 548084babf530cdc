import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { addEntities, addFeed } from '#test/api/data/records.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

// Tokens that clients send back to us: cursors and session tokens, modified, truncated, and used elsewhere.

const SECRET_KEY = 'a secret of the cursor tests';
const api = useTestApi({ SECRET_KEY });
let routes: string[];
let keys: { data: Record<string, string>; elsewhere: Record<string, string> };
/** Of an admin of another workspace. */
let session: { authorization: string };
beforeAll(async () => {
  routes = Object.entries<any>((api.app.swagger() as any).paths)
    .filter(([path, { get }]) => {
      const names = get?.parameters?.map(({ name }: { name: string }) => name) ?? [];
      return names.includes('cursor') && !path.includes('{');
    })
    .map(([path]) => path);
  const key = {
    name: 'x',
    mode: 'live',
    scopes: ['entities:read', 'events:read', 'feeds:read', 'sources:read', 'webhooks:read'],
  };
  const secretOf = async (headers?: Record<string, string>) =>
    (await api.call('POST', '/api/data/keys', key, headers)).body.secret as string;
  const id = newId('workspace');
  const memberId = newId('member');
  await api.db.query(sql.type(z.object({}))`INSERT INTO workspaces (id, name) VALUES (${id}, 'O')`);
  await api.db.query(sql.type(z.object({}))`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${memberId}, ${id}, 'Eve', 'eve@example.com', 'admin', 'active')`);
  const { token } = await createSessionTokens(SECRET_KEY).issue({ memberId, epoch: 1 });
  session = { authorization: `Bearer ${token}` };
  keys = {
    data: { 'x-api-key': await secretOf() },
    elsewhere: { 'x-api-key': await secretOf(session) },
  };
  for (const [workspaceId, records] of [
    [api.workspaceId, 5],
    [id, 5],
  ] as const) {
    const feed = await addFeed({ db: api.db, workspaceId });
    await addEntities(
      api,
      feed,
      Array.from({ length: records }, () => ({})),
    );
  }
  const workflowOf = async (headers?: Record<string, string>) =>
    (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep }, headers)).body.id;
  const [mine, theirs] = [await workflowOf(), await workflowOf(session)];
  for (let n = 0; n < 3; n += 1) {
    await api.call('POST', `/api/workflows/${mine}/runs`, {});
    await api.call('POST', `/api/workflows/${theirs}/runs`, {}, session);
  }
}, 60_000);

const read = (url: string, cursor: string, headers: Record<string, string> = keys.data) =>
  api.call(
    'GET',
    `${url}${url.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`,
    undefined,
    url.startsWith('/v1') ? headers : {},
  );
const cursorOf = async (url: string): Promise<string> => {
  const { body } = await api.call('GET', url, undefined, keys.data);
  return body.pagination.next_cursor;
};

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const garbage = [
  'x',
  '0',
  "' OR 1=1 --",
  '\u0000',
  '../../etc/passwd',
  'A'.repeat(4_000),
  encode([]),
  encode({}),
  encode(null),
  encode([0]),
  encode(['now', 'run_x']),
  encode([1e308, 'x']),
  encode([0, '']),
  encode([0, '\u0000']),
  encode([Number.MAX_SAFE_INTEGER, 'x']),
  encode([-Number.MAX_SAFE_INTEGER, 'x']),
  encode([0, 'x'.repeat(5_000)]),
];

test('lists never fail with a server error on an invalid cursor', async () => {
  expect(routes.length).toBeGreaterThan(3);
  for (const route of routes) {
    for (const cursor of garbage) {
      const { status, body } = await read(route, cursor);
      expect([route, cursor.slice(0, 80), status < 500]).toEqual([
        route,
        cursor.slice(0, 80),
        true,
      ]);
      if (status === 400) expect(body.detail).toMatch(/cursor/);
    }
  }
});

describe('a cursor of the data API', () => {
  test('is refused with any bit changed', async () => {
    const cursor = await cursorOf('/v1/entities?limit=2');
    expect((await read('/v1/entities?limit=2', cursor)).status).toBe(200);
    const bytes = Buffer.from(cursor, 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      const { status } = await read('/v1/entities?limit=2', changed.toString('base64url'));
      expect([bit, status]).toEqual([bit, 400]);
    }
  });

  test('is refused in any other encoding', async () => {
    const cursor = await cursorOf('/v1/entities?limit=2');
    const bytes = Buffer.from(cursor, 'base64url');
    const others = [
      `${cursor}=`,
      `${cursor}A`,
      ` ${cursor}`,
      cursor.slice(0, -1),
      cursor.toUpperCase(),
      `${bytes.toString('base64')}\n`,
      `${cursor}.`,
    ];
    for (const other of others) expect((await read('/v1/entities', other)).status).toBe(400);
  });

  test('is refused by other endpoints, filters and workspaces', async () => {
    const cursor = await cursorOf('/v1/entities?limit=2');
    for (const url of [
      '/v1/changes',
      '/v1/events',
      '/v1/entities?entity_type=company',
      '/v1/entities?confidence_min=0.1',
      '/v1/entities?geography=Berlin',
    ]) {
      expect([url, (await read(url, cursor)).status]).toEqual([url, 400]);
    }
    expect((await read('/v1/entities', cursor, keys.elsewhere)).status).toBe(400);
  });
});

test('a forged cursor reveals no new rows of the operations API', async () => {
  const at = (Date.now() + 1_000) * 1_000;
  for (const route of routes.filter((path) => path.startsWith('/api/'))) {
    const plain = await api.call('GET', route);
    const moved = await read(route, encode([at, newId('run')]));
    if (moved.status === 400) continue;
    const ids = (text: string) => new Set(text.match(/\b(?:run|wf|aud|dlv)_[0-9a-z]{26}\b/g) ?? []);
    for (const id of ids(moved.text)) expect(ids(plain.text)).toContain(id);
  }
});

test('a cursor of the operations API shows nothing of its workspace in another one', async () => {
  const ids = (text: string) => text.match(/\b[a-z]+_[0-9a-z]{26}\b/g) ?? [];
  const get = (url: string, headers: Record<string, string>) =>
    api.call('GET', url, undefined, headers);
  const shown: string[] = [];
  for (const route of routes.filter((path) => path.startsWith('/api/'))) {
    for (const [from, to] of [
      [{}, session],
      [session, {}],
    ] as const) {
      const { body } = await get(`${route}?limit=1`, from);
      if (body.next_cursor == null) continue;
      const moved = await get(`${route}?limit=100&cursor=${body.next_cursor}`, to);
      // Lists of the data API refuse it; for others it is a place in their order.
      expect([route, moved.status]).toEqual([route, route.startsWith('/api/data/') ? 400 : 200]);
      const hidden = new Set(ids((await get(`${route}?limit=100`, from)).text));
      expect([route, ids(moved.text).filter((id) => hidden.has(id))]).toEqual([route, []]);
      if (ids(moved.text).length > 0) shown.push(route);
    }
  }
  // Rows of the other workspace are older than the cursor, in both directions.
  expect(shown.filter((route) => route === '/api/runs')).toHaveLength(2);
});

describe('a session token', () => {
  test('is refused with any character changed', async () => {
    const [{ id }] = (await api.call('GET', '/api/members')).body;
    const { token } = await createSessionTokens(SECRET_KEY).issue({ memberId: id, epoch: 1 });
    const me = (value: string) =>
      api.call('GET', '/api/auth/me', undefined, { authorization: `Bearer ${value}` });
    expect((await me(token)).status).toBe(200);
    const bytes = [...token].map((char) => char);
    for (let at = 0; at < bytes.length; at += 1) {
      const other = bytes[at] === 'A' ? 'Q' : 'A';
      const changed = [...bytes.slice(0, at), other, ...bytes.slice(at + 1)].join('');
      expect([at, (await me(changed)).status]).toEqual([at, 401]);
    }
    const [, payload = '', signature = ''] = token.split('.');
    const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
    for (const forged of [`${none}.${payload}.`, `${none}.${payload}.${signature}`, `..`]) {
      expect((await me(forged)).status).toBe(401);
    }
  });
});
