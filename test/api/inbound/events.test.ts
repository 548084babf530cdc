import { describe, expect, test } from '@jest/globals';
import { createEventLog, ENTRIES_PER_MINUTE } from '#api/inbound/event-log.ts';
import { KEPT_BODY_BYTES } from '#shared/contract/inbound/inbound-event.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { sweepPart } from '#shared/operations/sweep.ts';
import { type Answered, signed, useReceiver } from './receiver.ts';

const receiver = useReceiver();
const { call, define, send, logged, read } = receiver;
const change = (statement: ReturnType<typeof sql.fragment>) =>
  receiver.engine.db.query(sql.unsafe`${statement}`);

describe('an event that starts a run', () => {
  test('is in the log with its run, and the run refers to it', async () => {
    const { workflowId, path } = await define();
    const body = '{ "n": 1,\n "note": "é" }';
    const { run_id: runId } = (await send(path, body, { 'user-agent': 'Sender/1' })).body;
    const [event] = await logged(workflowId, 1);
    expect(event).toEqual({
      id: expect.stringMatching(/^iev_/),
      workflow_id: workflowId,
      received_at: expect.any(String),
      outcome: 'run',
      status: 201,
      reason: null,
      detail: null,
      run_id: runId,
      sent_event_id: null,
      duplicate_of: null,
      event_id: null,
      source: '127.0.0.0/24',
      size: Buffer.byteLength(body),
      times: 1,
      replays: 0,
    });
    expect(await read(event!.id)).toEqual({
      ...event,
      headers: { 'content-type': 'text/json', 'user-agent': 'Sender/1' },
      body,
      body_truncated: false,
      replayed_by: [],
    });
    expect((await call('GET', `/api/runs/${runId}`)).body.inbound_event_id).toBe(event!.id);
  });

  test('has the start of a large body, byte for byte', async () => {
    const { workflowId, path } = await define();
    const body = JSON.stringify({ n: 'ü'.repeat(KEPT_BODY_BYTES) });
    expect((await send(path, body)).status).toBe(201);
    const [event] = await logged(workflowId, 1);
    expect(event!.size).toBe(Buffer.byteLength(body));
    const shown = await read(event!.id);
    expect(shown.body_truncated).toBe(true);
    expect(shown.body!.startsWith(body.slice(0, 30_000))).toBe(true);
    expect(Buffer.byteLength(shown.body!)).toBeLessThan(KEPT_BODY_BYTES + 4);
  });

  test('has no signature, credential, cookie or secret in its headers', async () => {
    const { workflowId, path, secret } = await define({ require_signature: true });
    const body = '{"n": 1}';
    const proof = signed(secret, body);
    const { status } = await send(path, body, {
      ...proof,
      authorization: 'Bearer key',
      cookie: 'a=b',
      'x-hub-signature-256': 'sha256=1',
      'user-agent': `Sender ${secret}`,
    });
    expect(status).toBe(201);
    const [event] = await logged(workflowId, 1);
    expect((await read(event!.id)).headers).toEqual({
      'content-type': 'text/json',
      'user-agent': 'Sender ***',
      'x-service-timestamp': proof['x-service-timestamp'],
    });
  });
});

test('that is a duplicate refers to the first event and its run', async () => {
  const { workflowId, path } = await define({ dedup_window_seconds: 60 });
  const { run_id: runId } = (await send(path, '{"event_id": "e1", "n": 1}')).body;
  await send(path, '{"event_id": "e1", "n": 2}');
  const [duplicate, first] = await logged(workflowId, 2);
  expect([first!.outcome, first!.event_id]).toEqual(['run', 'e1']);
  expect(duplicate).toMatchObject({
    ...{ outcome: 'duplicate', run_id: runId, duplicate_of: first!.id, event_id: 'e1' },
    ...{ status: 201, reason: null },
  });
  expect((await read(duplicate!.id)).body).toBe('{"event_id": "e1", "n": 2}');
});

describe('a refused event has its reason', () => {
  const input_schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
  };
  const old = Math.floor(Date.now() / 1_000) - 1_000;
  test.each([
    ['signature_missing', 401, '{"n": 1}', () => ({ 'x-service-timestamp': '1' })],
    ['timestamp_missing', 401, '{"n": 1}', () => ({})],
    ['timestamp_expired', 401, '{"n": 1}', (secret: string) => signed(secret, '{"n": 1}', old)],
    ['signature_mismatch', 401, '{"n": 1}', () => signed('0'.repeat(32), '{"n": 1}')],
    ['invalid_body', 400, '{"n": ', (secret: string) => signed(secret, '{"n": ')],
    ['input_invalid', 400, '{"n": "x"}', (secret: string) => signed(secret, '{"n": "x"}')],
  ] as const)('%s', async (reason, status, body, headers) => {
    const { workflowId, path, secret } = await define(
      { require_signature: true },
      { input_schema },
    );
    const answer = await send(path, body, headers(secret));
    expect(answer.status).toBe(status);
    const [event] = await logged(workflowId, 1);
    expect(event).toMatchObject({
      ...{ outcome: 'refused', reason, status, detail: answer.body.detail, run_id: null },
      size: body.length,
    });
    if (reason === 'input_invalid') expect(event!.detail).toContain('n');
    expect((await read(event!.id)).body).toBe(body);
  });

  test('too_large, without its body', async () => {
    const { workflowId, path } = await define();
    expect((await send(path, ' '.repeat(1_048_577))).status).toBe(413);
    const [event] = await logged(workflowId, 1);
    expect(event).toMatchObject({ reason: 'too_large', status: 413, size: null });
    expect((await read(event!.id)).body).toBeNull();
  });

  test('wrong_secret and disabled, without their bodies', async () => {
    const { workflowId, path } = await define();
    expect((await send(`${path.slice(0, -32)}${'0'.repeat(32)}`, '{"n": 1}')).status).toBe(404);
    await call('DELETE', `/api/workflows/${workflowId}/webhook`);
    expect((await send(path, '{"n": 1}')).status).toBe(404);
    const events = await logged(workflowId, 2);
    expect(events.map(({ reason }) => reason).sort()).toEqual(['disabled', 'wrong_secret']);
    for (const { id, size } of events) {
      expect(size).toBeNull();
      expect((await read(id)).body).toBeNull();
    }
  });

  test('budget_exceeded', async () => {
    const { workflowId, path } = await define();
    await call('POST', '/api/budgets', {
      ...{ name: 'B', scope: 'workflow', workflow_id: workflowId, limit_usd: 1 },
      reservation_estimate_usd: 2,
    });
    expect((await send(path, '{"n": 1}')).status).toBe(402);
    expect((await logged(workflowId, 1))[0]).toMatchObject({
      ...{ reason: 'budget_exceeded', status: 402 },
    });
  });
});

test('refusals beyond the limit per minute are counted, but not stored', async () => {
  const { workflowId } = await define();
  const log = createEventLog(receiver.engine.deps);
  const minute = Date.parse('2026-01-01T10:00:00Z');
  const refuse = (n: number, from: number) => {
    for (let at = 0; at < n; at += 1) {
      log.note({
        ...{ id: newId('inboundEvent'), workflowId, receivedAt: new Date(from + at) },
        ...{ outcome: 'refused', status: 404, reason: 'wrong_secret', detail: null },
        ...{ source: '127.0.0.0/24', headers: {}, size: 2, body: Buffer.from('{}') },
        ...{ eventId: null, runId: null, sentEventId: null },
      });
    }
  };
  refuse(ENTRIES_PER_MINUTE + 40, minute);
  refuse(60, minute + 60_000);
  await log.stop();
  const { body } = await call('GET', `/api/workflows/${workflowId}/inbound-events?limit=200`);
  const events = body.events as { times: number; source: string; received_at: string }[];
  expect(events).toHaveLength(ENTRIES_PER_MINUTE + 60 + 1);
  const counted = events.filter(({ times }) => times > 1);
  expect(counted).toMatchObject([{ times: 40, source: 'several' }]);
  expect(Date.parse(counted[0]!.received_at)).toBeLessThan(minute + 60_000);
});

test('the log can be filtered, and read page by page while it grows', async () => {
  const { workflowId, path } = await define({ dedup_window_seconds: 60 });
  for (let n = 0; n < 5; n += 1) await send(path, `{"event_id": "e${n % 3}", "n": ${n}}`);
  await send(path, '{');
  await logged(workflowId, 6);
  expect(await logged(workflowId, 3, '&outcome=run')).toHaveLength(3);
  const refused = await logged(workflowId, 1, '&outcome=refused');
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const url = `/api/workflows/${workflowId}/inbound-events?limit=2`;
    const page: Answered['body'] = (
      await call('GET', cursor === '' ? url : `${url}&cursor=${cursor}`)
    ).body;
    ids.push(...page.events.map(({ id }: { id: string }) => id));
    cursor = page.next_cursor;
    await send(path, `{"event_id": "later${ids.length}", "n": 1}`);
  }
  expect(new Set(ids).size).toBe(6);
  const since = encodeURIComponent(refused[0]!.received_at);
  const until = `/api/workflows/${workflowId}/inbound-events?until=${since}`;
  expect((await call('GET', until)).body.events).toHaveLength(5);
  const other = await call('GET', `/api/workflows/${workflowId}/inbound-events?cursor=x`);
  expect(other.status).toBe(400);
});

describe('the sweep', () => {
  test('deletes entries past their period, even while they are being listed', async () => {
    const { workflowId, path } = await define();
    for (let n = 0; n < 20; n += 1) await send(path, `{"n": ${n}}`);
    const url = `/api/workflows/${workflowId}/inbound-events?limit=5`;
    const first = (await call('GET', url)).body;
    await change(sql.fragment`
      UPDATE inbound_events SET received_at = received_at - interval '31 days' WHERE id IN (
        SELECT id FROM inbound_events WHERE workflow_id = ${workflowId} ORDER BY received_at LIMIT 10)`);
    const [second] = await Promise.all([
      call('GET', `${url}&cursor=${first.next_cursor}`),
      sweepPart(receiver.engine.deps),
    ]);
    expect(second.body.events).toHaveLength(5);
    await logged(workflowId, 10);
  });

  test('keeps entries no longer than runs', async () => {
    const { workflowId, path } = await define();
    await send(path, '{"n": 1}');
    await change(sql.fragment`
      UPDATE inbound_events SET received_at = now() - interval '8 days' WHERE workflow_id = ${workflowId}`);
    await change(sql.fragment`UPDATE workspaces SET plan = 'starter'`);
    await sweepPart(receiver.engine.deps);
    await logged(workflowId, 1);
    await change(sql.fragment`UPDATE workspaces SET plan = 'free'`);
    await sweepPart(receiver.engine.deps);
    await logged(workflowId, 0);
  });
});

test('the log of a workflow is deleted with it', async () => {
  const { workflowId, path } = await define();
  await send(path, '{"n": 1}');
  const [event] = await logged(workflowId, 1);
  await send(path, '{');
  await logged(workflowId, 2);
  expect((await call('DELETE', `/api/workflows/${workflowId}`)).status).toBeLessThan(300);
  expect((await call('GET', `/api/inbound-events/${event!.id}`)).status).toBe(404);
  expect((await send(path, '{"n": 1}')).status).toBe(404);
});
