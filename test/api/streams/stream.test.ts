import { beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { App } from '#api/deps.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { sql } from '#shared/db/pool.ts';
import { appendFrames } from '#shared/db/runs/log.ts';
import { handshake, openConnection, requestHead } from '#test/support/raw-http.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi({ STREAM_SOCKETS_PER_ADDRESS_AND_RUN: '200' });
let workflowId: string;
beforeAll(async () => {
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
});

const startRun = async (): Promise<string> =>
  (await api.call('POST', `/api/workflows/${workflowId}/runs`, { ticket: 'x' })).body.id;

interface Reader {
  socket: WebSocket;
  frames: StreamFrame[];
  closed: Promise<number>;
  /** Resolves once this many frames have arrived. */
  until(count: number): Promise<StreamFrame[]>;
}

const portOf = async (app: App): Promise<number> => {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as { port: number }).port;
};

const connect = async (
  runId: string,
  options: { app?: App; query?: string; headers?: Record<string, string> } = {},
): Promise<Reader> => {
  const { app = api.app, query = '', headers = {} } = options;
  const socket = new WebSocket(
    `ws://127.0.0.1:${await portOf(app)}/api/runs/${runId}/stream${query}`,
    { headers },
  );
  const frames: StreamFrame[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data) => {
    frames.push(JSON.parse((data as Buffer).toString()) as StreamFrame);
    for (const check of waiting) check();
  });
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  const until = async (count: number) => {
    const { promise, resolve } = Promise.withResolvers();
    const check = () => {
      if (frames.length >= count) resolve(undefined);
    };
    waiting.add(check);
    check();
    await promise;
    return frames;
  };
  return { socket, frames, closed, until };
};

const started = (runId: string, node: string): StreamFrame => ({
  run_id: runId,
  type: 'step_started',
  node_id: node,
  label: node,
});

/** Writes frames as the engine does: numbered in a transaction, readers notified after its commit. */
const emit = async (runId: string, nodes: string[], wake = true) => {
  await api.db.transaction(async (tx) =>
    appendFrames(
      tx,
      runId,
      nodes.map((node) => started(runId, node)),
    ),
  );
  if (wake) await notifyFrames(api.db, [runId]);
};
const nodesOf = (frames: StreamFrame[]) =>
  frames.map((frame) => ('node_id' in frame ? frame.node_id : frame.type));

describe('a stream', () => {
  test('sends exactly the frames after it opened, in order', async () => {
    const runId = await startRun();
    await emit(runId, ['before']);
    const reader = await connect(runId);
    await emit(runId, ['a', 'b']);
    await emit(runId, ['c']);
    expect(await reader.until(3)).toEqual([
      started(runId, 'a'),
      started(runId, 'b'),
      started(runId, 'c'),
    ]);
    reader.socket.close();
  });

  test('has the pauses of children only with deltas', async () => {
    const runId = await startRun();
    const plain = await connect(runId);
    const detailed = await connect(runId, { query: '?deltas=true' });
    const of = { run_id: runId, node_id: 'sub', child_run_id: 'run_child' };
    const paused: StreamFrame = { ...of, type: 'child_paused' };
    const continued: StreamFrame = { ...of, type: 'child_continued', step_key: 'a/1.1' };
    await api.db.transaction((tx) => appendFrames(tx, runId, [paused, continued]));
    await emit(runId, ['last']);
    expect(await detailed.until(3)).toEqual([paused, continued, started(runId, 'last')]);
    expect(await plain.until(1)).toEqual([started(runId, 'last')]);
    plain.socket.close();
    detailed.socket.close();
  });

  test('sends a cancellation made over HTTP', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    await api.call('POST', `/api/runs/${runId}/cancel`);
    expect(await reader.until(1)).toEqual([
      { run_id: runId, type: 'run_failed', error: 'Cancelled by Owner' },
    ]);
    reader.socket.close();
  });

  test('sends each frame once to every socket of the run, in every process, and to no other', async () => {
    const [runId, otherId] = [await startRun(), await startRun()];
    const { app } = await api.another();
    const readers = await Promise.all([connect(runId), connect(runId), connect(runId, { app })]);
    const stranger = await connect(otherId, { app });
    const nodes = Array.from({ length: 300 }, (_, i) => `n${i}`);
    // Many concurrent writers, each with a separate notification: readers overlap as much as possible.
    await Promise.all(
      [0, 1, 2, 3].map(async (part) => {
        for (const node of nodes.slice(part * 75, part * 75 + 75)) await emit(runId, [node]);
      }),
    );
    await emit(runId, ['last']);
    const stored = await api.db.anyFirst(sql.type(z.object({ node: z.string() }))`
      SELECT frame ->> 'node_id' AS node FROM run_frames WHERE run_id = ${runId} ORDER BY seq
    `);
    for (const reader of readers) expect(nodesOf(await reader.until(301))).toEqual(stored);
    expect(stranger.frames).toEqual([]);
    for (const { socket } of [...readers, stranger]) socket.close();
    await app.close();
  });

  test('catches up with a long burst', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    const nodes = Array.from({ length: 3_500 }, (_, i) => `n${i}`);
    await emit(runId, nodes);
    expect(nodesOf(await reader.until(3_500))).toEqual(nodes);
    reader.socket.close();
  });

  test('loses nothing without a notification', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    await emit(runId, ['a', 'b'], false);
    expect(nodesOf(await reader.until(2))).toEqual(['a', 'b']);
    reader.socket.close();
  });

  test('continues after its LISTEN connection is cut', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    await emit(runId, ['a']);
    await reader.until(1);
    const cut = async () =>
      api.db.any(sql.type(z.object({ cut: z.boolean() }))`
        SELECT pg_terminate_backend(pid) AS cut FROM pg_stat_activity
        WHERE application_name = 'frames' AND datname = current_database()
      `);
    expect((await cut()).length).toBeGreaterThan(0);
    await emit(runId, ['b']);
    expect(nodesOf(await reader.until(2))).toEqual(['a', 'b']);
    for (let tries = 0; (await listeners()) === 0 && tries < 50; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(await listeners()).toBe(1);
    reader.socket.close();
  });

  const listeners = async () =>
    api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM pg_stat_activity
      WHERE application_name = 'frames' AND datname = current_database()
    `);

  test('ignores client messages', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    for (const text of ['hello', '{', '{"type":"ping"}']) reader.socket.send(text);
    await emit(runId, ['a']);
    expect(nodesOf(await reader.until(1))).toEqual(['a']);
    reader.socket.close();
  });

  test('closes on a message larger than 64 kB', async () => {
    const reader = await connect(await startRun());
    reader.socket.send('x'.repeat(65 * 1024));
    expect(await reader.closed).toBe(1009);
  });

  test('negotiates no compression', async () => {
    const reader = await connect(await startRun());
    expect(reader.socket.extensions).toBe('');
    reader.socket.close();
  });

  test('drops a reader that does not read', async () => {
    const runId = await startRun();
    const reader = await connect(runId);
    const { socket } = reader;
    socket.pause();
    const error = 'x'.repeat(200_000);
    for (let part = 0; part < 8; part += 1) {
      await api.db.transaction(async (tx) =>
        appendFrames(
          tx,
          runId,
          Array.from({ length: 25 }, () => ({ run_id: runId, type: 'run_failed', error })),
        ),
      );
      await notifyFrames(api.db, [runId]);
    }
    for (let tries = 0; api.app.websocketServer.clients.size > 0 && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(api.app.websocketServer.clients.size).toBe(0);
    socket.terminate();
  });
});

describe('a stream is closed immediately', () => {
  test('with 4401 for an invalid credential', async () => {
    const runId = await startRun();
    expect(await (await connect(runId, { query: '?token=nonsense' })).closed).toBe(4401);
    expect(await (await connect(runId, { headers: { 'x-api-key': 'ops_x' } })).closed).toBe(4401);
  });

  test('with 4403 without the view capability, or for a page of another origin', async () => {
    const runId = await startRun();
    const page = await connect(runId, { headers: { origin: 'https://evil.example' } });
    expect(await page.closed).toBe(4403);
    const setView = async (view: boolean) =>
      api.db.query(sql.unsafe`
        UPDATE members SET overrides = ${JSON.stringify(view ? {} : { view: false })}::jsonb WHERE is_owner`);
    await setView(false);
    const { app } = await api.another();
    expect(await (await connect(runId, { app })).closed).toBe(4403);
    await setView(true);
    await app.close();
  });

  test('with 1013 when the run has 100 streams', async () => {
    const runId = await startRun();
    const readers = await Promise.all(Array.from({ length: 100 }, () => connect(runId)));
    expect(await (await connect(runId)).closed).toBe(1013);
    await emit(runId, ['a']);
    for (const reader of readers) expect(nodesOf(await reader.until(1))).toEqual(['a']);
    for (const { socket } of readers) socket.close();
  });

  test('with 1001 when the process stops', async () => {
    const runId = await startRun();
    const { app } = await api.another();
    const reader = await connect(runId, { app });
    await app.close();
    expect(await reader.closed).toBe(1001);
  });
});

test('a request without an upgrade gets 400', async () => {
  const { status, body } = await api.call('GET', `/api/runs/${await startRun()}/stream`);
  expectRefusal(
    { status, body },
    400,
    'This address is a WebSocket; connect with the ws protocol, or send Accept: text/event-stream',
  );
});

/** Sends a raw request. Returns the head of the response, in lower case, and the body. */
async function exchange(head: string): Promise<{ head: string; body: string }> {
  const { socket, closed } = openConnection(await portOf(api.app));
  socket.write(head);
  setTimeout(() => socket.end(), 1_000).unref();
  const [answered = '', body = ''] = (await closed).text.split('\r\n\r\n', 2);
  return { head: answered.toLowerCase(), body };
}

// The server stops reading from this connection: a client that kept it would wait forever for its next response.
test.each([
  ['that is none for WebSockets', '/api/workflows'],
  ['of the protocol for tools', '/api/mcp'],
  ['of the metrics', '/metrics'],
  ['of a page', '/docs/'],
  ['of the console', '/'],
  ['that nobody knows', '/nowhere'],
  ['that is no URL', '/api/runs/run_x/stream%zz'],
  ['with an id that is too long', `/api/runs/${'x'.repeat(1_001)}/stream`],
])('a refused handshake at an address %s closes the connection', async (_what, path) => {
  const { socket, closed } = openConnection(await portOf(api.app));
  socket.write(handshake(path));
  const { text } = await closed;
  expect(text).toMatch(/^HTTP\/1\.1 40[0-9] /);
  expect(text.toLowerCase()).toContain('\r\nconnection: close\r\n');
  expect(text.toLowerCase()).not.toMatch(/\r\nupgrade:|sec-websocket/);
  // It is not the limit for a head that closes it.
  expect(text).not.toContain('408');
});

test.each(['h2c', 'HTTP/2.0', 'TLS/1.0', 'websocket, h2c', 'x'])(
  'the upgrade %j is ignored, with and without a body',
  async (upgrade) => {
    const headers = {
      connection: 'close, Upgrade, HTTP2-Settings',
      upgrade,
      'http2-settings': 'AAMAAABkAAQAoAAAAAIAAAAA',
    };
    const read = await exchange(requestHead('GET', '/api/workflows', headers));
    expect(read.head).toMatch(/^http\/1\.1 200 /);
    expect(JSON.parse(read.body)).toEqual(expect.any(Array));
    const json = JSON.stringify({ name: 'Made by curl --http2', graph: oneStep });
    const post = requestHead('POST', '/api/workflows', {
      ...headers,
      'content-type': 'application/json',
      'content-length': String(json.length),
    });
    expect((await exchange(post + json)).head).toMatch(/^http\/1\.1 201 /);
  },
);

test('a connection that offered an upgrade serves its next request', async () => {
  const offer = requestHead('GET', '/api/workflows', { connection: 'Upgrade', upgrade: 'h2c' });
  const last = requestHead('GET', '/api/workspace', { connection: 'close' });
  const { socket, closed, until } = openConnection(await portOf(api.app));
  socket.write(offer);
  await until(/\]$/);
  socket.write(last);
  expect((await closed).text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
});

test('a POST handshake is a plain request', async () => {
  const post = handshake(`/api/runs/${await startRun()}/cancel`, { connection: 'close, Upgrade' });
  expect((await exchange(post.replace('GET', 'POST'))).head).toMatch(/^http\/1\.1 200 /);
});

test('no subprotocol is negotiated', async () => {
  const { socket, until } = openConnection(await portOf(api.app));
  const offered = { 'sec-websocket-protocol': 'graphql-ws, bearer' };
  socket.write(handshake(`/api/runs/${await startRun()}/stream`, offered));
  const head = await until(/\r\n\r\n/);
  expect(head).toMatch(/^HTTP\/1\.1 101 /);
  expect(head.toLowerCase()).not.toContain('sec-websocket-protocol');
  socket.destroy();
});
