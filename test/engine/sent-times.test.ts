import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { callerOf } from '#test/api/test-api.ts';
import { addDataKey } from '#test/api/data/data-key.ts';
import { outboundEventTypes } from '#shared/contract/data/outbound.ts';
import { type StreamFrame, streamFrameSchema } from '#shared/contract/runs/stream.ts';
import { sql } from '#shared/db/pool.ts';
import { plans } from '#shared/people/plans.ts';
import { type Seen, startHttpServer } from '#test/fakes/http-server.ts';
import { chain, echo, eventually, mock, useEngine } from '#test/support/engine.ts';
import { oddTimes, TIME } from '#test/support/times.ts';
import { useStage } from '#test/support/stage.ts';

// What the service sends by itself, to webhook endpoints and over streams, has times in the format of responses.

let app: App;
let call: ReturnType<typeof callerOf>;
afterAll(() => app.close());
const engine = useEngine({
  worker: false,
  env: { ENCRYPTION_KEY: 'a key for the tests alone', DELIVERY_BACKOFF_SECONDS: '0.1' },
});
const receiver = useStage(() => startHttpServer((_request, response) => void response.end('ok')));
let started: Promise<unknown> | undefined;
const startWorker = () => (started ??= engine.startWorker());
beforeAll(async () => {
  app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  call = callerOf(app);
});

async function ok(...request: Parameters<typeof call>): Promise<any> {
  const { status, text, body } = await call(...request);
  if (status >= 300) throw new Error(`${request[1]} answered ${status}: ${text}`);
  return body;
}

const typeOf = (delivery: Seen) => String(delivery.headers['x-service-event']);

/** Without those that a stream only has with `deltas=true`. */
const frameTypes = streamFrameSchema.options
  .map(({ shape }) => [...shape.type.values][0]!)
  .filter((type) => !['agent_turn', 'child_paused', 'child_continued'].includes(type));

/** Collects the frames of a run's stream from now on. */
async function follow(runId: string): Promise<{ frames: StreamFrame[]; socket: WebSocket }> {
  const { port } = app.server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/${runId}/stream`);
  const frames: StreamFrame[] = [];
  socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString())));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  return { frames, socket };
}

const defineGated = () =>
  engine.define(chain({ id: 'gate', kind: 'human_gate', prompt: 'Go on?' }, echo('a')));
const defineFailing = () => engine.define(chain(mock('a', { fail_times: 1 })));

test('times have the response format in frames, streamed and listed', async () => {
  const gated = await defineGated();
  await ok('PUT', `/api/workflows/${gated}/checks`, [
    { name: 'always', type: 'expression', value: 'true' },
  ]);
  const runs = [await engine.trigger(gated), await engine.trigger(await defineFailing())];
  const streams = await Promise.all(runs.map(follow));
  await startWorker();
  await engine.until(runs[0]!, ['paused']);
  await ok('POST', `/api/runs/${runs[0]!}/approve`, {});
  await engine.until(runs[0]!, ['success']);
  await engine.until(runs[1]!, ['failed']);
  const seen = () => streams.flatMap(({ frames }) => frames);
  const wanted = [...frameTypes].sort();
  await eventually(() => new Set(seen().map(({ type }) => type)).size === wanted.length);
  expect([...new Set(seen().map(({ type }) => type))].sort()).toEqual(wanted);
  expect(seen().flatMap((frame) => oddTimes(frame, frame.type))).toEqual([]);
  for (const runId of runs) {
    const { events } = await ok('GET', `/api/runs/${runId}/events`);
    expect(oddTimes(events)).toEqual([]);
    for (const { at } of events) expect(at).toMatch(TIME);
  }
  for (const { socket } of streams) socket.terminate();
}, 60_000);

/** Triggers every event that an endpoint can subscribe to, except the ping. */
async function everythingHappens(): Promise<void> {
  const { id: feed_id } = await ok('POST', '/api/data/feeds', { name: 'Projects' });
  const send = (...records: object[]) => ok('POST', '/api/data/ingest', { feed_id, records });
  const entity = {
    type: 'entity',
    external_key: 'a',
    entity_type: 'project',
    canonical_name: 'A',
    attributes: { due: '2026-01-01T00:00:00Z' },
    observed_at: '2026-01-01T01:00+01:00',
  };
  const event = {
    type: 'event',
    external_key: 'e',
    event_type: 'permit_filed',
    primary_external_key: 'a',
    occurred_at: '2026-01-01',
    summary: 'A permit was filed',
  };
  await send(entity, event);
  await send(
    { ...entity, attributes: { due: '2026-02-01' } },
    { ...event, verification_status: 'human_reviewed' },
  );
  const { id: sourceId } = await ok('POST', '/api/data/sources', { name: 'Source', type: 'api' });
  for (const report of [{ ok: false, error: 'x' }, { ok: false }, { ok: false }, { ok: true }]) {
    await ok('POST', `/api/data/sources/${sourceId}/report`, report);
  }
  const { headers } = await addDataKey({ db: engine.db, workspaceId: engine.actor.workspaceId });
  await ok('POST', '/v1/exports', { kind: 'entities', format: 'json', feed_id }, headers);
  await engine.db.query(sql.unsafe`
    UPDATE data_months SET requests = ${Number(plans.free.dataRequestsPerMonth)}::bigint - 1`);
  await ok('GET', '/v1/feeds', undefined, headers);
  await ok('PUT', `/api/data/feeds/${feed_id}`, { status: 'paused' });
  await engine.trigger(await defineFailing());
  const runId = await engine.trigger(await defineGated());
  await engine.until(runId, ['paused']);
  await ok('POST', `/api/runs/${runId}/approve`, {});
}

/** Deliveries that have not succeeded, with their last error. */
const undelivered = () =>
  engine.db.any(sql.type(z.looseObject({ type: z.string() }))`
    SELECT e.type, d.status, d.attempts, d.started, d.waits, d.faults,
           (SELECT a.error FROM data_delivery_attempts a WHERE a.delivery_id = d.id ORDER BY a.started_at DESC LIMIT 1)
             AS error
    FROM data_deliveries d JOIN outbound_events e ON e.id = d.event_id WHERE d.status <> 'delivered'`);

test('times have the response format in all deliveries', async () => {
  await startWorker();
  const endpoint = await ok('POST', '/api/webhooks', {
    url: receiver.url,
    events: outboundEventTypes,
  });
  await everythingHappens();
  await ok('POST', `/api/webhooks/${endpoint.id}/ping`);
  const wanted = [...outboundEventTypes].sort();
  const unseen = () =>
    wanted.filter((type) => !receiver.seen.some((sent) => typeOf(sent) === type));
  await eventually(() => unseen().length === 0, 20_000).catch(() => undefined);
  const missing = unseen();
  expect({ missing, undelivered: missing.length === 0 ? [] : await undelivered() }).toEqual({
    missing: [],
    undelivered: [],
  });
  for (const delivery of receiver.seen) {
    const body = JSON.parse(delivery.body) as { created_at: string };
    expect([typeOf(delivery), oddTimes(body)]).toEqual([typeOf(delivery), []]);
    expect(body.created_at).toMatch(TIME);
    const signature = String(delivery.headers['x-service-signature']);
    const seconds = Number(/^t=(\d{10}),v1=/.exec(signature)?.[1]);
    expect(Math.abs(seconds - Date.parse(body.created_at) / 1000)).toBeLessThan(60);
  }
  expect(oddTimes(await ok('GET', `/api/webhooks/${endpoint.id}/deliveries`))).toEqual([]);
}, 60_000);
