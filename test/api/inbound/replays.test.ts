import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { KEPT_BODY_BYTES } from '#shared/contract/inbound/inbound-event.ts';
import { sql } from '#shared/db/pool.ts';
import { advanceJob } from '#shared/operations/jobs/advance.ts';
import { eventually } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { signed, useReceiver } from './receiver.ts';

const receiver = useReceiver();
const { call, define, send, logged, read } = receiver;
const schemaOf = (type: string) => ({
  input_schema: { type: 'object', properties: { n: { type } }, required: ['n'] },
});
const changeSchema = async (workflowId: string, type: string) => {
  const url = `/api/workflows/${workflowId}`;
  const { name, graph, etag } = (await call('GET', url)).body;
  const body = { name, graph, ...schemaOf(type) };
  expect((await call('PUT', url, body, { 'if-match': `"${etag}"` })).status).toBe(200);
};
const replay = (id: string, body: object = {}, headers = {}) =>
  call('POST', `/api/inbound-events/${id}/replay`, body, headers);
const replayAll = (workflowId: string, body: object = {}) =>
  call('POST', `/api/workflows/${workflowId}/inbound-events/replay`, {
    since: '2020-01-01T00:00:00Z',
    ...body,
  });
const ended = async (id: string) => {
  const get = () => call('GET', `/api/event-replays/${id}`);
  await eventually(async () => (await get()).body.status !== 'running', 30_000);
  return (await get()).body;
};

describe('the replay of one event', () => {
  test('starts a run with the same input, which refers to the event and the member', async () => {
    const { workflowId, path } = await define({ dedup_window_seconds: 60 });
    const first = (await send(path, '{"event_id": "e1", "n": 7}')).body.run_id;
    const [event] = await logged(workflowId, 1);
    const { status, body } = await replay(event!.id);
    expect([status, body]).toEqual([
      201,
      expect.objectContaining({
        ...{ trigger: 'webhook', input: { event_id: 'e1', n: 7 }, inbound_event_id: event!.id },
        created_by: expect.any(String),
      }),
    ]);
    expect(body.id).not.toBe(first);
    const shown = await read(event!.id);
    expect(shown.replays).toBe(1);
    expect(shown.replayed_by).toEqual([
      { run_id: body.id, sent_event_id: null, created_at: expect.any(String) },
    ]);
    // The log has what came, not what people did.
    await logged(workflowId, 1);
    const audit = (await call('GET', '/api/audit?action=webhook_replay')).body;
    expect(audit.logs[0]).toMatchObject({
      ...{ target_id: workflowId, details: { inbound_event_id: event!.id, run_id: body.id } },
    });
  });

  test('starts none for an event that already has a run, if requested', async () => {
    const { workflowId, path } = await define({ dedup_window_seconds: 60 });
    const first = (await send(path, '{"event_id": "e1", "n": 7}')).body.run_id;
    const [event] = await logged(workflowId, 1);
    expect(await replay(event!.id, { deduplicate: true })).toMatchObject({
      ...{ status: 200, body: { id: first } },
    });
    expect((await read(event!.id)).replays).toBe(0);
  });

  test('starts one run per Idempotency-Key', async () => {
    const { workflowId, path } = await define();
    await send(path, '{"n": 7}');
    const [event] = await logged(workflowId, 1);
    const answers = [];
    for (let n = 0; n < 3; n += 1) {
      answers.push(await replay(event!.id, {}, { 'idempotency-key': 'k' }));
    }
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  });

  test('is judged like an event: by the present schema and budgets', async () => {
    const { workflowId, path } = await define({}, schemaOf('string'));
    await send(path, '{"n": 7}');
    const [event] = await logged(workflowId, 1);
    expect(await replay(event!.id)).toMatchObject({
      ...{ status: 400, body: { detail: expect.stringContaining('Invalid input') } },
    });
    await changeSchema(workflowId, 'integer');
    expect((await replay(event!.id)).status).toBe(201);
    await call('POST', '/api/budgets', {
      ...{ name: 'B', scope: 'workflow', workflow_id: workflowId, limit_usd: 1 },
      reservation_estimate_usd: 2,
    });
    expect((await replay(event!.id)).status).toBe(402);
  });

  test('is refused for a forged event unless that is allowed', async () => {
    const { workflowId, path } = await define({ require_signature: true });
    await send(path, '{"n": 7}', signed('0'.repeat(32), '{"n": 7}'));
    const [event] = await logged(workflowId, 1);
    expect(await replay(event!.id)).toMatchObject({
      ...{ status: 409, body: { detail: expect.stringContaining('allow_unverified') } },
    });
    expect((await replay(event!.id, { allow_unverified: true })).status).toBe(201);
  });

  test('is refused for an event that was not stored completely, except with the input of its run', async () => {
    const { workflowId, path } = await define({}, schemaOf('string'));
    const large = JSON.stringify({ n: 'x'.repeat(KEPT_BODY_BYTES) });
    const { run_id: runId } = (await send(path, large)).body;
    await send(path, JSON.stringify({ m: 'x'.repeat(KEPT_BODY_BYTES) }));
    await send(`${path.slice(0, -32)}${'0'.repeat(32)}`, '{}');
    const events = await logged(workflowId, 3);
    const of = (reason: string | null) => events.find((event) => event.reason === reason)!.id;
    const again = await replay(of(null));
    expect([again.status, again.body.input]).toEqual([201, JSON.parse(large)]);
    expect(again.body.id).not.toBe(runId);
    for (const reason of ['input_invalid', 'wrong_secret']) {
      expect(await replay(of(reason))).toMatchObject({
        ...{ status: 409, body: { detail: expect.stringContaining('send it again') } },
      });
    }
  });
});

describe('the replay of a range', () => {
  test('starts the refused events once, in order, and reports those that are refused again', async () => {
    const { workflowId, path } = await define({}, schemaOf('string'));
    await send(path, '{"n": "fine"}');
    for (let n = 0; n < 12; n += 1) await send(path, `{"n": ${n}}`);
    await send(path, '{"n": true}');
    await send(path, '{');
    await logged(workflowId, 15);
    await changeSchema(workflowId, 'integer');
    const started = await replayAll(workflowId);
    expect(started).toMatchObject({ status: 202, body: { status: 'running' } });
    expect(started.headers['location']).toBe(`/api/event-replays/${started.body.id}`);
    expect(await ended(started.body.id)).toMatchObject({
      ...{ status: 'done', started: 12, refused: 1, duplicates: 0, workflow_id: workflowId },
      ...{ progress: { done: 13, total: 13 } },
      last_refusal: expect.stringContaining('Invalid input'),
    });
    const runs = (await call('GET', `/api/workflows/${workflowId}/runs?limit=200`)).body.runs;
    expect(runs).toHaveLength(13);
    const inputs = [];
    for (const { id } of runs) inputs.unshift((await call('GET', `/api/runs/${id}`)).body.input.n);
    expect(inputs).toEqual(['fine', ...Array.from({ length: 12 }, (_, n) => n)]);
    // Those that have a run by now are left out.
    expect(await ended((await replayAll(workflowId)).body.id)).toMatchObject({
      ...{ started: 0, refused: 1 },
    });
    const list = (await call('GET', `/api/workflows/${workflowId}/event-replays`)).body;
    expect(list.replays).toHaveLength(2);
  });

  soakTest('takes all events of the range when that is asked, up to the limit', async () => {
    const { workflowId, path } = await define({ dedup_window_seconds: 60 });
    for (let n = 0; n < 4; n += 1) await send(path, `{"event_id": "e${n}", "n": ${n}}`);
    const events = await logged(workflowId, 4);
    const done = await ended((await replayAll(workflowId, { outcome: 'all', limit: 3 })).body.id);
    expect(done).toMatchObject({ started: 3, progress: { done: 3, total: 3 } });
    const since = events[1]!.received_at;
    const later = await replayAll(workflowId, { outcome: 'all', since });
    expect(await ended(later.body.id)).toMatchObject({ started: 2 });
    const same = await replayAll(workflowId, { outcome: 'all', deduplicate: true });
    expect(await ended(same.body.id)).toMatchObject({ started: 0, duplicates: 4 });
    expect((await replayAll(workflowId, { until: '2019-01-01T00:00:00Z' })).status).toBe(400);
  });

  test('leaves out forged events unless they are allowed', async () => {
    const { workflowId, path } = await define({ require_signature: true });
    await send(path, '{"n": 7}', signed('0'.repeat(32), '{"n": 7}'));
    await logged(workflowId, 1);
    expect(await ended((await replayAll(workflowId)).body.id)).toMatchObject({ started: 0 });
    const allowed = await replayAll(workflowId, { allow_unverified: true });
    expect(await ended(allowed.body.id)).toMatchObject({ started: 1 });
  });

  soakTest(
    'starts each event once beside other executions, and none after a cancel',
    120_000,
    async () => {
      const { deps, db } = receiver.engine;
      for (let round = 0; round < 6; round += 1) {
        const { workflowId, path } = await define();
        for (let n = 0; n < 25; n += 1) await send(path, `{"n": ${n}}`);
        await logged(workflowId, 25);
        const { id } = (await replayAll(workflowId, { outcome: 'all' })).body;
        const scope = {
          workspaceId: receiver.engine.actor.workspaceId,
          jobId: id as string,
          round: 1,
        };
        const signal = new AbortController().signal;
        const others = [1, 2].map(() =>
          advanceJob(deps, scope, { onBatch: () => undefined, signal }).catch(() => undefined),
        );
        if (round % 2 === 0) {
          await Promise.all(others);
          expect(await ended(id)).toMatchObject({ status: 'done', started: 25 });
        } else {
          await eventually(async () => (await replayed(id)) > 2);
          const cancelled = await call('POST', `/api/event-replays/${id}/cancel`, {});
          const after = await replayed(id);
          if (cancelled.status === 200) {
            await Promise.all(others);
            expect(await replayed(id)).toBe(after);
            expect((await call('GET', `/api/event-replays/${id}`)).body.status).toBe('cancelled');
          }
        }
        expect(await replayed(id)).toBeLessThanOrEqual(25);
        const { twice } = await db.one(sql.type(z.object({ twice: z.number() }))`
        SELECT count(*) - count(DISTINCT event_id) AS twice FROM inbound_event_replays WHERE job_id = ${id}`);
        expect(twice).toBe(0);
      }
    },
  );
});

const replayed = (jobId: string): Promise<number> =>
  receiver.engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM inbound_event_replays WHERE job_id = ${jobId}`);
