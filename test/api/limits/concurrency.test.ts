import { describe, expect, test } from '@jest/globals';
import { WorkflowNotFoundError } from '@temporalio/client';
import { z } from 'zod';
import type { Run } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, echo, eventually, mock } from '#test/support/engine.ts';
import { patiently } from '#test/support/patience.ts';
import { logPlaces, mostInFlight, placeLog } from '#test/support/place-log.ts';

const { engine, call } = useEngineApi();

const gate = { id: 'ok', kind: 'human_gate', prompt: 'Go on?' };
const waiting = chain(gate);
const workflow = async (limits: object, graph: object = waiting, rest = {}): Promise<string> => {
  const { body } = await call('POST', '/api/workflows', { name: 'limited', graph, ...rest });
  const set = await call('PUT', `/api/workflows/${body.id}/limits`, limits);
  expect(set.status).toBe(200);
  return body.id;
};
const trigger = async (id: string, input: object = {}) =>
  call('POST', `/api/workflows/${id}/runs`, input);
const runOf = async (id: string): Promise<Run> => (await call('GET', `/api/runs/${id}`)).body;
const approve = async (id: string) => call('POST', `/api/runs/${id}/approve`, {});
const one = { concurrency: { limit: 1 } };

describe('a run beyond the limit of its workflow', () => {
  test('is named with its deadlock, if runs of two workflows wait for each other', async () => {
    const calling = (name: string) => ({
      nodes: [gate, { id: 'next', kind: 'workflow', workflow: name, input: {} }],
      edges: [{ source: 'ok', target: 'next' }],
    });
    const b = await workflow(one, waiting, { name: 'Deadlock B' });
    const a = await workflow(one, calling('Deadlock B'), { name: 'Deadlock A' });
    const change = async (id: string, graph: object): Promise<void> => {
      expect((await call('PUT', `/api/workflows/${id}`, { graph })).status).toBe(200);
    };
    // No version calls itself. But a run keeps its own, while the other workflow changes.
    const runs = [(await trigger(a)).body.id];
    await change(a, waiting);
    await change(b, calling('Deadlock A'));
    runs.push((await trigger(b)).body.id);
    for (const id of runs) await engine.until(id, ['paused']);
    const stuck = async (): Promise<boolean[]> =>
      (await call('GET', '/api/queues')).body.flatMap(({ workflow_id, waiting: queued }: any) =>
        [a, b].includes(workflow_id) ? queued.map((run: any) => run.deadlocked) : [],
      );
    await approve(runs[0]);
    await eventually(async () => (await stuck()).length === 1);
    expect(await stuck()).toEqual([false]);
    await approve(runs[1]);
    await eventually(async () => (await stuck()).length === 2);
    expect(await stuck()).toEqual([true, true]);
    expect((await call('POST', `/api/runs/${runs[1]}/cancel`)).status).toBe(200);
    await eventually(async () => (await stuck()).length === 0);
  });

  test('waits in its queue, without an execution, and starts when a slot is free', async () => {
    const id = await workflow({ concurrency: { limit: 2, key: '{customer}' } });
    const acme = { customer: 'acme' };
    const running = [await trigger(id, acme), await trigger(id, acme)];
    const other = await trigger(id, { customer: 'other' });
    expect([...running, other].map(({ body }) => body.queued)).toEqual([null, null, null]);
    const first = await trigger(id, acme);
    const second = await trigger(id, acme);
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      status: 'pending',
      queued: { for: 'concurrency', key: 'acme', position: 1, length: 1 },
    });
    expect(second.body.queued).toEqual({
      ...{ for: 'concurrency', key: 'acme', position: 2, length: 2, until: null },
    });
    const { runs } = (await call('GET', `/api/runs?workflow_id=${id}&status=pending`)).body;
    expect(runs.map((run: Run) => run.queued?.position)).toEqual([2, 1]);
    await expect(
      engine.deps.temporal.client.workflow.getHandle(first.body.id).describe(),
    ).rejects.toThrow(WorkflowNotFoundError);
    for (const { body } of [...running, other]) await engine.until(body.id, ['paused']);
    await approve(running[1]!.body.id);
    const started = await engine.until(first.body.id, ['paused']);
    expect(started).toMatchObject({ queued: null });
    expect(started.waiting_ms).toBeGreaterThan(0);
    expect((await runOf(second.body.id)).queued).toMatchObject({ position: 1, length: 1 });
    await approve(running[0]!.body.id);
    await engine.until(second.body.id, ['paused']);
  });

  test('can be cancelled: its hold is released, and its place in the quota stays', async () => {
    const id = await workflow(one);
    const budget = { name: 'b', limit_usd: 10, window: 'day', scope: 'workflow', workflow_id: id };
    const made = await call('POST', '/api/budgets', { ...budget, reservation_estimate_usd: 1 });
    expect(made.status).toBe(201);
    const running = (await trigger(id)).body.id;
    const queued = [(await trigger(id)).body.id, (await trigger(id)).body.id];
    const counted = await countedRuns();
    const held = async () =>
      engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*)::int AS n FROM budget_holds
        WHERE status = 'open' AND run_id = ANY(${sql.array([running, ...queued], 'text')})`);
    expect(await held()).toBe(3);
    const cancelled = await call('POST', `/api/runs/${queued[0]}/cancel`);
    expect(cancelled.body).toMatchObject({ status: 'failed', queued: null });
    expect([await held(), await countedRuns()]).toEqual([2, counted]);
    await engine.carriedOut(queued[0]!);
    expect((await runOf(queued[1]!)).queued).toMatchObject({ position: 1, length: 1 });
    // Cancelling the run in flight frees its slot, too.
    await call('POST', `/api/runs/${running}/cancel`);
    await engine.until(queued[1]!, ['paused']);
  });

  test('is refused with reject, and skipped with skip, without a trace', async () => {
    const id = await workflow({ concurrency: { limit: 1, on_limit: 'reject' } });
    await trigger(id);
    const before = await countedRuns();
    const refused = await trigger(id);
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      'One run of this workflow is in flight, which is its limit',
    ]);
    await call('PUT', `/api/workflows/${id}/limits`, {
      concurrency: { limit: 1, key: '{customer}', on_limit: 'skip' },
    });
    await trigger(id, { customer: 'x' });
    const skipped = await trigger(id, { customer: 'x' });
    expect([skipped.status, skipped.body]).toEqual([
      200,
      {
        run_id: null,
        status: 'skipped',
        detail: "One run of this workflow with the key 'x' is in flight, which is its limit",
      },
    ]);
    expect(await countedRuns()).toBe(before + 1);
  });

  test('waits after a resume, and is not taken for lost', async () => {
    const id = await workflow(one, chain(gate, mock('bad', { fail_times: 9 })));
    const failed = (await trigger(id)).body.id;
    await engine.until(failed, ['paused']);
    await approve(failed);
    await engine.until(failed, ['failed']);
    const holder = (await trigger(id)).body.id;
    await engine.until(holder, ['paused']);
    const resumed = await call('POST', `/api/runs/${failed}/resume`);
    expect(resumed.body).toMatchObject({
      status: 'running',
      queued: { for: 'concurrency', key: '', position: 1, length: 1, until: null },
    });
    // Longer than the time after which a run without an execution is settled.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(await runOf(failed)).toMatchObject({ status: 'running', queued: { position: 1 } });
    await call('POST', `/api/runs/${holder}/cancel`);
    const again = await engine.until(failed, ['failed']);
    expect([again.resumed_count, again.queued]).toEqual([1, null]);
    // Its slot is free again.
    const next = (await trigger(id)).body;
    expect(next.queued).toBeNull();
  });
});

test('the next run gets the slot within 100 ms of its being free', async () => {
  await logPlaces(engine.db);
  const id = await workflow(one, chain(echo('a')));
  const runs = await Promise.all(Array.from({ length: 20 }, () => trigger(id)));
  for (const { body } of runs) await engine.until(body.id, ['success']);
  const log = await placeLog(engine.db, id);
  expect(mostInFlight(log)).toBe(1);
  const left = log.filter(({ state }) => state === 'leaving');
  const taken = log.filter(({ state }) => state === 'holding').slice(1);
  const waits = taken.map(({ at_ms }, at) => at_ms - left[at]!.at_ms).sort((a, b) => a - b);
  expect(waits).toHaveLength(19);
  expect(waits[17]).toBeLessThan(patiently(100));
});

const countedRuns = async (): Promise<number> =>
  engine.db.oneFirst(sql.type(z.object({ runs: z.number() }))`
    SELECT coalesce(sum(runs), 0)::int AS runs FROM run_counters`);

describe('the limit holds', () => {
  test('for drafts, versions, reruns and forks, but not for rehearsals and tests of nodes', async () => {
    const id = await workflow(one, chain(echo('a'), gate));
    const first = (await trigger(id)).body.id;
    await engine.until(first, ['paused']);
    await call('PUT', `/api/workflows/${id}/draft`, { graph: chain(echo('b'), gate) });
    const draft = await call('POST', `/api/workflows/${id}/runs?draft=true`, {});
    const rerun = await call('POST', `/api/runs/${first}/rerun`, {});
    const fork = await call('POST', `/api/runs/${first}/fork`, { from_step: 'ok' });
    expect([draft.status, rerun.status, fork.status]).toEqual([201, 201, 201]);
    expect([draft, rerun, fork].map(({ body }) => (body.run ?? body).queued?.position)).toEqual([
      1, 2, 3,
    ]);
    const rehearsal = await call('POST', `/api/runs/${first}/rerun`, { mode: 'recorded' });
    expect((rehearsal.body.run ?? rehearsal.body).queued).toBeNull();
    const tested = await call('POST', `/api/workflows/${id}/nodes/a/test`, { run_id: first });
    expect(tested.body).toMatchObject({ status: 'success' });
  });

  test('for webhooks, schedules and event triggers, whose refusals are shown', async () => {
    const id = await workflow({ concurrency: { limit: 1, on_limit: 'reject' } });
    await trigger(id);
    const full = 'One run of this workflow is in flight, which is its limit';
    const { url } = (await call('POST', `/api/workflows/${id}/webhook`, {})).body;
    const path = new URL(url).pathname;
    expect(await call('POST', path, {})).toMatchObject({ status: 409, body: { detail: full } });
    const schedule = (
      await call('POST', '/api/schedules', { workflow_id: id, cron: '* * * * *', overlap: 'allow' })
    ).body;
    const { body: now } = await call('POST', `/api/schedules/${schedule.id}/trigger`);
    expect(now.detail).toBe(full);
    const { id: triggerId } = (
      await call('POST', `/api/workflows/${id}/triggers`, { event: 'order.placed' })
    ).body;
    await call('POST', '/api/events', { name: 'order.placed' });
    await eventually(async () => {
      const { last_skip } = (await call('GET', `/api/triggers/${triggerId}`)).body;
      return last_skip?.reason === full;
    });
    await call('PUT', `/api/workflows/${id}/limits`, {
      concurrency: { limit: 1, on_limit: 'skip' },
    });
    const placed = (await call('POST', '/api/events', { name: 'order.placed' })).body.id;
    await eventually(async () => {
      const { last_skip } = (await call('GET', `/api/triggers/${triggerId}`)).body;
      return last_skip?.event_id === placed && last_skip.reason === full;
    });
    // Not refused by the earlier definition: the key is the same.
    const skipped = await call('POST', path, { id: 2 });
    expect([skipped.status, skipped.body]).toEqual([
      200,
      { run_id: null, status: 'skipped', detail: full },
    ]);
    await eventually(async () => {
      const { events } = (await call('GET', `/api/workflows/${id}/inbound-events`)).body;
      const shown = events.map((event: { status: number; reason: string }) => [
        event.status,
        event.reason,
      ]);
      return JSON.stringify(shown) === '[[200,"limit_reached"],[409,"limit_reached"]]';
    });
  });

  test('for children: one that needs the slot of a run above it fails at once', async () => {
    const { body } = await call('POST', '/api/workflows', {
      name: 'self',
      graph: chain(echo('a')),
    });
    const graph = chain({ id: 'sub', kind: 'workflow', workflow: body.id, version: 1 });
    expect((await call('PUT', `/api/workflows/${body.id}`, { graph })).status).toBe(200);
    const set = await call('PUT', `/api/workflows/${body.id}/limits`, one);
    expect(set.body.warnings).toEqual([
      'The workflow starts runs of itself, and a run that holds the only slot cannot start another one: that step fails',
    ]);
    const { warnings } = (await call('POST', `/api/workflows/${body.id}/validate`)).body;
    expect(warnings.map(({ code }: { code: string }) => code)).toContain('limit_calls_itself');
    const run = await engine.ended((await trigger(body.id)).body.id);
    expect(run.error).toContain(
      'One run of this workflow is in flight, which is its limit, and a run above this one is one of them',
    );
    expect(run.steps[0]).toMatchObject({ status: 'failed', error_kind: 'child' });
  });
});

describe('the settings', () => {
  test('refuse what cannot work, in a sentence', async () => {
    const { body } = await call('POST', '/api/workflows', {
      ...{ name: 'strict', graph: waiting },
      input_schema: {
        ...{ type: 'object', additionalProperties: false },
        properties: { customer: { type: 'string' } },
      },
    });
    const put = async (concurrency: unknown) =>
      (await call('PUT', `/api/workflows/${body.id}/limits`, { concurrency })).body.detail;
    expect(await put({ limit: 0 })).toMatch(/^Invalid body: concurrency\.limit/);
    expect(await put({ limit: 1, key: '{client}' })).toBe(
      "Invalid body: concurrency.key reads '{client}', but the input of the workflow has only customer",
    );
    expect(await put({ limit: 1, key: '{customer}' })).toBeUndefined();
    expect((await trigger(body.id, {})).body.detail).toMatch(
      /^The key of the limit 'concurrency' cannot be filled in: .*customer/,
    );
    expect((await trigger(body.id, { customer: 'x'.repeat(201) })).body.detail).toBe(
      "The key of the limit 'concurrency' has 201 characters with this input; it can have 200",
    );
    expect((await trigger(body.id, { customer: 'x'.repeat(200) })).status).toBe(201);
  });

  test('change only the state that the caller has read, with one audit entry', async () => {
    const id = await workflow(one);
    const read = await call('GET', `/api/workflows/${id}/limits`);
    const tag = { 'if-match': String(read.headers['etag']) };
    const two = { concurrency: { limit: 2 } };
    const url = `/api/workflows/${id}/limits`;
    expect((await call('PUT', url, two, tag)).status).toBe(200);
    expect((await call('PUT', url, one, tag)).status).toBe(412);
    expect((await call('PUT', url, two)).status).toBe(200);
    const { logs } = (await call('GET', `/api/audit?action=limits_update&target_id=${id}`)).body;
    expect(logs).toHaveLength(2);
    expect(logs[0].details).toMatchObject({
      from: { concurrency: { limit: 1 } },
      to: { concurrency: { limit: 2 } },
    });
  });

  test('start those that wait when they are raised or removed', async () => {
    const id = await workflow(one);
    const runs = [];
    for (let n = 0; n < 4; n += 1) runs.push((await trigger(id)).body.id);
    await call('PUT', `/api/workflows/${id}/limits`, { concurrency: { limit: 2 } });
    await engine.until(runs[1], ['paused']);
    expect((await runOf(runs[2])).queued).toMatchObject({ position: 1, length: 2 });
    await call('PUT', `/api/workflows/${id}/limits`, { concurrency: null });
    for (const run of runs) await engine.until(run, ['paused']);
  });
});
