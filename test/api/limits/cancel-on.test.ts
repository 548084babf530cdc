import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Run } from '#shared/contract/runs/run.ts';
import { newId } from '#shared/crypto/ids.ts';
import { feedInput } from '#shared/contract/data/feed.ts';
import { createFeed } from '#shared/db/data/feeds.ts';
import { sql } from '#shared/db/pool.ts';
import { cancelRuns } from '#shared/operations/events/cancels.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { chain, echo, eventually, mock } from '#test/support/engine.ts';

const { engine, call } = useEngineApi();

const gate = { id: 'ok', kind: 'human_gate', prompt: 'Is it fine?' };
const CANCEL = { event: 'order.cancelled', match: 'event.data.order == order' };

const workflow = async (limits: object, graph: object = chain(gate), rest = {}) => {
  const { body } = await call('POST', '/api/workflows', { name: 'orders', graph, ...rest });
  if (Object.keys(limits).length > 0) await limit(body.id, limits);
  return body.id as string;
};
const limit = async (id: string, limits: object) => {
  const { status, body } = await call('PUT', `/api/workflows/${id}/limits`, limits);
  expect([status, body.detail]).toEqual([200, undefined]);
  return body;
};
const start = async (id: string, input: object = {}): Promise<string> => {
  const { status, body } = await call('POST', `/api/workflows/${id}/runs`, input);
  expect(status).toBe(201);
  return body.id;
};
const runOf = async (id: string): Promise<Run> => (await call('GET', `/api/runs/${id}`)).body;
const send = async (name: string, data: unknown, id?: string): Promise<string> => {
  const { body } = await call('POST', '/api/events', { name, data, id });
  return body.id;
};
const eventOf = async (id: string) => (await call('GET', `/api/events/${id}`)).body;
/** The event, once it was compared with everything. */
const compared = async (id: string) => {
  await eventually(async () => {
    const { pending, cancels } = await eventOf(id);
    const due = (each: { cancelled_at: string | null; refusal: string | null }) =>
      each.cancelled_at === null && each.refusal === null;
    return !pending && !cancels.some(due);
  });
  return eventOf(id);
};
const cancelledBy = (event: string, name = 'order.cancelled') => ({
  status: 'failed',
  error: `Cancelled by event '${name}' (${event})`,
  failure: { kind: 'cancelled', event_id: event },
});
const awaited = (runId: string) =>
  engine.db.anyFirst(sql.type(z.object({ name: z.string() }))`
    SELECT name FROM awaited_events WHERE run_id = ${runId} AND step_key IS NULL ORDER BY name`);

describe('an event cancels', () => {
  test('a paused, a waiting, a running and a queued run, each with its execution and an audit entry', async () => {
    const waits = { id: 'w', kind: 'wait', event: { name: 'order.paid' } };
    const slow = mock('slow', { delay_ms: 600_000 });
    const limits = { cancel_on: [CANCEL] };
    const paused = await start(await workflow(limits), { order: 'A-1' });
    await engine.until(paused, ['paused']);
    const waiting = await start(await workflow(limits, chain(waits)), { order: 'A-1' });
    await eventually(async () => (await runOf(waiting)).waiting.length === 1);
    const running = await start(await workflow(limits, chain(slow)), { order: 'A-1' });
    await eventually(async () =>
      (await runOf(running)).steps.some(({ status }) => status === 'running'),
    );
    const single = await workflow({ ...limits, concurrency: { limit: 1 } });
    const holder = await start(single, { order: 'A-2' });
    const queued = await start(single, { order: 'A-1' });
    const next = await start(single, { order: 'A-3' });
    expect((await runOf(queued)).queued).toMatchObject({ position: 1 });

    const event = await send('order.cancelled', { order: 'A-1' });
    const { cancelled, cancels, woke } = await compared(event);
    const all = [paused, waiting, running, queued];
    expect([cancelled, woke]).toEqual([4, 0]);
    expect(cancels.map(({ run_id }: { run_id: string }) => run_id).sort()).toEqual(all.toSorted());
    for (const id of all) {
      expect(await runOf(id)).toMatchObject({ ...cancelledBy(event), waiting: [], queued: null });
      expect(
        (await call('GET', `/api/audit?action=cancel&target_id=${id}`)).body.logs,
      ).toMatchObject([{ actor_id: null, details: { event_id: event, event: 'order.cancelled' } }]);
      await engine.carriedOut(id);
      expect(await awaited(id)).toEqual([]);
    }
    for (const id of [paused, waiting, running]) {
      const handle = engine.deps.temporal.client.workflow.getHandle(id);
      await eventually(async () => (await handle.describe()).status.name !== 'RUNNING');
    }
    await engine.until(holder, ['paused']);
    expect((await runOf(next)).queued).toMatchObject({ position: 1, length: 1 });
  });

  test('a run that holds a slot, which the next one gets', async () => {
    const id = await workflow({ cancel_on: [CANCEL], concurrency: { limit: 1 } });
    const holder = await start(id, { order: 'S-1' });
    const next = await start(id, { order: 'S-2' });
    await engine.until(holder, ['paused']);
    await send('order.cancelled', { order: 'S-1' });
    await engine.until(next, ['paused']);
  });

  test('a run with the runs below it, and one that is below another', async () => {
    const child = await workflow({ cancel_on: [{ event: 'child.off' }] });
    const graph = chain({ id: 'sub', kind: 'workflow', workflow: child }, echo('a'));
    const parent = await workflow({ cancel_on: [CANCEL] }, graph);
    const started = async () => {
      const above = await start(parent, { order: 'P-1' });
      await eventually(async () => {
        const [step] = (await runOf(above)).steps;
        return step?.child_run_id != null && (await runOf(step.child_run_id)).status === 'paused';
      });
      return [above, (await runOf(above)).steps[0]!.child_run_id!] as const;
    };
    const [above, below] = await started();
    const event = await send('order.cancelled', { order: 'P-1' });
    expect((await compared(event)).cancelled).toBe(1);
    expect(await runOf(above)).toMatchObject(cancelledBy(event));
    expect(await runOf(below)).toMatchObject({ failure: { kind: 'cancelled', with_parent: true } });
    expect(await awaited(below)).toEqual([]);

    const [other, under] = await started();
    const second = await send('child.off', null);
    await engine.until(other, ['failed']);
    expect(await runOf(under)).toMatchObject(cancelledBy(second, 'child.off'));
    expect((await runOf(other)).steps[0]).toMatchObject({ error_kind: 'child' });
  });

  test('only runs that were created before it, that match, of this workflow and workspace', async () => {
    const id = await workflow({ cancel_on: [CANCEL] });
    const early = await send('order.cancelled', { order: 'O-1' });
    const mine = await start(id, { order: 'O-1' });
    const others = [
      await start(id, { order: 'O-2' }),
      await start(await workflow({}), { order: 'O-1' }),
      await start(await workflow({ cancel_on: [{ ...CANCEL, event: 'order.lost' }] }), {
        order: 'O-1',
      }),
    ];
    const workspaceId = newId('workspace');
    await engine.db.query(
      sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'Other')`,
    );
    const foreign = await addCaller({ db: engine.db, workspaceId });
    const sent = { name: 'order.cancelled', data: { order: 'O-1' } };
    expect((await call('POST', '/api/events', sent, foreign.headers)).status).toBe(201);
    await eventually(async () => {
      const { events } = (await call('GET', '/api/events', undefined, foreign.headers)).body;
      return events.every(({ pending }: { pending: boolean }) => !pending);
    });
    expect((await compared(early)).cancels).toEqual([]);
    for (const run of [mine, ...others]) await engine.until(run, ['paused']);

    const event = await send('order.cancelled', { order: 'O-1' }, 'cancel-O-1');
    expect((await compared(event)).cancelled).toBe(1);
    expect(await runOf(mine)).toMatchObject(cancelledBy(event));
    // The same event again is the same one.
    const after = await start(id, { order: 'O-1' });
    expect(await send('order.cancelled', { order: 'O-1' }, 'cancel-O-1')).toBe(event);
    for (const run of [after, ...others]) await engine.until(run, ['paused']);
  });

  test('a run once, also if two events come at the same time', async () => {
    const id = await workflow({ cancel_on: [CANCEL, { event: 'order.lost' }] });
    const run = await start(id, { order: 'T-1' });
    await engine.until(run, ['paused']);
    const events = await Promise.all(
      ['order.cancelled', 'order.lost', 'order.cancelled'].map((name) =>
        send(name, { order: 'T-1' }),
      ),
    );
    const counts = await Promise.all(
      events.map(async (event) => (await compared(event)).cancelled),
    );
    expect(counts.toSorted()).toEqual([0, 0, 1]);
    expect((await call('GET', `/api/audit?action=cancel&target_id=${run}`)).body.logs).toHaveLength(
      1,
    );
  });

  test('by what the input was, and not what the run has computed', async () => {
    const id = await workflow({ cancel_on: [CANCEL] }, chain(echo('order', "'new'"), gate));
    const run = await start(id, { order: 'I-1' });
    expect((await engine.until(run, ['paused'])).state).toMatchObject({ order: 'new' });
    await compared(await send('order.cancelled', { order: 'new' }));
    await engine.until(run, ['paused']);
    const event = await send('order.cancelled', { order: 'I-1' });
    await compared(event);
    expect(await runOf(run)).toMatchObject(cancelledBy(event));
  });

  test('a run that waits for further triggers, by the last input', async () => {
    const id = await workflow({ debounce: { seconds: 600 }, cancel_on: [CANCEL] });
    const run = await start(id, { order: 'J-1' });
    expect(await start(id, { order: 'J-2' })).toBe(run);
    expect((await compared(await send('order.cancelled', { order: 'J-1' }))).cancels).toEqual([]);
    expect(await runOf(run)).toMatchObject({ status: 'pending', input: { order: 'J-2' } });
    const event = await send('order.cancelled', { order: 'J-2' });
    await compared(event);
    expect(await runOf(run)).toMatchObject({ ...cancelledBy(event), queued: null });
    expect(await start(id, { order: 'J-2' })).not.toBe(run);
  });

  test('a run whose wait it would have ended', async () => {
    const waits = { id: 'w', kind: 'wait', event: { name: 'order.cancelled' } };
    const id = await workflow({ cancel_on: [CANCEL] }, chain(waits, echo('after')));
    const run = await start(id, { order: 'W-1' });
    await eventually(async () => (await runOf(run)).waiting.length === 1);
    const event = await send('order.cancelled', { order: 'W-1' });
    await compared(event);
    const { steps } = await engine.until(run, ['failed']);
    expect(await runOf(run)).toMatchObject(cancelledBy(event));
    expect(steps.map(({ node_id: node }) => node)).not.toContain('after');
  });

  test('of a webhook, and of the data API, which is stored while a run awaits it', async () => {
    const byHook = await workflow({
      cancel_on: [{ event: 'shop.cancelled', match: CANCEL.match }],
    });
    const run = await start(byHook, { order: 'H-1' });
    const hook = await workflow({});
    const { url } = (await call('POST', `/api/workflows/${hook}/webhook`, {})).body;
    await call('PUT', `/api/workflows/${hook}/webhook/config`, { event: 'shop.cancelled' });
    const { body } = await call('POST', new URL(url).pathname, { order: 'H-1' });
    await compared(body.event_id);
    expect(await runOf(run)).toMatchObject(cancelledBy(body.event_id, 'shop.cancelled'));

    const feed = await createFeed(engine.db, engine.actor, feedInput.parse({ name: 'Permits' }));
    const permit = (key: string) => ({
      ...{ type: 'entity', external_key: key, entity_type: 'permit', canonical_name: key },
      attributes: {},
    });
    const ingest = async (key: string) => {
      const sent = { feed_id: feed.id, records: [permit(key)] };
      expect((await call('POST', '/api/data/ingest', sent)).status).toBe(200);
      const { events } = (await call('GET', '/api/events?name=entity.created')).body;
      return events.length as number;
    };
    expect(await ingest('p-1')).toBe(0);
    const byData = await start(
      await workflow({
        cancel_on: [{ event: 'entity.created', match: `event.data.feed_id == '${feed.id}'` }],
      }),
    );
    expect(await ingest('p-2')).toBe(1);
    expect((await engine.until(byData, ['failed'])).error).toContain("event 'entity.created'");
    expect(await ingest('p-3')).toBe(1);
  });
});

test('an event cancels exactly the runs that were created before it, also if all come at once', async () => {
  const id = await workflow({ cancel_on: [{ event: 'now.off', match: 'event.data.n == n' }] });
  const runs: string[] = [];
  const acts = Array.from({ length: 60 }, async (_, at) => {
    if (at % 3 === 0) await send('now.off', { n: at % 2 });
    else runs.push(await start(id, { n: at % 2 }));
  });
  await Promise.all(acts);
  const { body } = await call('GET', '/api/events?name=now.off');
  for (const event of body.events) await compared(event.id);
  const rows = await engine.db.any(sql.type(
    z.object({ id: z.string(), first: z.string().nullable(), failure: z.unknown() }),
  )`
    SELECT r.id, r.failure,
           (SELECT e.id FROM events e WHERE e.name = 'now.off' AND e.data ->> 'n' = r.input ->> 'n' AND e.created_at > r.created_at
            ORDER BY e.seq LIMIT 1) AS first
    FROM runs r WHERE r.workflow_id = ${id}`);
  expect(rows.map((row) => row.id).sort()).toEqual(runs.toSorted());
  const failures = rows.map(({ first }) => first && { kind: 'cancelled', event_id: first });
  expect(rows.map(({ failure }) => failure)).toEqual(failures);
});

describe('the events of a run', () => {
  test('are those of its trigger: a later change of the settings counts for later runs', async () => {
    const id = await workflow({});
    const before = await start(id, { order: 'B-1' });
    await limit(id, { cancel_on: [CANCEL] });
    const during = await start(id, { order: 'B-1' });
    await limit(id, { cancel_on: [] });
    const after = await start(id, { order: 'B-1' });
    const event = await send('order.cancelled', { order: 'B-1' });
    expect((await compared(event)).cancelled).toBe(1);
    expect(await runOf(during)).toMatchObject(cancelledBy(event));
    for (const run of [before, after]) await engine.until(run, ['paused']);
  });

  test('are there again after a resume, for the events from then on', async () => {
    const id = await workflow({ cancel_on: [CANCEL] }, chain(mock('bad', { fail_times: 1 }), gate));
    const run = await start(id, { order: 'R-1' });
    await engine.until(run, ['failed']);
    expect(await awaited(run)).toEqual([]);
    expect((await compared(await send('order.cancelled', { order: 'R-1' }))).cancels).toEqual([]);
    await call('POST', `/api/runs/${run}/resume`);
    await engine.until(run, ['paused']);
    expect(await awaited(run)).toEqual(['order.cancelled']);
    const event = await send('order.cancelled', { order: 'R-1' });
    await compared(event);
    expect(await runOf(run)).toMatchObject(cancelledBy(event));
    // As after an ordinary cancel.
    await call('POST', `/api/runs/${run}/resume`);
    await engine.until(run, ['paused']);
    const third = await send('order.cancelled', { order: 'R-1' });
    await compared(third);
    expect(await runOf(run)).toMatchObject({ ...cancelledBy(third), resumed_count: 2 });
  });

  test('are there for drafts, reruns, forks, schedules, webhooks and event triggers, but not for rehearsals', async () => {
    const id = await workflow({ cancel_on: [{ event: 'all.off' }] }, chain(echo('a'), gate));
    const first = await start(id);
    await engine.until(first, ['paused']);
    await call('PUT', `/api/workflows/${id}/draft`, { graph: chain(echo('b'), gate) });
    await call('POST', `/api/workflows/${id}/runs?draft=true`, {});
    await call('POST', `/api/runs/${first}/rerun`, {});
    await call('POST', `/api/runs/${first}/fork`, { from_step: 'ok' });
    const cron = { workflow_id: id, cron: '0 0 1 1 *', overlap: 'allow' };
    const schedule = (await call('POST', '/api/schedules', cron)).body;
    await call('POST', `/api/schedules/${schedule.id}/trigger`);
    const { url } = (await call('POST', `/api/workflows/${id}/webhook`, {})).body;
    await call('POST', new URL(url).pathname, {});
    await call('POST', `/api/workflows/${id}/triggers`, { event: 'all.on' });
    await send('all.on', {});
    const paused = async (): Promise<Run[]> =>
      (await call('GET', `/api/runs?workflow_id=${id}&status=paused`)).body.runs;
    await eventually(async () => (await paused()).length === 7);
    const { body: rehearsal } = await call('POST', `/api/runs/${first}/rerun`, {
      ...{ mode: 'recorded', allow: [], decisions: {} },
    });
    const rehearsed = (rehearsal.run ?? rehearsal).id;
    expect(await awaited(rehearsed)).toEqual([]);
    const triggers = (await paused()).map(({ trigger }) => trigger);
    expect(new Set(triggers)).toEqual(new Set(['manual', 'schedule', 'webhook', 'event']));
    const event = await send('all.off', null);
    expect((await compared(event)).cancelled).toBe(7);
    expect((await runOf(rehearsed)).error ?? '').not.toContain('Cancelled');
  });

  test('are not there for a run without them, and are no place in a queue', async () => {
    const run = await start(await workflow({ concurrency: { limit: 1 } }));
    const { cancel_on } = await engine.db.one(sql.type(z.object({ cancel_on: z.null() }))`
      SELECT cancel_on FROM runs WHERE id = ${run}`);
    expect([cancel_on, await awaited(run)]).toEqual([null, []]);
    const only = await start(await workflow({ cancel_on: [CANCEL] }), { order: 'C-1' });
    const { limits } = await engine.db.one(sql.type(z.object({ limits: z.null() }))`
      SELECT limits FROM runs WHERE id = ${only}`);
    expect(limits).toBeNull();
  });
});

describe('a match', () => {
  test('that is false, or fails, cancels nothing, and its failure is shown', async () => {
    const id = await workflow({
      cancel_on: [{ event: 'price.changed', match: 'event.data.price > most' }],
    });
    const runs = [await start(id, { most: 5 }), await start(id, { most: 'a lot' })];
    const event = await send('price.changed', { price: 3 });
    const { cancelled, cancels } = await compared(event);
    expect(cancelled).toBe(0);
    expect(cancels).toEqual([
      {
        ...{ run_id: runs[1], workflow_id: id, cancelled_at: null },
        refusal: expect.stringContaining('The match failed: '),
      },
    ]);
    const limits = (await call('GET', `/api/workflows/${id}/limits`)).body;
    expect(limits.last_failed_match).toEqual({
      ...{ at: expect.any(String), event_id: event, run_id: runs[1] },
      reason: cancels[0].refusal,
    });
    for (const run of runs) await engine.until(run, ['paused']);
    const high = await send('price.changed', { price: 7 });
    expect((await compared(high)).cancelled).toBe(1);
    expect(await runOf(runs[0]!)).toMatchObject(cancelledBy(high, 'price.changed'));
  });

  test('that fails does not keep another one of the same event from cancelling', async () => {
    const id = await workflow({
      cancel_on: [
        { event: 'price.gone', match: 'event.data.price > most' },
        { event: 'price.gone', match: 'event.data.order == order' },
      ],
    });
    const run = await start(id, { most: 'a lot', order: 'M-1' });
    const event = await send('price.gone', { price: 3, order: 'M-1' });
    expect((await compared(event)).cancels).toMatchObject([{ run_id: run, refusal: null }]);
    expect(await runOf(run)).toMatchObject(cancelledBy(event, 'price.gone'));
  });

  test('with an equality is found by its value', async () => {
    const id = await workflow({
      cancel_on: [
        { event: 'box.lost', match: "event.data.kind == kind and 'a' + order == event.data.order" },
      ],
    });
    const run = await start(id, { order: 'X-1' });
    expect(
      await engine.db.any(sql.unsafe`SELECT path, value FROM awaited_events WHERE run_id = ${run}`),
    ).toEqual([{ path: 'data.kind', value: 'null' }]);
    const other = await start(id, { order: 'X-1', kind: ['a list'] });
    expect(
      await engine.db.any(
        sql.unsafe`SELECT path, value FROM awaited_events WHERE run_id = ${other}`,
      ),
    ).toEqual([{ path: 'data.order', value: '"aX-1"' }]);
    const event = await send('box.lost', { order: 'aX-1' });
    expect((await compared(event)).cancels).toMatchObject([{ run_id: run }]);
  });

  test.each([
    [{ event: 'run.failed' }, 'is reserved, and the service sends no such event'],
    [{ event: 'a.b', match: 'event.data.n ==' }, 'cancel_on.0.match '],
    [
      { event: 'a.b', match: 'event.data.n == m' },
      "cancel_on.0.match reads 'm', but the input of the workflow has only n",
    ],
    [{ event: 'a.b', match: '' }, 'cancel_on'],
  ])('refuses %j', async (entry, problem) => {
    const input_schema = {
      ...{ type: 'object', properties: { n: {} }, additionalProperties: false },
    };
    const id = await workflow({}, chain(gate), { input_schema });
    const { status, body } = await call('PUT', `/api/workflows/${id}/limits`, {
      cancel_on: [entry],
    });
    expect([status, body.detail]).toEqual([400, expect.stringContaining(problem)]);
  });

  test('at most 10 are allowed, and a change of them is in the audit log', async () => {
    const id = await workflow({ cancel_on: [CANCEL] });
    const many = Array.from({ length: 11 }, (_, n) => ({ event: `e.${n}` }));
    expect((await call('PUT', `/api/workflows/${id}/limits`, { cancel_on: many })).status).toBe(
      400,
    );
    await limit(id, { cancel_on: many.slice(1) });
    const { logs } = (await call('GET', `/api/audit?action=limits_update&target_id=${id}`)).body;
    expect(logs[0].details.from.cancel_on).toEqual([CANCEL]);
    expect(logs[0].details.to.cancel_on).toHaveLength(10);
  });
});

test('to set them needs cancel_resume, also by a template', async () => {
  const { headers } = await addCaller(
    { db: engine.db, workspaceId: engine.actor.workspaceId },
    { overrides: { cancel_resume: false } },
  );
  const refused = {
    status: 403,
    body: { detail: "This action requires the 'cancel_resume' permission" },
  };
  const id = await workflow({ cancel_on: [CANCEL] });
  const put = async (limits: object) => call('PUT', `/api/workflows/${id}/limits`, limits, headers);
  expect(await put({ cancel_on: [{ event: 'another.one' }] })).toMatchObject(refused);
  expect((await put({ cancel_on: [CANCEL], rate: { limit: 1, per_seconds: 1 } })).status).toBe(200);
  expect((await put({ cancel_on: [] })).status).toBe(200);

  const { body: template } = await call('POST', '/api/templates', {
    ...{ name: 'Orders', graph: chain(gate), limits: { cancel_on: [CANCEL] } },
  });
  const make = `/api/templates/${template.id}/instantiate`;
  expect(await call('POST', make, {}, headers)).toMatchObject(refused);
  const made = await call('POST', make, {});
  expect(made.status).toBe(201);
  const run = await start(made.body.id, { order: 'Q-1' });
  const event = await send('order.cancelled', { order: 'Q-1' });
  await compared(event);
  expect(await runOf(run)).toMatchObject(cancelledBy(event));
});

test('a cancel that a killed process left is carried out once, unless the run has ended or was resumed', async () => {
  const id = await workflow({ cancel_on: [CANCEL] });
  const { workspaceId } = engine.actor;
  /** As if the process had been killed right after the comparison of an event. */
  const due = async (run: string, epoch: number) => {
    const event = await send('nobody.waits', {});
    await engine.db.query(sql.unsafe`
      INSERT INTO event_cancels (event_id, run_id, workspace_id, workflow_id, epoch)
      VALUES (${event}, ${run}, ${workspaceId}, ${id}, ${epoch})`);
    return event;
  };
  const [left, ended, resumed] = [await start(id), await start(id), await start(id)];
  for (const run of [left, ended, resumed]) await engine.until(run, ['paused']);
  await engine.cancel(ended);
  await engine.cancel(resumed);
  await engine.resume(resumed);
  await engine.until(resumed, ['paused']);
  const late = [await due(ended, 0), await due(resumed, 0)];
  const event = await due(left, 0);
  await Promise.all(
    [1, 2, 3].map(() => cancelRuns(engine.deps, [{ event_id: event, run_id: left }])),
  );
  await engine.until(left, ['failed']);
  for (const each of [event, ...late]) await compared(each);
  expect(await runOf(left)).toMatchObject(cancelledBy(event, 'nobody.waits'));
  expect((await runOf(ended)).error).not.toContain('event');
  expect((await runOf(resumed)).status).toBe('paused');
  for (const each of late) expect((await eventOf(each)).cancels).toEqual([]);
});
