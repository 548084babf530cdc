import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Run } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { readForTick } from '#shared/db/schedules/schedules.ts';
import { triggerRun } from '#shared/operations/runs/runs.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { callerOf } from '#test/api/test-api.ts';
import { chain, echo, eventually } from '#test/support/engine.ts';

const { engine, call } = useEngineApi({ worker: false });
let worker: Awaited<ReturnType<typeof engine.startWorker>>;
beforeAll(async () => {
  worker = await engine.startWorker();
});

const value = echo('value', 'n');
const workflow = async (limits: object, graph: object = chain(value), rest: object = {}) => {
  const { body } = await call('POST', '/api/workflows', { name: 'debounced', graph, ...rest });
  const set = await call('PUT', `/api/workflows/${body.id}/limits`, limits);
  expect([set.status, set.body.detail]).toEqual([200, undefined]);
  return body.id as string;
};
const trigger = async (id: string, input: object = {}, headers = {}) =>
  call('POST', `/api/workflows/${id}/runs`, input, headers);
const runOf = async (id: string): Promise<Run> => (await call('GET', `/api/runs/${id}`)).body;
const runsOf = async (id: string): Promise<Run[]> =>
  (await call('GET', `/api/runs?workflow_id=${id}`)).body.runs;
const untilOf = (run: Run): number => Date.parse(run.queued?.until ?? '');
const count = async (table: 'budget_holds' | 'usage'): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT ${
      table === 'usage'
        ? sql.fragment`(SELECT coalesce(sum(runs), 0)::int FROM run_counters)`
        : sql.fragment`(SELECT count(*)::int FROM budget_holds WHERE status = 'open')`
    } AS n`);
/** Lets the time of the run come. */
const due = (id: string) =>
  engine.db.query(sql.type(z.object({}))`
    UPDATE run_places SET due_at = clock_timestamp() WHERE run_id = ${id} AND state = 'debounced'`);

const long = { debounce: { seconds: 600 } };

describe('triggers under a debounce', () => {
  test('share one run with the last input, one place in the quota and one hold', async () => {
    const id = await workflow({ debounce: { seconds: 1.5, key: '{k}' } });
    const budget = { name: 'b', limit_usd: 10, window: 'day', scope: 'workflow', workflow_id: id };
    await call('POST', '/api/budgets', { ...budget, reservation_estimate_usd: 1 });
    const [counted, held] = [await count('usage'), await count('budget_holds')];
    const first = await trigger(id, { k: 'a', n: 1 });
    expect([first.status, first.headers['debounce-joined']]).toEqual([201, undefined]);
    expect(first.body).toMatchObject({
      ...{ status: 'pending', queued: { for: 'debounce', key: 'a', position: 1, length: 1 } },
    });
    const other = (await trigger(id, { k: 'b', n: 9 })).body;
    const second = await trigger(id, { k: 'a', n: 2 });
    expect([second.status, second.headers['debounce-joined']]).toEqual([201, 'true']);
    expect(second.body).toMatchObject({ id: first.body.id, input: { n: 2 } });
    expect(untilOf(second.body)).toBeGreaterThan(untilOf(first.body));
    expect([await count('usage'), await count('budget_holds')]).toEqual([counted + 2, held + 2]);
    const done = await engine.ended(first.body.id);
    expect(done).toMatchObject({ status: 'success', queued: null, input: { n: 2 } });
    expect(done.steps[0]?.output).toBe(2);
    expect((await engine.ended(other.id)).steps[0]?.output).toBe(9);
    expect(await runsOf(id)).toHaveLength(2);
    const { logs } = (await call('GET', `/api/audit?action=run&target_id=${id}`)).body;
    expect(
      logs.map(({ details }: { details: { run_id: string; joined?: boolean } }) => [
        ...[details.run_id, details.joined],
      ]),
    ).toEqual([
      [first.body.id, true],
      [other.id, undefined],
      [first.body.id, undefined],
    ]);
    // The next one is a run of its own.
    expect((await trigger(id, { k: 'a', n: 3 })).body.id).not.toBe(first.body.id);
  });

  test('make one run if many come at once in two processes', async () => {
    const id = await workflow({ debounce: { seconds: 2 } });
    const another = callerOf(await engine.startAnother());
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        (n % 2 === 0 ? call : another)('POST', `/api/workflows/${id}/runs`, { n }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers['debounce-joined'] === undefined)).toHaveLength(
      1,
    );
    const last = (await trigger(id, { n: 'last' })).body.id;
    const done = await engine.ended(last);
    expect([done.id, done.steps[0]?.output]).toEqual([answers[0]!.body.id, 'last']);
    expect(await runsOf(id)).toHaveLength(1);
  });

  test('do not move the start beyond max_seconds after the first', async () => {
    const id = await workflow({ debounce: { seconds: 1, max_seconds: 2 } });
    const first = (await trigger(id, { n: 0 })).body;
    const latest = untilOf(first) + 1_000;
    let n = 0;
    await eventually(async () => {
      n += 1;
      const { body } = await trigger(id, { n });
      if (body.id !== first.id) return true;
      expect(untilOf(body)).toBeLessThanOrEqual(latest + 1);
      return false;
    });
    const done = await engine.ended(first.id);
    expect(Date.parse(done.started_at!)).toBeGreaterThanOrEqual(latest - 5);
    expect(done.steps[0]?.output).toBe(n - 1);
  });

  test('change nothing if they are refused, and answer a repeated key with the run', async () => {
    const input_schema = { type: 'object', properties: { n: { type: 'integer' } } };
    const id = await workflow(long, undefined, { input_schema });
    const first = (await trigger(id, { n: 1 }, { 'idempotency-key': 'one' })).body;
    const joined = (await trigger(id, { n: 2 }, { 'idempotency-key': 'two' })).body;
    expect((await trigger(id, { n: 'x' })).status).toBe(400);
    const before = await runOf(first.id);
    expect([before.input, untilOf(before)]).toEqual([{ n: 2 }, untilOf(joined)]);
    for (const [key, n] of [
      ['one', 1],
      ['two', 2],
    ] as const) {
      const again = await trigger(id, { n }, { 'idempotency-key': key });
      expect([again.status, again.body.id]).toEqual([200, first.id]);
      expect(again.headers['idempotent-replayed']).toBe('true');
    }
    expect(await runOf(first.id)).toMatchObject({ input: { n: 2 }, queued: before.queued });
    expect((await trigger(id, { n: 3 }, { 'idempotency-key': 'two' })).status).toBe(422);
    await due(first.id);
    expect(await engine.ended(first.id)).toMatchObject({ status: 'success', input: { n: 2 } });
  });

  test('start the version that is current then, and fail with one that does not accept the input', async () => {
    const id = await workflow(long);
    const run = (await trigger(id, { n: 1 })).body.id;
    await call('PUT', `/api/workflows/${id}`, { graph: chain(echo('value', 'n + 10')) });
    await due(run);
    const done = await engine.ended(run);
    expect([done.workflow_version, done.steps[0]?.output]).toEqual([2, 11]);
    const refused = (await trigger(id, { n: 1 })).body.id;
    const input_schema = { type: 'object', properties: { n: { type: 'string' } } };
    await call('PUT', `/api/workflows/${id}`, { graph: chain(value), input_schema });
    await due(refused);
    const failed = await engine.ended(refused);
    expect(failed).toMatchObject({ status: 'failed', steps: [] });
    expect(failed.error).toMatch(/^The run could not start: /);
  });

  test('come from webhooks, schedules and event triggers as well', async () => {
    const id = await workflow(long);
    const run = (await trigger(id, { n: 1 })).body.id;
    const { url } = (await call('POST', `/api/workflows/${id}/webhook`, {})).body;
    await call('PUT', `/api/workflows/${id}/webhook/config`, { dedup_window_seconds: 60 });
    const hook = async () => call('POST', new URL(url).pathname, { n: 2, event_id: 'e1' });
    expect(await hook()).toMatchObject({ status: 201, body: { run_id: run, status: 'pending' } });
    expect((await hook()).body).toMatchObject({ run_id: run, status: 'duplicate' });
    expect(await runOf(run)).toMatchObject({ input: { n: 2 } });
    await eventually(async () => {
      const { events } = (await call('GET', `/api/workflows/${id}/inbound-events`)).body;
      return events.length === 2 && events.every((event: Run) => event.run_id === run);
    });
    const timed = { workflow_id: id, cron: '0 0 1 1 *', input: { n: 3 } };
    const schedule = (await call('POST', '/api/schedules', timed)).body.id;
    expect((await call('POST', `/api/schedules/${schedule}/trigger`)).body.id).toBe(run);
    expect((await call('POST', `/api/schedules/${schedule}/trigger`)).body.id).toBe(run);
    const tick = {
      ...{ actor: { ...engine.actor, id: null }, workflowId: id, trigger: 'schedule' as const },
      ...{ input: { n: 3 }, schedule: { id: schedule, dueAt: '2026-01-01T00:00:00.000Z' } },
    };
    expect((await triggerRun(engine.deps, tick)).runId).toBe(run);
    // Another attempt at the same time finds the run.
    await expect(triggerRun(engine.deps, tick)).rejects.toThrow();
    const { workspaceId } = engine.actor;
    const at = { workspaceId, scheduleId: schedule, dueAt: tick.schedule.dueAt };
    expect(await readForTick(engine.db, at)).toMatchObject({ run_id: run });
    expect(await runOf(run)).toMatchObject({ input: { n: 3 } });
    await call('POST', `/api/workflows/${id}/triggers`, { event: 'order.changed' });
    await call('POST', '/api/events', { name: 'order.changed', data: { n: 4 } });
    await eventually(async () => JSON.stringify((await runOf(run)).input) === '{"n":4}');
    expect(await runsOf(id)).toHaveLength(1);
    await due(run);
    expect((await engine.ended(run)).steps[0]?.output).toBe(4);
  });

  test('do not share a run if they ask for one of their own', async () => {
    const id = await workflow(long);
    const run = (await trigger(id, { n: 1 })).body.id;
    await call('PUT', `/api/workflows/${id}/draft`, { graph: chain(value) });
    const draft = await call('POST', `/api/workflows/${id}/runs?draft=true`, { n: 5 });
    expect(draft.body).toMatchObject({ queued: null });
    const rerun = (await call('POST', `/api/runs/${draft.body.id}/rerun`, {})).body;
    expect((rerun.run ?? rerun).id).not.toBe(run);
    const { body: parent } = await call('POST', '/api/workflows', {
      name: 'parent',
      graph: chain({ id: 'sub', kind: 'workflow', workflow: id, input: { n: 6 } }),
    });
    const above = (await call('POST', `/api/workflows/${parent.id}/runs`, {})).body.id;
    expect(await engine.ended(above)).toMatchObject({ status: 'success' });
    expect(await runOf(run)).toMatchObject({ status: 'pending', input: { n: 1 } });
  });

  test('can be cancelled, and are seen in the queues', async () => {
    const id = await workflow({ debounce: { seconds: 600, key: '{k}' } });
    const run = (await trigger(id, { k: 'a', n: 1 })).body;
    const [queue] = (await call('GET', `/api/queues?workflow_id=${id}`)).body;
    expect(queue).toMatchObject({
      ...{ for: 'debounce', key: 'a', limit: null, in_flight: [], waiting_count: 1 },
      waiting: [{ run_id: run.id, position: 1, status: 'pending' }],
    });
    expect(Date.parse(queue.waiting[0].until)).toBe(untilOf(run));
    await call('POST', `/api/runs/${run.id}/cancel`);
    expect(await runOf(run.id)).toMatchObject({ status: 'failed', queued: null });
    expect((await call('GET', `/api/queues?workflow_id=${id}`)).body).toEqual([]);
    expect((await trigger(id, { k: 'a', n: 2 })).body.id).not.toBe(run.id);
  });

  test('are all starters: none of them decides a gate that is not for the starter', async () => {
    const gate = {
      id: 'ok',
      kind: 'human_gate',
      prompt: 'Fine?',
      not_the_starter: true,
    };
    const id = await workflow(long, chain(gate));
    const run = (await trigger(id)).body.id;
    await engine.db.query(
      sql.type(z.object({}))`UPDATE runs SET starters = '{usr_first}' WHERE id = ${run}`,
    );
    await trigger(id);
    const starters = await engine.db.oneFirst(sql.type(z.object({ starters: z.array(z.string()) }))`
      SELECT starters FROM runs WHERE id = ${run}`);
    expect(starters).toEqual([engine.actor.id, 'usr_first'].toSorted());
    await due(run);
    await engine.until(run, ['paused']);
    expect((await call('POST', `/api/runs/${run}/approve`, {})).status).toBe(403);
  });
});

test('a run whose time has come is under the other limits, and waits also with reject', async () => {
  const gate = { id: 'ok', kind: 'human_gate', prompt: 'Fine?' };
  const limits = { concurrency: { limit: 1, key: '{c}', on_limit: 'reject' }, ...long };
  const id = await workflow({ concurrency: limits.concurrency }, chain(gate));
  const holder = (await trigger(id, { c: 'x' })).body.id;
  await call('PUT', `/api/workflows/${id}/limits`, limits);
  const run = (await trigger(id, { c: 'y' })).body.id;
  await trigger(id, { c: 'x' });
  // Without a debounce, it keeps its time.
  await call('PUT', `/api/workflows/${id}/limits`, { concurrency: limits.concurrency });
  expect((await runOf(run)).queued).toMatchObject({ for: 'debounce' });
  await due(run);
  await eventually(async () => (await runOf(run)).queued?.for === 'concurrency');
  expect((await runOf(run)).queued).toMatchObject({ key: 'x', position: 1, until: null });
  await call('POST', `/api/runs/${holder}/cancel`);
  await engine.until(run, ['paused']);
});

test('the settings refuse a maximum below the seconds', async () => {
  const id = await workflow(long);
  const put = async (debounce: object) =>
    (await call('PUT', `/api/workflows/${id}/limits`, { debounce })).body.detail;
  expect(await put({ seconds: 5, max_seconds: 2 })).toMatch(/^Invalid body: debounce\.max_seconds/);
  expect(await put({ seconds: 0.05 })).toMatch(/^Invalid body: debounce\.seconds/);
  expect(await put({ seconds: 0.1 })).toBeUndefined();
});

test('a run that waits starts after all processes were restarted', async () => {
  const id = await workflow({ debounce: { seconds: 0.5 } });
  await worker.stop();
  const first = (await trigger(id, { n: 1 })).body;
  await eventually(() => Date.now() > untilOf(first) + 300);
  expect(await runOf(first.id)).toMatchObject({ status: 'pending', queued: { for: 'debounce' } });
  const later = (
    await callerOf(await engine.startAnother())('POST', `/api/workflows/${id}/runs`, { n: 2 })
  ).body;
  expect(later.id).toBe(first.id);
  worker = await engine.startWorker();
  expect((await engine.ended(first.id)).steps[0]?.output).toBe(2);
});
