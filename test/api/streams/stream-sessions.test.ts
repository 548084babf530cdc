import { hkdfSync } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT } from 'jose';
import { WebSocket } from 'ws';
import type { App } from '#api/deps.ts';
import { sql } from '#shared/db/pool.ts';
import { createSessionTokens, SESSION_SECONDS } from '#shared/platform/secrets/session-tokens.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const SECRET_KEY = 'a secret of the stream tests';
const tokens = createSessionTokens(SECRET_KEY);

const api = useTestApi({ AUTH_MODE: 'required', SECRET_KEY });
let runId: string;
beforeAll(async () => {
  const { token } = await addMember('admin');
  const headers = { authorization: `Bearer ${token}` };
  const { id } = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep }, headers))
    .body;
  runId = (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' }, headers)).body.id;
});

async function addMember(role: 'admin' | 'viewer' = 'viewer', workspaceId = api.workspaceId) {
  const { id } = await addCaller({ db: api.db, workspaceId }, { role });
  return { id, token: (await tokens.issue({ memberId: id, epoch: 1 })).token };
}

const portOf = async (app: App): Promise<number> => {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
};

/** Opens a stream; the handshake completes even if the server closes the socket at once. */
const open = async (query: string, headers: Record<string, string> = {}) => {
  const url = `ws://127.0.0.1:${await portOf(api.app)}/api/runs/${runId}/stream${query}`;
  const socket = new WebSocket(url, { headers });
  const frames: unknown[] = [];
  socket.on('message', (data) => frames.push(data));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return { socket, frames, closed };
};
/** The close code, or undefined if the socket stays open for this time. */
const closesWithin = async (ms: number, { closed }: { closed: Promise<number> }) => {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  const code = await Promise.race([closed, promise]);
  clearTimeout(timer);
  return code;
};

describe('a stream with a token', () => {
  test('stays open for a viewer', async () => {
    const { token } = await addMember();
    const stream = await open(`?token=${token}`);
    expect(await closesWithin(300, stream)).toBeUndefined();
    stream.socket.close();
  });

  test('is closed with 4401 before any frame if the token is invalid', async () => {
    const { id, token } = await addMember();
    const expired = await createSessionTokens(SECRET_KEY).issue({ memberId: id, epoch: 0 });
    const unknown = await tokens.issue({ memberId: 'mem_unknown', epoch: 1 });
    const other = await createSessionTokens('another secret').issue({ memberId: id, epoch: 1 });
    for (const query of [
      '',
      '?token',
      '?token=',
      `?token=${token.slice(0, -1)}`,
      `?token=${token}x`,
      `?token=${token}%00`,
      `?token=%ed%a0%80`,
      `?token=${token}&token=${token}`,
      `?token[]=${token}`,
      `?TOKEN=${token}`,
      `?token=${'x'.repeat(8_000)}`,
      `?token=${expired.token}`,
      `?token=${unknown.token}`,
      `?token=${other.token}`,
      '?token=ops_0123456789abcdefghjkmnpqrstvwxyz',
    ]) {
      const stream = await open(query);
      expect([query.slice(0, 40), await stream.closed, stream.frames]).toEqual([
        query.slice(0, 40),
        4401,
        [],
      ]);
    }
  });

  test('does not open with a credential in a header', async () => {
    const { token } = await addMember();
    const credentials: Record<string, string>[] = [
      { 'x-api-key': 'ops_0123456789abcdefghjkmnpqrstvwxyz' },
      { authorization: `Bearer ${token}` },
    ];
    for (const headers of credentials) {
      expect(await (await open('', headers)).closed).toBe(4401);
      expect(await (await open(`?token=${token}`, headers)).closed).toBe(4401);
    }
  });

  test('is closed after the token expired', async () => {
    const { id } = await addMember();
    const now = Math.floor(Date.now() / 1000);
    // A session that started almost seven days ago.
    const token = await new SignJWT({ epoch: 1 })
      .setProtectedHeader({ alg: 'HS256' })
      .setSubject(id)
      .setIssuer('durable-workflows')
      .setAudience('session')
      .setIssuedAt(now + 5 - SESSION_SECONDS)
      .setExpirationTime(now + 5)
      .sign(new Uint8Array(hkdfSync('sha256', SECRET_KEY, '', 'session tokens', 32)));
    const stream = await open(`?token=${token}`);
    expect(await closesWithin(200, stream)).toBeUndefined();
    expect(await stream.closed).toBe(4401);
  }, 20_000);

  test.each([
    [
      'its member is removed',
      4401,
      (id: string) => sql.unsafe`DELETE FROM members WHERE id = ${id}`,
    ],
    [
      'the password is changed',
      4401,
      (id: string) =>
        sql.unsafe`UPDATE members SET session_epoch = session_epoch + 1 WHERE id = ${id}`,
    ],
    [
      'its member may no longer view',
      4403,
      (id: string) => sql.unsafe`UPDATE members SET overrides = '{"view": false}' WHERE id = ${id}`,
    ],
  ])('is closed within five seconds after %s', async (_what, code, end) => {
    const [one, other] = [await addMember(), await addMember()];
    const ended = await Promise.all([open(`?token=${one.token}`), open(`?token=${one.token}`)]);
    const kept = await open(`?token=${other.token}`);
    await api.db.query(end(one.id));
    expect(await Promise.all(ended.map((stream) => closesWithin(5_000, stream)))).toEqual([
      code,
      code,
    ]);
    expect(await closesWithin(100, kept)).toBeUndefined();
    kept.socket.close();
  });
});
