import { beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { sql } from '#shared/db/pool.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { createStreamTokens } from '#shared/platform/secrets/stream-tokens.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { addressOf, readEvents } from '#test/api/streams/event-reader.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

// A page of others has a stream token. It reads the stream of one run, and nothing else.

const SECRET_KEY = 'a secret of the stream tokens';
const api = useTestApi({ AUTH_MODE: 'required', SECRET_KEY });
const sessions = createSessionTokens(SECRET_KEY);
type Headers = Record<string, string>;

let editor: Headers;
let runId: string;
let otherRunId: string;
beforeAll(async () => {
  ({ headers: editor } = await addCaller(api));
  const workflow = { name: 'x', graph: oneStep };
  const { id } = (await api.call('POST', '/api/workflows', workflow, editor)).body;
  const start = async () =>
    (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' }, editor)).body.id;
  [runId, otherRunId] = [await start(), await start()];
});

async function mint(headers: Headers, body: object = {}, run = runId): Promise<string> {
  const answer = await api.call('POST', `/api/runs/${run}/stream-token`, body, headers);
  expect(answer.status).toBe(200);
  return answer.body.token;
}
const sessionOf = async (memberId: string): Promise<Headers> => ({
  authorization: `Bearer ${(await sessions.issue({ memberId, epoch: 1 })).token}`,
});
const bySse = async (query: string, headers: Headers = {}, run = runId): Promise<number> => {
  const reader = await readEvents(api.app, run, { query, headers });
  reader.leave();
  return reader.response.status;
};
async function openSocket(query: string, headers: Headers = {}, run = runId) {
  const address = (await addressOf(api.app)).replace('http', 'ws');
  const socket = new WebSocket(`${address}/api/runs/${run}/stream${query}`, { headers });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const pong = new Promise<'open'>((resolve) => socket.on('pong', () => resolve('open')));
  socket.ping();
  return { socket, closed, state: await Promise.race([pong, closed]) };
}

test('a token opens the stream of its run, from any page, in the query and as a header', async () => {
  const token = await mint(editor);
  const page = { origin: 'https://shop.example' };
  const reader = await readEvents(api.app, runId, { query: `?token=${token}`, headers: page });
  expect(reader.response.status).toBe(200);
  expect(reader.response.headers.get('access-control-allow-origin')).toBe('*');
  reader.leave();
  expect(await bySse('', { authorization: `Bearer ${token}` })).toBe(200);
  const { socket, state } = await openSocket(`?token=${token}`, page);
  expect(state).toBe('open');
  socket.terminate();
});

test('of forty wrong uses of a token, none succeeds', async () => {
  const token = await mint(editor);
  const [head = '', body = '', signature = ''] = token.split('.');
  const grant = { runId, minter: { kind: 'none' } } as const;
  const issue = async (secret: string, seconds: number, of: typeof grant = grant) =>
    (await createStreamTokens(secret).issue(of, seconds)).token;
  const unsigned = Buffer.from('{"alg":"none"}').toString('base64url');
  const other = JSON.parse(Buffer.from(body, 'base64url').toString());
  const rewritten = Buffer.from(JSON.stringify({ ...other, sub: otherRunId }));
  const { id: memberId } = await addCaller(api);
  const key = { kind: 'api_key', keyId: 'key_unknown' } as const;
  const stale = { kind: 'session', memberId, epoch: 0 } as const;
  const forged = [
    '',
    'x',
    token.slice(0, -2),
    `${token}x`,
    `${head}.${body}.`,
    `${unsigned}.${body}.`,
    `${head}.${rewritten.toString('base64url')}.${signature}`,
    await issue('another secret', 300),
    await issue(SECRET_KEY, -1),
    // Open mode is off: anyone's token has no creator here.
    await issue(SECRET_KEY, 300),
    (await createStreamTokens(SECRET_KEY).issue({ runId, minter: key }, 300)).token,
    (await createStreamTokens(SECRET_KEY).issue({ runId, minter: stale }, 300)).token,
    editor['x-api-key'] ?? '',
  ];
  const answers: [string, unknown][] = [];
  for (const [n, each] of forged.entries()) {
    const query = `?token=${encodeURIComponent(each)}`;
    answers.push([`events ${n}`, await bySse(query)]);
    const { state } = await openSocket(query);
    answers.push([`socket ${n}`, state]);
  }
  answers.push(['events of another run', await bySse(`?token=${token}`, {}, otherRunId)]);
  answers.push([
    'socket of another run',
    (await openSocket(`?token=${token}`, {}, otherRunId)).state,
  ]);
  answers.push(['two credentials', await bySse(`?token=${token}`, editor)]);
  answers.push(['twice', await bySse(`?token=${token}&token=${token}`)]);
  const bearer = { authorization: `Bearer ${token}` };
  for (const [method, url] of [
    ['GET', `/api/runs/${runId}`],
    ['GET', `/api/runs/${runId}/events`],
    ['GET', `/api/runs/${runId}/events?token=${token}`],
    ['GET', '/api/runs'],
    ['GET', '/api/stream'],
    ['GET', '/api/workspace'],
    ['POST', `/api/runs/${runId}/stream-token`],
    ['POST', `/api/runs/${runId}/cancel`],
    ['POST', '/api/mcp'],
    ['GET', '/v1/feeds'],
  ] as const) {
    const sent = method === 'POST' ? {} : undefined;
    answers.push([`${method} ${url}`, (await api.call(method, url, sent, bearer)).status]);
  }
  expect(answers).toHaveLength(40);
  expect(answers.filter(([, outcome]) => outcome !== 401 && outcome !== 4401)).toEqual([]);
});

test.each([
  ['member is removed', 4401, (id: string) => sql.unsafe`DELETE FROM members WHERE id = ${id}`],
  [
    'member changes the password',
    4401,
    (id: string) => sql.unsafe`UPDATE members SET session_epoch = 2 WHERE id = ${id}`,
  ],
  [
    'member can no longer view runs',
    4403,
    (id: string) => sql.unsafe`UPDATE members SET overrides = '{"view": false}' WHERE id = ${id}`,
  ],
])('open streams of a token end when its %s', async (_what, code, change) => {
  const { id } = await addCaller(api);
  const query = `?token=${await mint(await sessionOf(id))}`;
  const reader = await readEvents(api.app, runId, { query });
  const { closed } = await openSocket(query);
  await api.db.query(change(id));
  expect(await closed).toBe(code);
  await reader.ended;
  expect(reader.events).toEqual([{ event: 'close', id: undefined, data: { code } }]);
  expect(await bySse(query)).toBe(code - 4000);
});

test('open streams of a token end when the API key that created it is revoked, or the token expires', async () => {
  const { id, headers } = await addCaller(api);
  const [lasting, short] = [await mint(headers), await mint(editor, { expires_in: 2 })];
  const readers = await Promise.all(
    [lasting, short].map((token) => readEvents(api.app, runId, { query: `?token=${token}` })),
  );
  await api.db.query(sql.unsafe`UPDATE api_keys SET revoked_at = now() WHERE member_id = ${id}`);
  for (const reader of readers) {
    await reader.ended;
    expect(reader.events.map(({ data }) => data)).toEqual([{ code: 4401 }]);
  }
  expect(await bySse(`?token=${lasting}`)).toBe(401);
});

test('only someone who can view the run creates a token, for at most an hour', async () => {
  const blind = await addCaller(api, { overrides: { view: false } });
  const url = `/api/runs/${runId}/stream-token`;
  expect((await api.call('POST', url, {}, blind.headers)).status).toBe(403);
  expect((await api.call('POST', url, {})).status).toBe(401);
  expect((await api.call('POST', url, { expires_in: 3_601 }, editor)).status).toBe(400);
  const unknown = await api.call('POST', '/api/runs/run_x/stream-token', {}, editor);
  expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Run not found' }]);
});
