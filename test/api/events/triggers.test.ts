import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { startRuns } from '#shared/operations/events/starts.ts';
import type { JsonObject } from '#shared/json.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { chain, echo, edge, eventually } from '#test/support/engine.ts';

const { engine, call } = useEngineApi();

const plain = chain(echo('a'));
const workflow = async (fields: object = {}): Promise<string> =>
  (await call('POST', '/api/workflows', { name: 'x', graph: plain, ...fields })).body.id;
const add = async (workflowId: string, body: object) =>
  call('POST', `/api/workflows/${workflowId}/triggers`, body);
const send = async (name: string, data: unknown = {}): Promise<string> =>
  (await call('POST', '/api/events', { name, data })).body.id;
const eventOf = async (id: string) => (await call('GET', `/api/events/${id}`)).body;
const triggerOf = async (id: string) => (await call('GET', `/api/triggers/${id}`)).body;
/** What the triggers made of an event, once that is known. */
const startsOf = async (id: string) => {
  await eventually(async () => {
    const { pending, starts } = await eventOf(id);
    const settled = (each: JsonObject) => each['run_id'] !== null || each['refusal'] !== null;
    return !pending && starts.every(settled);
  });
  return (await eventOf(id)).starts;
};

describe('an event trigger', () => {
  test('starts one run for each event that matches, with the input of its templates', async () => {
    const id = await workflow();
    const trigger = await add(id, {
      event: 'invoice.paid',
      match: "event.data.kind == 'big' and event.data.amount > 100",
      input: { invoice: '{event.data.invoice}', note: 'Paid: {event.data.amount}', from: 'shop' },
    });
    expect([trigger.status, trigger.headers.location]).toEqual([
      201,
      `/api/triggers/${trigger.body.id}`,
    ]);
    const others = [
      await send('invoice.paid', { kind: 'small', amount: 500 }),
      await send('invoice.paid', { kind: 'big', amount: 5 }),
      await send('invoice.sent', { kind: 'big', amount: 500 }),
    ];
    const event = await send('invoice.paid', { kind: 'big', amount: 500, invoice: 'A-1' });
    const [start] = await startsOf(event);
    expect(start).toMatchObject({ trigger_id: trigger.body.id, workflow_id: id, refusal: null });
    const run = await engine.until(start.run_id, ['success']);
    expect(run).toMatchObject({
      trigger: 'event',
      created_by: null,
      event_id: event,
      input: { invoice: 'A-1', note: 'Paid: 500', from: 'shop' },
    });
    for (const other of others) expect(await startsOf(other)).toEqual([]);
    expect(await eventOf(event)).toMatchObject({ started: 1, woke: 0 });
    expect(await triggerOf(trigger.body.id)).toMatchObject({
      last_run_id: run.id,
      last_skip: null,
    });
    const entries = await call('GET', `/api/audit?action=trigger_run&target_id=${id}`);
    expect(entries.body.logs).toMatchObject([
      { details: { trigger_id: trigger.body.id, event_id: event, run_id: run.id } },
    ]);
  });

  test('takes the data of the event as the input by default', async () => {
    const id = await workflow();
    await add(id, { event: 'parcel.came' });
    const [{ run_id: runId }] = await startsOf(await send('parcel.came', { parcel: 7 }));
    expect((await engine.until(runId, ['success'])).input).toEqual({ parcel: 7 });
    const [{ refusal }] = await startsOf(await send('parcel.came', [7]));
    expect(refusal).toBe(
      'The data of the event is a list, and the input of a run is an object: give the trigger an input, such as {"value": "{event.data}"}',
    );
  });

  test('starts nothing for earlier events, and for those that came while it was disabled', async () => {
    const id = await workflow();
    const early = await send('mail.came');
    const { body: trigger } = await add(id, { event: 'mail.came' });
    const first = await send('mail.came');
    expect(await startsOf(first)).toHaveLength(1);
    await call('PUT', `/api/triggers/${trigger.id}`, { enabled: false });
    const during = await send('mail.came');
    expect(await startsOf(during)).toEqual([]);
    await call('PUT', `/api/triggers/${trigger.id}`, { enabled: true });
    expect(await startsOf(await send('mail.came'))).toHaveLength(1);
    expect(await startsOf(early)).toEqual([]);
    expect(await startsOf(during)).toEqual([]);
    expect((await call('DELETE', `/api/triggers/${trigger.id}`)).status).toBe(204);
    expect(await startsOf(await send('mail.came'))).toEqual([]);
  });

  test('counts its creator and its editors as starters', async () => {
    const editor = await addCaller(
      { db: engine.db, workspaceId: engine.actor.workspaceId },
      { role: 'admin' },
    );
    const id = await workflow();
    const { body: trigger } = await add(id, { event: 'form.filled' });
    await call('PUT', `/api/triggers/${trigger.id}`, { match: 'event.data.n > 1' }, editor.headers);
    const [{ run_id: runId }] = await startsOf(await send('form.filled', { n: 2 }));
    const { starters } = await engine.db.one(sql.type(z.object({ starters: z.array(z.string()) }))`
      SELECT starters FROM runs WHERE id = ${runId}`);
    expect([...starters].sort()).toEqual([engine.actor.id, editor.id].sort());
  });

  test('shows as last_skip why an event started no run', async () => {
    const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    const id = await workflow({ input_schema: schema });
    const { body: trigger } = await add(id, { event: 'n.came', input: { n: '{event.data.n}' } });
    const last = async () => (await triggerOf(trigger.id)).last_skip;
    const wrong = await send('n.came', { n: 'x' });
    const [{ refusal }] = await startsOf(wrong);
    expect(refusal).toContain('Invalid input: input.n must be a whole number');
    expect(await last()).toMatchObject({ event_id: wrong, reason: refusal });
    const missing = await send('n.came');
    expect((await startsOf(missing))[0].refusal).toBe(
      "The input cannot be filled in: Missing key 'event.data.n'",
    );
    await call('PUT', `/api/triggers/${trigger.id}`, { match: 'event.data.n > 1' });
    const incomparable = await send('n.came', { n: 'x' });
    expect((await startsOf(incomparable))[0].refusal).toContain('The match failed: ');
    expect(await last()).toMatchObject({ event_id: incomparable });
  });

  test('starts a run once, however often the start is repeated, and also after a crash', async () => {
    const id = await workflow();
    const { body: trigger } = await add(id, { event: 'door.opened' });
    const event = await send('door.opened');
    const [{ run_id: runId }] = await startsOf(event);
    const start = { trigger_id: trigger.id, event_id: event };
    // As if the process had been killed before the run was admitted.
    await engine.db.query(sql.unsafe`DELETE FROM runs WHERE id = ${runId}`);
    await engine.db.query(
      sql.unsafe`UPDATE event_starts SET run_id = NULL, leased_until = NULL WHERE event_id = ${event}`,
    );
    const deps = { ...engine.deps, findRunnable };
    await Promise.all([1, 2, 3].map(() => startRuns(deps, [start])));
    await startRuns(deps, [start]);
    const runs = await engine.db.anyFirst(
      sql.unsafe`SELECT id FROM runs WHERE workflow_id = ${id}`,
    );
    expect(runs).toEqual([(await startsOf(event))[0].run_id]);
  });

  test('starts nothing for events that runs of events have led to more than 8 times', async () => {
    const { workspaceId } = engine.actor;
    const id = await workflow();
    const { body: trigger } = await add(id, { event: 'ball.passed' });
    const deepest = await send('ball.passed');
    await startsOf(deepest);
    await engine.db.query(sql.unsafe`
      WITH next AS (UPDATE event_names SET seq = seq + 1 WHERE workspace_id = ${workspaceId} AND name = 'ball.passed' RETURNING seq)
      INSERT INTO events (id, workspace_id, name, seq, data, source, depth)
      SELECT 'evt_deep', ${workspaceId}, 'ball.passed', seq, '{}', 'tool', 9 FROM next`);
    const [{ run_id: runId, refusal }] = await startsOf('evt_deep');
    expect([runId, refusal]).toEqual([null, expect.stringContaining('9 runs, each started by')]);
    expect((await triggerOf(trigger.id)).last_skip.event_id).toBe('evt_deep');
  });
});

describe('POST /api/workflows/{id}/triggers', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer' } },
    required: ['n'],
    additionalProperties: false,
  };

  test.each([
    [{}, 400, 'event'],
    [{ event: 'run.completed' }, 400, 'is reserved, and the service sends no such event'],
    [{ event: 'a.b', match: 'event.data.n ==' }, 400, 'match '],
    [{ event: 'a.b', match: 'n == 1' }, 400, "match reads 'n', but a trigger has only the event"],
    [{ event: 'a.b', input: { n: '{n}' } }, 400, "input reads '{n}'"],
    [{ event: 'a.b', input: { m: '{event.data.n}' } }, 400, "the workflow requires 'n'"],
    [
      { event: 'a.b', input: { n: '{event.data.n}', m: 1 } },
      400,
      "the workflow has no 'm'; its input has n",
    ],
    [{ event: 'a.b', input: { n: 'x' } }, 400, 'Invalid input: input.n must be a whole number'],
  ])('refuses %j', async (body, status, message) => {
    const answer = await add(await workflow({ input_schema: schema }), body);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(message)]);
  });

  test('accepts the events of the data API', async () => {
    expect((await add(await workflow(), { event: 'entity.created' })).status).toBe(201);
  });

  test('needs run_workflows for an enabled one', async () => {
    const { headers } = await addCaller(
      { db: engine.db, workspaceId: engine.actor.workspaceId },
      { role: 'admin', overrides: { run_workflows: false } },
    );
    const path = `/api/workflows/${await workflow()}/triggers`;
    const refused = await call('POST', path, { event: 'a.b' }, headers);
    expect([refused.status, refused.body.detail]).toEqual([
      403,
      "This action requires the 'run_workflows' permission",
    ]);
    const off = await call('POST', path, { event: 'a.b', enabled: false }, headers);
    expect(off.status).toBe(201);
    const on = await call('PUT', `/api/triggers/${off.body.id}`, { enabled: true }, headers);
    expect(on.status).toBe(403);
  });
});

test('GET /api/workflows/{id}/triggers lists those of the workflow, newest first', async () => {
  const id = await workflow({ graph: { nodes: plain.nodes, edges: [edge('a', 'a')].slice(1) } });
  for (const event of ['a.one', 'a.two']) await add(id, { event });
  const { body } = await call('GET', `/api/workflows/${id}/triggers`);
  expect(body.map(({ event }: { event: string }) => event)).toEqual(['a.two', 'a.one']);
  expect((await call('GET', '/api/workflows/wf_x/triggers')).status).toBe(404);
});
