import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from '../../api/app.ts';
import type { App } from '../../api/deps.ts';
import { connectDatabase, type Pool } from '../../shared/db/pool.ts';
import { findRunnable } from '../../shared/operations/find-runnable.ts';
import { callerOf, oneStep, startTestApi, type TestApi } from './test-api.ts';

/** When the wire to Postgres breaks, once: as soon as these words are sent, or when they are answered. */
let breaks: { at: string; when: 'sent' | 'answered' } | undefined;

function startWire(url: string): Server {
  const target = new URL(url);
  return createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end);
    let deaf = false;
    client.on('data', (chunk) => {
      if (breaks !== undefined && chunk.includes(breaks.at)) {
        const { when } = breaks;
        breaks = undefined;
        if (when === 'sent') return end();
        deaf = true;
      }
      upstream.write(chunk);
    });
    upstream.on('data', (chunk) => (deaf ? end() : client.write(chunk)));
  }).listen(0, '127.0.0.1');
}

let api: TestApi;
let wire: Server;
let db: Pool;
let app: App;
let call: TestApi['call'];
beforeAll(async () => {
  api = await startTestApi();
  wire = startWire(api.databaseUrl);
  await once(wire, 'listening');
  const url = new URL(api.databaseUrl);
  url.host = `127.0.0.1:${(wire.address() as AddressInfo).port}`;
  db = await connectDatabase(url.href, { maxPoolSize: 5 });
  const { config, temporal, log } = api;
  app = buildApp({ db, temporal, log, config, findRunnable });
  await app.ready();
  call = callerOf(app);
});
afterAll(async () => {
  await app.close();
  await db.end();
  await api.stop();
  wire.close();
});

const newRun = async (): Promise<string> => {
  const { id } = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body;
  return (await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' })).body.id;
};
const statusOf = async (runId: string) =>
  (await api.call('GET', `/api/runs/${runId}`)).body.status as string;

describe('a connection that is lost while an act commits', () => {
  test('before the commit arrived: 503, and nothing was written', async () => {
    const runId = await newRun();
    breaks = { at: 'COMMIT', when: 'sent' };
    const answer = await call('POST', `/api/runs/${runId}/cancel`);
    expect(answer.status).toBe(503);
    expect(answer.body.detail).toBe('The database cannot be reached; try again');
    expect(await statusOf(runId)).not.toBe('failed');
  });

  test('after the commit was carried out: the answer is that of the act', async () => {
    for (let round = 0; round < 5; round += 1) {
      const runId = await newRun();
      breaks = { at: 'COMMIT', when: 'answered' };
      const answer = await call('POST', `/api/runs/${runId}/cancel`);
      expect([answer.status, answer.body.status]).toEqual([200, 'failed']);
      breaks = { at: 'COMMIT', when: 'answered' };
      const created = await call('POST', '/api/workflows', { name: 'y', graph: oneStep });
      expect(created.status).toBe(201);
      expect((await api.call('GET', `/api/workflows/${created.body.id}`)).status).toBe(200);
    }
  });

  test('of a trigger, which is one statement: 201 with the run if it is there, else 503', async () => {
    const { id } = (await api.call('POST', '/api/workflows', { name: 'z', graph: oneStep })).body;
    const runs = async () =>
      (await api.call('GET', `/api/workflows/${id}/runs`)).body.runs as { id: string }[];
    breaks = { at: 'admission_insert_run', when: 'answered' };
    const taken = await call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' });
    expect(taken.status).toBe(201);
    expect((await runs()).map((run) => run.id)).toEqual([taken.body.id]);
    breaks = { at: 'admission_insert_run', when: 'sent' };
    expect((await call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' })).status).toBe(503);
    expect(await runs()).toHaveLength(1);
  });

  test('and the reading of the answer fails: it is read again', async () => {
    const runId = await newRun();
    const cancelled = call('POST', `/api/runs/${runId}/cancel`);
    breaks = { at: 'read_run', when: 'sent' };
    expect((await cancelled).status).toBe(200);
    breaks = undefined;
    expect(await statusOf(runId)).toBe('failed');
  });
});
