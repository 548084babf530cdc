import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { connectionLimits } from '#api/http/connections.ts';
import { sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { callerOf, oneStep, useTestApi } from '#test/api/test-api.ts';
import { type EventReader, readEvents } from './event-reader.ts';
import { startNodes } from './frames.ts';

// How long a stream of events stays open: idle, and with the access of its reader.

const SECRET_KEY = 'a secret of the event tests';
const api = useTestApi({ SECRET_KEY });
const sessions = createSessionTokens(SECRET_KEY);
const apps: App[] = [];

let runId: string;
beforeAll(async () => {
  const { id } = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body;
  runId = (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' })).body.id;
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

/** A process on the same database. */
async function start({ mode = 'open' as 'open' | 'required', commentEveryMs = 15_000 } = {}) {
  const { db, temporal, log } = api;
  const config = { ...api.config, auth: { ...api.config.auth, mode } };
  const app = buildApp(
    { db, temporal, log, config, findRunnable },
    { ...connectionLimits, commentEveryMs },
  );
  apps.push(app);
  await app.ready();
  return { app, call: callerOf(app) };
}
const sessionOf = async (memberId: string) => ({
  authorization: `Bearer ${(await sessions.issue({ memberId, epoch: 1 })).token}`,
});
const codesOf = ({ events }: EventReader) => events.map(({ event, data }) => [event, data.code]);

test('an idle stream of events gets comments, and the frames after them', async () => {
  const { app } = await start({ commentEveryMs: 20 });
  const reader = await readEvents(app, runId);
  await reader.untilComments(3);
  expect(reader.events).toEqual([]);
  await startNodes(api.db, runId, ['after']);
  await reader.until(1);
  expect(reader.events).toMatchObject([{ event: 'message', data: { node_id: 'after' } }]);
  await reader.untilComments(5);
  expect(reader.events).toHaveLength(1);
  reader.leave();
});

describe('a member whose role changes', () => {
  const change = async (member: string, body: object) => {
    const { status } = await api.call('PUT', `/api/members/${member}`, body);
    expect(status).toBe(200);
  };

  test('keeps an open stream of events while they can view runs, and loses each without', async () => {
    const { app, call } = await start({ mode: 'required' });
    const [kept, lost] = [await addCaller(api), await addCaller(api)];
    const session = await sessionOf(lost.id);
    const minted = await call('POST', `/api/runs/${runId}/stream-token`, {}, session);
    const staying = await readEvents(app, runId, { headers: await sessionOf(kept.id) });
    const ending = [
      await readEvents(app, runId, { headers: session }),
      await readEvents(app, runId, { headers: lost.headers }),
      await readEvents(app, runId, { query: `?token=${minted.body.token}` }),
    ];
    expect([staying, ...ending].map(({ response }) => response.status)).toEqual(
      Array.from({ length: 4 }, () => 200),
    );
    await change(kept.id, { role: 'viewer' });
    await change(`${lost.id}/permissions`, { overrides: { view: false } });
    await change(lost.id, { role: 'viewer' });
    for (const reader of ending) {
      await reader.ended;
      expect(codesOf(reader)).toEqual([['close', 4403]]);
    }
    // The same check has seen both members.
    await startNodes(api.db, runId, ['later']);
    await staying.until(1);
    expect(staying.events).toMatchObject([{ data: { node_id: 'later' } }]);
    expect((await readEvents(app, runId, { headers: session })).response.status).toBe(403);
    staying.leave();
  });
});

describe('in open mode, streams of events without a credential', () => {
  const openBoth = async ({ app, call }: Awaited<ReturnType<typeof start>>) => {
    const { token } = (await call('POST', `/api/runs/${runId}/stream-token`, {})).body;
    const query = `?token=${token}`;
    const readers = [await readEvents(app, runId), await readEvents(app, runId, { query })];
    expect(readers.map(({ response }) => response.status)).toEqual([200, 200]);
    return { query, readers };
  };

  test('end when the owner can no longer view runs', async () => {
    const process = await start();
    const { query, readers } = await openBoth(process);
    const { headers } = await addCaller(api, { role: 'admin' });
    const owner = (await api.call('GET', '/api/members')).body.find(
      ({ is_owner }: { is_owner: boolean }) => is_owner,
    );
    const url = `/api/members/${owner.id}/permissions`;
    const set = async (view: boolean | null) =>
      expect((await api.call('PUT', url, { overrides: { view } }, headers)).status).toBe(200);
    await set(false);
    try {
      for (const reader of readers) {
        await reader.ended;
        expect(codesOf(reader)).toEqual([['close', 4403]]);
      }
      expect((await readEvents(process.app, runId, { query })).response.status).toBe(403);
    } finally {
      await set(null);
    }
  });

  test('end when there is no owner', async () => {
    const { readers } = await openBoth(await start());
    await api.db.query(sql.unsafe`UPDATE members SET is_owner = false`);
    try {
      for (const reader of readers) {
        await reader.ended;
        expect(codesOf(reader)).toEqual([['close', 4401]]);
      }
    } finally {
      await api.db.query(sql.unsafe`
        UPDATE members SET is_owner = true
        WHERE id = (SELECT id FROM members ORDER BY created_at, id LIMIT 1)`);
    }
  });

  test('end when the mode ends, and do not open again after it', async () => {
    const { app, ...rest } = await start();
    const { query, readers } = await openBoth({ app, ...rest });
    await app.close();
    for (const reader of readers) {
      await reader.ended;
      expect(codesOf(reader)).toEqual([['close', 1001]]);
    }
    const { app: required } = await start({ mode: 'required' });
    const headers = { 'last-event-id': '0' };
    for (const given of [{ query }, {}]) {
      expect((await readEvents(required, runId, { ...given, headers })).response.status).toBe(401);
    }
  });
});
