import { describe, expect, test } from '@jest/globals';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { eventually } from '#test/support/engine.ts';

const { engine, call } = useEngineApi();

const waitFor = (event: object, rest: object = {}) => ({
  nodes: [{ id: 'paid', kind: 'wait', event, ...rest }],
  edges: [],
});
const start = async (graph: object, input: object = {}) =>
  engine.start(graph as never, input as never);
const waitingOf = async (runId: string) => {
  const { body } = await call('GET', `/api/runs/${runId}`);
  return body.waiting as Record<string, unknown>[];
};
const whenWaiting = (runId: string) =>
  eventually(async () => (await waitingOf(runId)).length === 1);

describe('POST /api/events', () => {
  test('stores an event, and ends the waits for it', async () => {
    const runId = await start(waitFor({ name: 'invoice.paid', match: 'event.data.n == n' }), {
      n: 1,
    });
    await whenWaiting(runId);
    const { status, body, headers } = await call('POST', '/api/events', {
      name: 'invoice.paid',
      data: { n: 1 },
    });
    expect(status).toBe(201);
    expect(headers.location).toBe(`/api/events/${body.id}`);
    expect(body).toMatchObject({ name: 'invoice.paid', data: { n: 1 }, source: 'api' });
    await engine.until(runId, ['success']);
    const { body: read } = await call('GET', `/api/events/${body.id}`);
    expect(read).toMatchObject({ woke: 1, pending: false });
    expect(read.waits).toMatchObject([{ run_id: runId, step_key: 'paid' }]);
  });

  test('returns the same event for the same id, and refuses another one', async () => {
    const event = { name: 'invoice.paid', data: { n: 2 }, id: 'pay_2' };
    const first = await call('POST', '/api/events', event);
    const again = await call('POST', '/api/events', event);
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual({ ...first.body, pending: again.body.pending });
    const other = await call('POST', '/api/events', { ...event, data: { n: 3 } });
    expect(other.status).toBe(422);
    expect(other.body.detail).toBe(
      `The id 'pay_2' belongs to another event, ${first.body.id}: send this one with an id of its own`,
    );
  });

  test.each([
    [{ name: 'run.completed' }, 'is reserved: names that begin with'],
    [{ name: 'invoice paid' }, 'has words of letters, digits'],
    [{}, 'name'],
  ])('refuses %j', async (event, message) => {
    const { status, body } = await call('POST', '/api/events', event);
    expect(status).toBe(400);
    expect(body.detail).toContain(message);
  });

  test('refuses what exceeds the limits, with a remedy', async () => {
    const { workspaceId } = engine.actor;
    const set = (name: string, seq: number, matched: number) =>
      engine.db.query(sql.unsafe`
        INSERT INTO event_names (workspace_id, name, seq, matched) VALUES (${workspaceId}, ${name}, ${seq}, ${matched})`);
    await set('far.behind', 10_001, 0);
    const behind = await call('POST', '/api/events', { name: 'far.behind' });
    expect([behind.status, behind.headers['retry-after']]).toEqual([429, '5']);
    await engine.db.query(sql.unsafe`
      INSERT INTO event_names (workspace_id, name) SELECT ${workspaceId}, 'n' || i FROM generate_series(1, 1000) AS i`);
    const names = await call('POST', '/api/events', { name: 'one.more' });
    expect([names.status, names.body.detail]).toEqual([
      409,
      'A workspace has at most 1000 names of events; put what differs into the data',
    ]);
    expect((await call('POST', '/api/events', { name: 'n7' })).status).toBe(201);
    await engine.db.query(sql.unsafe`DELETE FROM event_names WHERE name ~ '^n[0-9]+$|^far'`);
  });

  test('ends no wait of another workspace', async () => {
    const runId = await start(waitFor({ name: 'order.shipped' }));
    await whenWaiting(runId);
    const workspaceId = newId('workspace');
    await engine.db.query(
      sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'Other')`,
    );
    const other = await addCaller({ db: engine.db, workspaceId });
    const sent = await call('POST', '/api/events', { name: 'order.shipped' }, other.headers);
    expect(sent.status).toBe(201);
    expect((await call('GET', `/api/events/${sent.body.id}`)).status).toBe(404);
    expect(await waitingOf(runId)).toHaveLength(1);
    await engine.cancel(runId);
  });
});

test('GET /api/events lists the newest first, by name and page by page', async () => {
  for (const n of [1, 2, 3]) await call('POST', '/api/events', { name: 'listed', data: n });
  const first = await call('GET', '/api/events?name=listed&limit=2');
  expect(first.body.events.map(({ data }: { data: number }) => data)).toEqual([3, 2]);
  const next = await call(
    'GET',
    `/api/events?name=listed&limit=2&cursor=${first.body.next_cursor}`,
  );
  expect(next.body.events.map(({ data }: { data: number }) => data)).toEqual([1]);
  expect(next.body.next_cursor).toBeNull();
});

test('the record of a run says what its steps wait for, and until when', async () => {
  const runId = await start(
    waitFor({ name: 'invoice.paid', match: 'false' }, { timeout_seconds: 3_600, label: 'Payment' }),
  );
  await whenWaiting(runId);
  const [waiting] = await waitingOf(runId);
  expect(waiting).toMatchObject({
    ...{ node_id: 'paid', step_key: 'paid', label: 'Payment', for: 'event' },
    events: ['invoice.paid'],
  });
  const { body: listed } = await call('GET', '/api/waits?limit=1');
  expect(listed.waits).toMatchObject([
    { run_id: runId, workflow_name: 'test', events: ['invoice.paid'] },
  ]);
  const { since, until } = waiting as { since: string; until: string };
  expect(Date.parse(until) - Date.parse(since)).toBeCloseTo(3_600_000, -2);
  const { body } = await call('GET', `/api/runs/${runId}`);
  expect([body.status, body.pending_gates]).toEqual(['running', []]);
  await engine.cancel(runId);
  expect(await waitingOf(runId)).toEqual([]);
});

test('validation warns about a wait that is longer than the plan keeps runs', async () => {
  const plan = (name: string) =>
    engine.db.query(sql.unsafe`
      UPDATE workspaces SET plan = ${name} WHERE id = ${engine.actor.workspaceId}`);
  const graph = { nodes: [{ id: 'w', kind: 'wait', seconds: 8 * 86_400 }], edges: [] };
  const id = await engine.define(graph as never);
  const warnings = async () => (await call('POST', `/api/workflows/${id}/validate`)).body.warnings;
  await plan('free');
  expect(await warnings()).toMatchObject([
    {
      code: 'wait_longer_than_kept',
      message:
        "Node 'w': it can wait 8 days, but the plan keeps runs for 7 days and then cancels them: wait for less time, or use another plan",
    },
  ]);
  await plan('starter');
  expect(await warnings()).toEqual([]);
  await plan('enterprise');
});
