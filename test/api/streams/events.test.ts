import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { addressOf, type ReadEvent, readEvents } from './event-reader.ts';
import { append, endRun, startNodes } from './frames.ts';

const api = useTestApi({ STREAM_SOCKETS_PER_ADDRESS_AND_RUN: '4' });
let workflowId: string;
beforeAll(async () => {
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
});

const startRun = async (): Promise<string> =>
  (await api.call('POST', `/api/workflows/${workflowId}/runs`, { ticket: 'x' })).body.id;

const emit = (runId: string, nodes: string[]) => startNodes(api.db, runId, nodes);
const end = (runId: string) => endRun(api.db, runId);
const nodesOf = (events: readonly ReadEvent[]) =>
  events.map(({ data }) => data.node_id ?? data.type);

describe('server-sent events of a run', () => {
  test('are its frames after the connection, with their numbers, until the run has ended', async () => {
    const runId = await startRun();
    await emit(runId, ['before']);
    const reader = await readEvents(api.app, runId);
    expect(reader.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(reader.response.headers.get('cache-control')).toBe('no-store');
    await emit(runId, ['a', 'b']);
    await end(runId);
    await reader.ended;
    expect(nodesOf(reader.events)).toEqual(['a', 'b', 'run_completed', 'end']);
    const stored = (await api.call('GET', `/api/runs/${runId}/events`)).body.events;
    const numbers = stored.slice(-3).map(({ seq }: { seq: number }) => seq);
    expect(reader.events.map(({ id }) => id)).toEqual([...numbers, numbers.at(-1)]);
    expect(reader.events.at(-1)).toMatchObject({ event: 'end', data: { run_id: runId } });
    // A browser that reconnects stops at this answer.
    const headers = { 'last-event-id': String(numbers.at(-1)) };
    expect((await readEvents(api.app, runId, { headers })).response.status).toBe(204);
  });

  test('continue after the given number without a gap or a repetition while frames arrive', async () => {
    const runId = await startRun();
    const nodes = Array.from({ length: 300 }, (_, n) => `n${n}`);
    const writing = (async () => {
      for (const node of nodes) await emit(runId, [node]);
      await end(runId);
    })();
    const seen: ReadEvent[] = [];
    for (let readers = 1; seen.at(-1)?.event !== 'end'; readers += 1) {
      const last = String(seen.at(-1)?.id ?? 0);
      const reader = await readEvents(api.app, runId, { headers: { 'last-event-id': last } });
      await Promise.race([reader.until(readers * 10), reader.ended]);
      seen.push(...reader.events);
      reader.leave();
      await reader.ended;
    }
    await writing;
    expect(nodesOf(seen.filter(({ data }) => data.node_id !== undefined))).toEqual(nodes);
  });

  test('end immediately for a run that ended long ago, and start from its first frame on demand', async () => {
    const runId = await startRun();
    await emit(runId, ['a']);
    await end(runId);
    const late = await readEvents(api.app, runId);
    await late.ended;
    expect(late.events.map(({ event }) => event)).toEqual(['end']);
    const all = await readEvents(api.app, runId, { query: '?after=0' });
    await all.ended;
    expect(nodesOf(all.events)).toEqual(['a', 'run_completed', 'end']);
  });

  test('end with a close event when the process stops', async () => {
    const runId = await startRun();
    const { app } = await api.another();
    const reader = await readEvents(app, runId);
    await app.close();
    await reader.ended;
    expect(reader.events).toEqual([{ event: 'close', id: undefined, data: { code: 1001 } }]);
  });

  test('are cut for a reader that does not read', async () => {
    const runId = await startRun();
    const { port } = new URL(await addressOf(api.app));
    const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
    socket.write(
      `GET /api/runs/${runId}/stream HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await once(socket, 'readable');
    const connections = () =>
      new Promise<number>((resolve) => api.app.server.getConnections((_, n) => resolve(n)));
    const before = await connections();
    const error = 'x'.repeat(200_000);
    for (let part = 0; part < 8; part += 1) {
      const frame = { run_id: runId, type: 'run_failed', error } as const;
      await append(
        api.db,
        runId,
        Array.from({ length: 25 }, () => frame),
      );
    }
    for (let tries = 0; (await connections()) >= before && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect(await connections()).toBeLessThan(before);
    let bytes = 0;
    socket.on('data', (chunk) => (bytes += chunk.length)).resume();
    await once(socket, 'close');
    expect(bytes).toBeLessThan(8 * 25 * error.length);
  });

  test('take the slots of sockets, and free them', async () => {
    const runId = await startRun();
    const readers = await Promise.all(Array.from({ length: 4 }, () => readEvents(api.app, runId)));
    const refused = await readEvents(api.app, runId);
    expect(refused.response.status).toBe(429);
    expect(await refused.response.json()).toEqual({
      detail: 'One address has on one run at most 4 streams',
    });
    for (const reader of readers) reader.leave();
    let status = 429;
    for (let tries = 0; status === 429 && tries < 100; tries += 1) {
      const next = await readEvents(api.app, runId);
      ({ status } = next.response);
      next.leave();
    }
    expect(status).toBe(200);
  });

  test.each([
    ['an unknown run', 'run_unknown', {}, 404, 'Run not found'],
    [
      'a nonsensical Last-Event-ID',
      undefined,
      { 'last-event-id': 'x' },
      400,
      'Last-Event-ID must be the number of an event',
    ],
    [
      'a number that the run has not reached',
      undefined,
      { 'last-event-id': '999999' },
      400,
      'This run has no event with this number yet',
    ],
    [
      'a request for something else',
      undefined,
      { accept: 'application/json' },
      400,
      'This address is a WebSocket; connect with the ws protocol, or send Accept: text/event-stream',
    ],
    [
      'a page of another origin',
      undefined,
      { origin: 'https://evil.example' },
      403,
      'Requests from this origin are not allowed',
    ],
  ])('are refused as JSON for %s', async (_what, id, headers, status, detail) => {
    const { response } = await readEvents(api.app, id ?? (await startRun()), { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'application/json; charset=utf-8',
    ]);
    expect(await response.json()).toEqual({ detail });
  });
});
