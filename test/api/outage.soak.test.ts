import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Agent, request } from 'undici';
import { WebSocket } from 'ws';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { appendFrames } from '#shared/db/runs/log.ts';
import { oneStep, startTestApi, type TestApi } from './test-api.ts';

/** A proxy to Postgres that can be cut, so that only the application loses its connection. */
interface Bridge {
  url: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

async function bridgeTo(url: string): Promise<Bridge> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const serve = () =>
    createServer((socket) => {
      const upstream = connect(Number(target.port), target.hostname);
      for (const end of [socket, upstream]) {
        sockets.add(end);
        end.on('error', () => undefined).on('close', () => sockets.delete(end));
      }
      socket.pipe(upstream).pipe(socket);
    });
  let server: Server = serve().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  return {
    url: through.href,
    cut: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
    mend: async () => {
      server = serve().listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}

let api: TestApi;
let bridge: Bridge;
let db: Pool;
let app: App;
beforeAll(async () => {
  api = await startTestApi();
  bridge = await bridgeTo(api.databaseUrl);
  db = await connectDatabase(bridge.url, { maxPoolSize: 5 });
  const config = { ...api.config, database: { ...api.config.database, url: bridge.url } };
  app = buildApp({ ...api, db, config, findRunnable });
  await app.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await app.close();
  await db.end();
  await bridge.cut();
  await api.stop();
});

test('every request gets 503 while Postgres is down, and no restart is needed afterward', async () => {
  const { id } = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body;
  const run = (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' })).body.id;
  const requests = [
    ['GET', '/api/workflows'],
    ['POST', `/api/workflows/${id}/runs`],
    ['GET', `/api/runs/${run}`],
    ['POST', `/api/runs/${run}/cancel`],
    ['DELETE', `/api/workflows/${id}`],
  ] as const;
  const warm = await Promise.all(
    Array.from({ length: 5 }, () => app.inject({ url: '/api/workflows' })),
  );
  expect(warm.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 200, 200]);
  const { port } = app.server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/${run}/stream`);
  await once(socket, 'open');

  await bridge.cut();
  for (let round = 0; round < 3; round += 1) {
    const answers = await Promise.all(
      requests.map(async ([method, url]) => app.inject({ method, url })),
    );
    for (const [i, answer] of answers.entries()) {
      expect([requests[i], answer.statusCode]).toEqual([requests[i], 503]);
      expect(answer.headers['retry-after']).toMatch(/^\d+$/);
      expect(Object.keys(answer.json())).toEqual(['detail']);
    }
  }
  const health = await app.inject({ url: '/api/health' });
  expect([health.statusCode, health.json().checks.database]).toEqual([200, 'down']);

  await api.db.transaction(async (tx) =>
    appendFrames(tx, run, [{ run_id: run, type: 'step_completed', node_id: 'meanwhile' }]),
  );
  await notifyFrames(api.db, [run]);
  const frame = once(socket, 'message');
  await bridge.mend();
  expect(JSON.parse(String((await frame)[0]))).toMatchObject({ node_id: 'meanwhile' });
  socket.close();
  const after = await app.inject({ url: `/api/runs/${run}` });
  expect([after.statusCode, after.json().status]).toEqual([200, 'pending']);
}, 60_000);

test('a stopping process refuses requests on open connections with the usual error format', async () => {
  const stopping = buildApp({ ...api, findRunnable });
  // One connection, opened before: the server accepts no new ones.
  const agent = new Agent({ connections: 1, pipelining: 1 });
  let url = '';
  const ask = async (path: string) => {
    const { statusCode, headers, body } = await request(`${url}${path}`, { dispatcher: agent });
    return { status: statusCode, headers, body: await body.json() };
  };
  const refused: Awaited<ReturnType<typeof ask>>[] = [];
  stopping.addHook('preClose', async () => {
    refused.push(await ask('/api/workflows'));
  });
  try {
    url = await stopping.listen({ host: '127.0.0.1', port: 0 });
    expect((await ask('/api/workflows')).status).toBe(200);
    await stopping.close();
    expect(refused).toEqual([
      {
        status: 503,
        headers: expect.objectContaining({ 'retry-after': '2', connection: 'close' }),
        body: { detail: 'This process is stopping: send the request again' },
      },
    ]);
  } finally {
    await agent.close();
  }
});
