import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { createSocketSlots, type PlaceTaker } from '#api/stream/slots.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { eventually } from '#test/support/engine.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// All tenants of a process share its stream slots. No one gets more than their share.

const SECRET_KEY = 'a secret of the socket tests';
const tokens = createSessionTokens(SECRET_KEY);
const limits = {
  STREAM_SOCKETS_PER_MEMBER_AND_RUN: '3',
  STREAM_SOCKETS_PER_MEMBER: '5',
  STREAM_SOCKETS_PER_ADDRESS: '6',
  STREAM_SOCKETS_PER_ADDRESS_AND_RUN: '4',
  STREAM_SOCKETS_PER_RUN: '7',
  STREAM_SOCKETS_PER_WORKSPACE: '10',
  STREAM_SOCKETS_PER_PROCESS: '14',
};
const row = z.object({});

let required: TestApi;
let open: TestApi;
beforeAll(async () => {
  required = await startTestApi({ AUTH_MODE: 'required', SECRET_KEY, ...limits });
  open = await startTestApi({ ...limits, TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(async () => {
  await required.stop();
  await open.stop();
});

async function addMember(workspaceId = required.workspaceId): Promise<string> {
  const id = newId('member');
  await required.db.query(sql.type(row)`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    VALUES (${id}, ${workspaceId}, 'Ada', ${`${id}@example.com`}, 'admin', 'active')`);
  return id;
}
const tokenOf = async (memberId: string) => (await tokens.issue({ memberId, epoch: 1 })).token;
const addWorkspace = async (): Promise<string> => {
  const id = newId('workspace');
  await required.db.query(sql.type(row)`INSERT INTO workspaces (id, name) VALUES (${id}, 'O')`);
  return id;
};
async function startRun(api: TestApi, memberId?: string): Promise<string> {
  const headers: Record<string, string> =
    memberId === undefined ? {} : { authorization: `Bearer ${await tokenOf(memberId)}` };
  const workflow = { name: 'x', graph: oneStep };
  const { id } = (await api.call('POST', '/api/workflows', workflow, headers)).body;
  return (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' }, headers)).body.id;
}

interface Stream {
  socket: WebSocket;
  closed: Promise<{ code: number; reason: string }>;
  /** Whether it is still open after a round trip. */
  held(): Promise<boolean>;
}
const sockets: WebSocket[] = [];
/** The address of each API; concurrent callers share one `listen`. */
const addresses = new Map<TestApi, Promise<string>>();
const addressOf = (api: TestApi): Promise<string> => {
  let address = addresses.get(api);
  if (address === undefined) {
    address = api.app.listen({ host: '127.0.0.1', port: 0 });
    addresses.set(api, address);
  }
  return address;
};
async function follow(api: TestApi, runId: string, query = '', headers = {}): Promise<Stream> {
  const address = (await addressOf(api)).replace('http', 'ws');
  const socket = new WebSocket(`${address}/api/runs/${runId}/stream${query}`, { headers });
  sockets.push(socket);
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  );
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const held = async () => {
    if (socket.readyState !== socket.OPEN) return false;
    const pong = new Promise<boolean>((resolve) => socket.once('pong', () => resolve(true)));
    socket.ping();
    return Promise.race([pong, closed.then(() => false)]);
  };
  return { socket, closed, held };
}
/** Opens this many streams at once. Returns how many stay open, and why the others closed. */
async function many(api: TestApi, n: number, runId: string, query = '', headers = {}) {
  const streams = await Promise.all(
    Array.from({ length: n }, () => follow(api, runId, query, headers)),
  );
  const held = await Promise.all(streams.map((stream) => stream.held()));
  const refused = streams.filter((_, index) => !held[index]);
  const closes = await Promise.all(refused.map(({ closed }) => closed));
  return {
    held: held.filter(Boolean).length,
    codes: [...new Set(closes.map(({ code }) => code))],
    reasons: [...new Set(closes.map(({ reason }) => reason))],
  };
}
const hangUp = async () => {
  await Promise.all(
    sockets.splice(0).map(
      (socket) =>
        new Promise<void>((resolve) => {
          if (socket.readyState === socket.CLOSED) return resolve();
          socket.on('close', () => resolve());
          socket.close();
        }),
    ),
  );
};

test('a member has a limit per run, across sessions and concurrent requests', async () => {
  const [greedy, modest] = [await addMember(), await addMember()];
  const runId = await startRun(required, greedy);
  const first = await many(required, 12, runId, `?token=${await tokenOf(greedy)}`);
  expect(first).toEqual({
    held: 3,
    codes: [1013],
    reasons: ['One member has on one run at most 3 streams'],
  });
  const again = await many(required, 2, runId, `?token=${await tokenOf(greedy)}`);
  expect(again.held).toBe(0);
  const other = await many(required, 1, runId, `?token=${await tokenOf(modest)}`);
  expect(other.held).toBe(1);
  await hangUp();
});

test('members, runs, workspaces and processes each have a limit', async () => {
  const members = await Promise.all(Array.from({ length: 4 }, () => addMember()));
  const queries = await Promise.all(members.map(async (id) => `?token=${await tokenOf(id)}`));
  const runs = [await startRun(required, members[0]), await startRun(required, members[0])];
  const take = (member: number, run: number) => many(required, 3, runs[run] ?? '', queries[member]);
  expect((await take(0, 0)).held).toBe(3);
  expect(await take(0, 1)).toMatchObject({
    held: 2,
    reasons: ['One member has at most 5 streams'],
  });
  expect((await take(1, 0)).held).toBe(3);
  expect(await take(2, 0)).toMatchObject({ held: 1, reasons: ['One run has at most 7 streams'] });
  expect(await take(3, 1)).toMatchObject({
    held: 1,
    reasons: ['One workspace has at most 10 streams'],
  });
  // Another tenant still has room, up to the limit of the process.
  const elsewhere = await addWorkspace();
  const [guest, second] = [await addMember(elsewhere), await addMember(elsewhere)];
  const theirs = await startRun(required, guest);
  expect((await many(required, 3, theirs, `?token=${await tokenOf(guest)}`)).held).toBe(3);
  expect(await many(required, 3, theirs, `?token=${await tokenOf(second)}`)).toEqual({
    held: 1,
    codes: [1013],
    reasons: ['This process has at most 14 streams'],
  });
  await hangUp();
});

test('a closed or terminated socket frees its slot', async () => {
  const member = await addMember();
  const runId = await startRun(required, member);
  const query = `?token=${await tokenOf(member)}`;
  for (const end of ['close', 'terminate'] as const) {
    expect((await many(required, 3, runId, query)).held).toBe(3);
    expect((await many(required, 1, runId, query)).held).toBe(0);
    for (const socket of sockets.splice(0)) socket[end]();
    await eventually(async () => (await many(required, 1, runId, query)).held === 1);
    await hangUp();
  }
});

test('without credentials, each address has a limit', async () => {
  const [one, two] = [await startRun(open), await startRun(open)];
  const from = (address: string, n: number, runId: string) =>
    many(open, n, runId, '', { 'x-forwarded-for': address });
  expect(await from('192.0.2.1', 8, one)).toEqual({
    held: 4,
    codes: [1013],
    reasons: ['One address has on one run at most 4 streams'],
  });
  expect(await from('192.0.2.1', 3, two)).toEqual({
    held: 2,
    codes: [1013],
    reasons: ['One address has at most 6 streams'],
  });
  // Others still have room.
  expect(await from('192.0.2.2', 4, one)).toMatchObject({
    held: 3,
    reasons: ['One run has at most 7 streams'],
  });
  await hangUp();
});

test('a refusal takes no slot, and a double release frees only one', () => {
  const places = createSocketSlots({
    perMember: 2,
    perMemberAndRun: 2,
    perAddress: 2,
    perAddressAndRun: 2,
    perRun: 1,
    perWorkspace: 9,
    perProcess: 9,
  });
  const taker = (runId: string): PlaceTaker => ({
    runId,
    workspaceId: 'ws',
    caller: { kind: 'member', id: 'mem' },
  });
  const first = places.take(taker('run_1'));
  if (!('release' in first)) throw new Error('refused');
  for (let n = 0; n < 5; n += 1) {
    expect(places.take(taker('run_1'))).toEqual({ refusal: 'One run has at most 1 streams' });
  }
  expect(places.take(taker('run_2'))).toHaveProperty('release');
  first.release();
  first.release();
  expect(places.take(taker('run_1'))).toHaveProperty('release');
  expect(places.take(taker('run_3'))).toHaveProperty('refusal');
});
