import { describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { eventually } from '#test/support/engine.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { signed, useReceiver } from './receiver.ts';

// Webhooks that send events instead of starting runs.

const receiver = useReceiver();
const { call, define, send, logged, read } = receiver;
const replay = (id: string, body: object = {}, headers = {}) =>
  call('POST', `/api/inbound-events/${id}/replay`, body, headers);
const eventOf = async (id: string) => {
  const { status, body } = await call('GET', `/api/events/${id}`);
  expect(status).toBe(200);
  return body;
};
const countOf = async (name: string): Promise<number> =>
  (await call('GET', `/api/events?name=${name}&limit=200`)).body.events.length;
const runsOf = async (workflowId: string): Promise<unknown[]> =>
  (await call('GET', `/api/workflows/${workflowId}/runs`)).body.runs;

describe('a webhook with an event', () => {
  test('stores each request as an event, starts no run, and ends the wait for it', async () => {
    const { workflowId, path } = await define({ event: 'lead.received' });
    const { engine } = receiver;
    const runId = await engine.start(
      {
        nodes: [
          {
            id: 'lead',
            kind: 'wait',
            event: { name: 'lead.received', match: 'event.data.n == n' },
          },
        ],
        edges: [],
      },
      { n: 7 },
    );
    const { status, body } = await send(path, '{"n": 7}');
    expect([status, body]).toEqual([201, { event_id: expect.any(String), status: 'event' }]);
    await engine.until(runId, ['success']);
    const [entry] = await logged(workflowId, 1);
    expect(entry).toMatchObject({
      ...{
        outcome: 'event',
        status: 201,
        run_id: null,
        sent_event_id: body.event_id,
        event_id: null,
      },
    });
    expect(await eventOf(body.event_id)).toMatchObject({
      ...{ name: 'lead.received', data: { n: 7 }, given_id: null, source: 'webhook', woke: 1 },
      ...{ created_by: null, inbound_event_id: entry!.id },
    });
    expect(await runsOf(workflowId)).toEqual([]);
    const { logs } = (await call('GET', '/api/audit?action=event_send')).body;
    expect(logs[0]).toMatchObject({
      ...{ target_id: body.event_id, actor_name: null },
      details: { name: 'lead.received', workflow_id: workflowId },
    });
  });

  test('needs no valid graph, and wraps a body that is no object', async () => {
    const { workflowId, path } = await define({ event: 'list.received' });
    const { body: workflow } = await call('GET', `/api/workflows/${workflowId}`);
    const loop = [{ source: 'answer', target: 'answer' }];
    await call(
      'PUT',
      `/api/workflows/${workflowId}`,
      { name: 'Broken', graph: { nodes: workflow.graph.nodes, edges: loop } },
      { 'if-match': `"${workflow.etag}"` },
    );
    const { body } = await send(path, '[1, 2]');
    expect((await eventOf(body.event_id)).data).toEqual({ payload: [1, 2] });
  });

  test('sends the same id once, refuses another body under it with 422, and logs both', async () => {
    const { workflowId, path } = await define({ event: 'order.paid' });
    const id = { 'x-service-event-id': 'o-1' };
    const first = await send(path, '{"n": 1}', id);
    const copies = await Promise.all([1, 2, 3].map(() => send(path, ' {"n":1}', id)));
    for (const { status, body } of copies) {
      expect([status, body]).toEqual([
        201,
        { event_id: first.body.event_id, status: 'duplicate', deduplicated: true },
      ]);
    }
    const other = await send(path, '{"n": 2}', id);
    expect([other.status, other.body.detail]).toEqual([
      422,
      `The id 'o-1' belongs to another event, ${first.body.event_id}: send this one with an id of its own`,
    ]);
    const log = await logged(workflowId, 5);
    const sent = log.find(({ outcome }) => outcome === 'event')!;
    expect(log.map(({ outcome }) => outcome).toSorted()).toEqual([
      ...['duplicate', 'duplicate', 'duplicate', 'event', 'refused'],
    ]);
    expect(log.find(({ outcome }) => outcome === 'refused')).toMatchObject({
      ...{ reason: 'id_reused', status: 422 },
    });
    expect(log.find(({ outcome }) => outcome === 'duplicate')).toMatchObject({
      ...{ sent_event_id: first.body.event_id, duplicate_of: sent.id, run_id: null },
    });
    expect(await logged(workflowId, 1, '&outcome=event')).toMatchObject([{ id: sent.id }]);
    expect(await countOf('order.paid')).toBe(1);
  });

  test('sends copies that arrive at once one time', async () => {
    const { path } = await define({ event: 'at.once' });
    const body = '{"event_id": "same", "n": 1}';
    const answers = await Promise.all(Array.from({ length: 12 }, () => send(path, body)));
    expect(new Set(answers.map(({ body: { event_id: id } }) => id)).size).toBe(1);
    expect(answers.filter(({ body: { status } }) => status === 'event')).toHaveLength(1);
    expect(await countOf('at.once')).toBe(1);
  });

  test('keeps its ids apart from those of other webhooks and of requests', async () => {
    const one = await define({ event: 'one.sent' });
    const two = await define({ event: 'two.sent' });
    const sent = await call('POST', '/api/events', { name: 'three.sent', id: '5' });
    const answers = await Promise.all([send(one.path, '{"id": 5}'), send(two.path, '{"id": 5}')]);
    expect(answers.map(({ body: { status } }) => status)).toEqual(['event', 'event']);
    expect(sent.status).toBe(201);
  });

  test('checks signatures, and sends a signature once, regardless of the id', async () => {
    const { path, secret } = await define({ event: 'signed.sent', require_signature: true });
    expect((await send(path, '{}')).status).toBe(401);
    const headers = signed(secret, '{"n": 1}');
    const first = await send(path, '{"n": 1}', headers);
    expect(first.body.status).toBe('event');
    const again = await send(path, '{"n": 1}', { ...headers, 'x-service-event-id': 'forged' });
    expect(again.body).toEqual({
      ...{ event_id: first.body.event_id, status: 'duplicate', deduplicated: true },
    });
    const atOnce = signed(secret, '{"n": 2}');
    const answers = await Promise.all(
      [1, 2, 3, 4].map((n) => send(path, '{"n": 2}', { ...atOnce, 'x-service-event-id': `f${n}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
    expect(await countOf('signed.sent')).toBe(2);
  });

  test('takes a signature that started a run, or was sent, for a copy after a change of the setting', async () => {
    const { workflowId, path, secret } = await define({ require_signature: true });
    const configure = (event: string | null) =>
      call('PUT', `/api/workflows/${workflowId}/webhook/config`, { event });
    const started = signed(secret, '{"n": 1}');
    const { run_id: runId } = (await send(path, '{"n": 1}', started)).body;
    await configure('changed.sent');
    expect((await send(path, '{"n": 1}', started)).body).toEqual({
      ...{ run_id: runId, status: 'duplicate', deduplicated: true },
    });
    const sent = signed(secret, '{"n": 2}');
    const { event_id: eventId } = (await send(path, '{"n": 2}', sent)).body;
    await configure(null);
    expect((await send(path, '{"n": 2}', sent)).body).toEqual({
      ...{ event_id: eventId, status: 'duplicate', deduplicated: true },
    });
    expect(await runsOf(workflowId)).toHaveLength(1);
  });

  test('answers a challenge without an event, and refuses too large a body', async () => {
    const { workflowId, path } = await define({ event: 'big.sent', answer_challenges: true });
    const challenge = await send(path, '{"type": "url_verification", "challenge": "abc"}');
    expect([challenge.status, challenge.body]).toEqual([200, { challenge: 'abc' }]);
    expect((await send(path, JSON.stringify({ n: 'x'.repeat(1_100_000) }))).status).toBe(413);
    expect(await countOf('big.sent')).toBe(0);
    expect(await logged(workflowId, 1)).toMatchObject([
      { outcome: 'refused', reason: 'too_large' },
    ]);
  });

  test('starts the runs of triggers', async () => {
    const { path } = await define({ event: 'ticket.opened' });
    const { workflowId } = await define();
    const trigger = { event: 'ticket.opened', match: 'event.data.n > 1' };
    expect((await call('POST', `/api/workflows/${workflowId}/triggers`, trigger)).status).toBe(201);
    await send(path, '{"n": 1}');
    const { event_id: eventId } = (await send(path, '{"n": 2}')).body;
    await eventually(async () => (await eventOf(eventId)).started === 1);
    expect(await runsOf(workflowId)).toMatchObject([{ trigger: 'event' }]);
  });

  test('is refused while too many events were not compared', async () => {
    const { workflowId, path } = await define({ event: 'flood.sent' });
    await receiver.engine.db.query(sql.unsafe`
      INSERT INTO event_names (workspace_id, name, seq) VALUES (${receiver.engine.actor.workspaceId}, 'flood.sent', 10001)`);
    const { status, headers } = await send(path, '{}');
    expect([status, headers['retry-after']]).toEqual([429, '5']);
    expect(await logged(workflowId, 1)).toMatchObject([{ reason: 'rate_limited' }]);
    await receiver.engine.db.query(sql.unsafe`DELETE FROM event_names WHERE name = 'flood.sent'`);
  });
});

describe('the setting', () => {
  test.each([
    ['run.completed', 'is reserved'],
    ['entity.created', 'is reserved'],
    ['two words', 'has words of letters, digits'],
    ['', 'event'],
  ])('refuses the name %p', async (event, message) => {
    const { workflowId } = await define();
    const config = `/api/workflows/${workflowId}/webhook/config`;
    const { status, body } = await call('PUT', config, { event });
    expect(status).toBe(400);
    expect(body.detail).toContain(message);
  });

  test('requires run_workflows, and is in the audit log', async () => {
    const { workflowId } = await define();
    const { engine } = receiver;
    const editor = await addCaller(
      { db: engine.db, workspaceId: engine.actor.workspaceId },
      { overrides: { run_workflows: false } },
    );
    const config = `/api/workflows/${workflowId}/webhook/config`;
    const accepts = await call('PUT', config, { accept_forms: true }, editor.headers);
    expect(accepts.status).toBe(200);
    const refused = await call('PUT', config, { event: 'a.b' }, editor.headers);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      expect.stringContaining('run_workflows'),
    ]);
    expect((await call('PUT', config, { event: 'a.b' })).body.event).toBe('a.b');
    const { logs } = (await call('GET', '/api/audit?action=webhook_config&limit=1')).body;
    expect(logs[0]).toMatchObject({ target_id: workflowId, details: { event: 'a.b' } });
  });
});

describe('the replay of an event', () => {
  test('sends it again, once per Idempotency-Key, or not at all if its id was sent', async () => {
    const { workflowId, path } = await define({ event: 'again.sent' });
    const first = (await send(path, '{"event_id": "e1", "n": 1}')).body.event_id;
    const [entry] = await logged(workflowId, 1);
    const once = await replay(entry!.id, { deduplicate: true });
    expect([once.status, once.body]).toEqual([
      202,
      { event_id: first, status: 'duplicate', deduplicated: true },
    ]);
    const key = { 'idempotency-key': 'k' };
    const [one, two] = [await replay(entry!.id, {}, key), await replay(entry!.id, {}, key)];
    expect([one.body.status, two.body.status]).toEqual(['event', 'duplicate']);
    expect(one.body.event_id).not.toBe(first);
    expect(two.body.event_id).toBe(one.body.event_id);
    expect(await eventOf(one.body.event_id)).toMatchObject({
      ...{ data: { event_id: 'e1', n: 1 }, created_by: 'Owner', inbound_event_id: entry!.id },
    });
    expect(await read(entry!.id)).toMatchObject({
      ...{ replays: 1, replayed_by: [{ run_id: null, sent_event_id: one.body.event_id }] },
    });
    const { logs } = (await call('GET', '/api/audit?action=webhook_replay&limit=1')).body;
    expect(logs[0]).toMatchObject({
      ...{ target_id: workflowId, actor_name: 'Owner' },
      details: { inbound_event_id: entry!.id, sent_event_id: one.body.event_id },
    });
    expect(await runsOf(workflowId)).toEqual([]);
  });

  test('of a range sends each refused one once', async () => {
    const { workflowId, path } = await define({ event: 'range.sent', require_signature: true });
    for (let n = 0; n < 12; n += 1) await send(path, `{"n": ${n}}`);
    await logged(workflowId, 12);
    const range = { since: '2020-01-01T00:00:00Z', allow_unverified: true };
    const started = await call('POST', `/api/workflows/${workflowId}/inbound-events/replay`, range);
    const job = () => call('GET', `/api/event-replays/${started.body.id}`);
    await eventually(async () => (await job()).body.status !== 'running', 30_000);
    expect((await job()).body).toMatchObject({
      ...{ status: 'done', started: 0, sent: 12, duplicates: 0, refused: 0 },
    });
    expect(await countOf('range.sent')).toBe(12);
    const { events } = (await call('GET', '/api/events?name=range.sent&limit=50')).body;
    // Events of the same millisecond have no order.
    const sent = events.map(({ data }: { data: { n: number } }) => data.n);
    expect(new Set(sent)).toEqual(new Set(Array(12).keys()));
    expect(sent).toHaveLength(12);
  });

  test('takes a body that was not stored completely from the event', async () => {
    const { workflowId, path } = await define({ event: 'large.sent' });
    const large = { n: 'x'.repeat(70_000) };
    await send(path, JSON.stringify(large));
    const [entry] = await logged(workflowId, 1);
    const again = await replay(entry!.id);
    expect(again.status).toBe(202);
    expect((await eventOf(again.body.event_id)).data).toEqual(large);
  });
});
