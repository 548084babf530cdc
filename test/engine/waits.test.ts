import { describe, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from '#shared/db/pool.ts';
import type { Graph } from '#shared/contract/workflows/graph.ts';
import { sendEvent } from '#shared/operations/events/events.ts';
import type { Json } from '#shared/json.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';

const engine = useEngine();

const wait = (fields: object, id = 'w') => ({ id, kind: 'wait', ...fields }) as never;

const send = (name: string, data: Json, givenId?: string) =>
  sendEvent(engine.deps, {
    ...{ workspaceId: engine.actor.workspaceId, name, data, givenId, source: 'api' },
    by: { id: engine.actor.id, name: engine.actor.name },
  });

const openWaits = (runId: string) =>
  engine.db.anyFirst(sql.unsafe`
    SELECT step_key FROM run_waits WHERE run_id = ${runId} AND status = 'open' ORDER BY step_key`);

const whenWaiting = (runId: string, count = 1) =>
  eventually(async () => (await openWaits(runId)).length === count);

describe('a wait for a time', () => {
  test('ends after its seconds, and what follows sees its output', async () => {
    const runId = await engine.start(chain(wait({ seconds: '{pause}' }), echo('b', 'w')), {
      pause: 0.2,
    });
    const run = await engine.until(runId, ['success']);
    expect(run.state).toMatchObject({ w: {} });
    const step = run.steps.find(({ step_key: key }) => key === 'w')!;
    expect([step.status, step.duration_ms! >= 190]).toEqual(['success', true]);
  });

  test('ends at once when the time is past', async () => {
    const runId = await engine.start(chain(wait({ until: '{day}' })), { day: '2020-01-31' });
    await engine.until(runId, ['success']);
  });

  test('fails with what is wrong when the template gives no time', async () => {
    const runId = await engine.start(chain(wait({ until: '{day}' })), { day: 'tomorrow' });
    const { error } = await engine.until(runId, ['failed']);
    expect(error).toContain(
      'until must be an ISO time such as 2027-01-31T09:00:00Z, not "tomorrow"',
    );
  });
});

/** What its execution did, as the names of the attributes of its events. */
async function historyOf(runId: string): Promise<string[]> {
  const { events } = await engine.deps.temporal.client.workflow.getHandle(runId).fetchHistory();
  return (events ?? []).flatMap((event) =>
    Object.keys(event).filter((key) => key.endsWith('Attributes')),
  );
}

const atRest = (runId: string) =>
  eventually(
    async () =>
      (await engine.db.oneFirst(sql.unsafe`SELECT at_rest FROM runs WHERE id = ${runId}`)) === true,
  );

describe('the clocks of a run', () => {
  const HOUR_MS = 3_600_000;

  /** Lets an hour pass, as the database sees it. */
  const hour = (runId: string) =>
    engine.db.query(sql.unsafe`
      UPDATE runs SET phase_since = phase_since - interval '1 hour' WHERE id = ${runId}`);

  test('count a wait as waiting, whether it is open or has ended', async () => {
    const runId = await engine.start(
      chain(echo('a', '1'), wait({ event: { name: 'paid' } }), echo('b')),
    );
    await atRest(runId);
    await hour(runId);
    const open = await engine.run(runId);
    expect(open.waiting_ms).toBeGreaterThanOrEqual(HOUR_MS);
    expect(open.duration_ms).toBeLessThan(HOUR_MS);
    await send('paid', 1);
    const ended = await engine.until(runId, ['success']);
    expect(ended.waiting_ms).toBeGreaterThanOrEqual(HOUR_MS);
    expect(ended.duration_ms).toBeLessThan(HOUR_MS);
  });

  test('count the work beside a wait as active, and only the rest as waiting', async () => {
    const runId = await engine.start({
      nodes: [wait({ event: { name: 'paid' } }), mock('d', { delay_ms: 500 }), echo('b', 'w')],
      edges: [edge('w', 'b')],
    } as Graph);
    await whenWaiting(runId);
    expect(await engine.db.oneFirst(sql.unsafe`SELECT at_rest FROM runs WHERE id = ${runId}`)).toBe(
      false,
    );
    await atRest(runId);
    const { duration_ms: worked } = await engine.run(runId);
    expect(worked).toBeGreaterThanOrEqual(500);
    await hour(runId);
    await send('paid', 1);
    const run = await engine.until(runId, ['success']);
    expect([run.waiting_ms >= HOUR_MS, run.duration_ms < HOUR_MS]).toEqual([true, true]);
  });

  test('count as waiting what a cancelled run had waited', async () => {
    const runId = await engine.start(chain(wait({ event: { name: 'paid' } })));
    await atRest(runId);
    await hour(runId);
    await engine.cancel(runId);
    const run = await engine.until(runId, ['failed']);
    expect([run.waiting_ms >= HOUR_MS, run.duration_ms < HOUR_MS]).toEqual([true, true]);
  });
});

test('a callback has no address without a key of the service', async () => {
  const params = { url: 'http://127.0.0.1:9/', query: { to: '{callbacks.w}' } };
  const ask = { id: 'ask', kind: 'tool', tool_name: 'http_request', params };
  const runId = await engine.start(chain(ask, wait({ callback: true })));
  const { error } = await engine.until(runId, ['failed']);
  expect(error).toContain(
    "There is no ENCRYPTION_KEY for the address of the callback 'w': set it, and resume the run",
  );
});

describe('a wait for an event', () => {
  const paid = { event: { name: 'invoice.paid', match: 'event.data.invoice == invoice' } };

  test('ends with the first event that matches, which is its output', async () => {
    const runId = await engine.start(chain(wait(paid)), { invoice: 'A-1' });
    await whenWaiting(runId);
    await send('invoice.paid', { invoice: 'A-2' });
    await send('invoice.sent', { invoice: 'A-1' });
    const { event } = await send('invoice.paid', { invoice: 'A-1', amount: 3 });
    const run = await engine.until(runId, ['success']);
    expect(run.output).toMatchObject({
      w: { id: event.id, name: 'invoice.paid', data: { invoice: 'A-1', amount: 3 } },
    });
  });

  test('does nothing until then', async () => {
    const runId = await engine.start(chain(wait(paid)), { invoice: 'A-9' });
    await atRest(runId);
    // The result of the last call follows the task that made it.
    await eventually(
      async () => (await historyOf(runId)).at(-1) === 'markerRecordedEventAttributes',
    );
    const before = await historyOf(runId);
    await sleep(500);
    expect(await historyOf(runId)).toEqual(before);
    expect(before).not.toContain('timerStartedEventAttributes');
    await send('invoice.paid', { invoice: 'A-9' });
    await engine.until(runId, ['success']);
  });

  test('takes an event that came before it, but after the run was created', async () => {
    await send('invoice.paid', { invoice: 'B-1', before: true });
    const runId = await engine.start(chain(wait({ seconds: 0.3 }, 'first'), wait(paid)), {
      invoice: 'B-1',
    });
    await whenWaiting(runId);
    await send('invoice.paid', { invoice: 'B-1', early: true });
    const run = await engine.until(runId, ['success']);
    expect(run.output).toMatchObject({ w: { data: { early: true } } });
  });

  test('fails when its time runs out, and a resume gives it another deadline', async () => {
    const runId = await engine.start(chain(wait({ ...paid, timeout_seconds: 0.2 })), {
      invoice: 'C-1',
    });
    const { error } = await engine.until(runId, ['failed']);
    expect(error).toBe("Node 'w' failed: Nothing came within 0.2 s for 'w'");
    await send('invoice.paid', { invoice: 'C-1' });
    await engine.resume(runId);
    await engine.until(runId, ['success']);
  });

  test("follows its 'false' edge when its time runs out, if it is to continue", async () => {
    const runId = await engine.start({
      nodes: [
        wait({ ...paid, timeout_seconds: 0.1, on_timeout: 'continue' }),
        echo('came', '1'),
        echo('late', '2'),
      ],
      edges: [edge('w', 'came', 'true'), edge('w', 'late', 'false')],
    } as Graph);
    const run = await engine.until(runId, ['success']);
    expect(run.state).toMatchObject({ w: null, late: 2 });
    expect(run.state).not.toHaveProperty('came');
  });

  test('leaves each iteration of a loop an event of its own', async () => {
    const runId = await engine.start({
      nodes: [
        { id: 'l', kind: 'loop', expression: 'l.iterations < 2', max_iterations: 5 },
        wait({ event: { name: 'ticked' } }),
      ],
      edges: [edge('l', 'w', 'true'), edge('w', 'l')],
    } as Graph);
    await whenWaiting(runId);
    await send('ticked', 1);
    await send('ticked', 2);
    const run = await engine.until(runId, ['success']);
    const came = run.steps.filter(({ node_id: id }) => id === 'w').map(({ output }) => output);
    expect(came).toMatchObject([{ data: 1 }, { data: 2 }]);
  });

  test('ends with the first of several events, also for every item of a map', async () => {
    const any = [{ name: 'a.came' }, { name: 'b.came', match: 'event.data == m.item' }];
    const runId = await engine.start({
      nodes: [{ id: 'm', kind: 'map', items: '[1, 2, 3]', concurrency: 3 }, wait({ any })],
      edges: [edge('m', 'w', 'true'), edge('w', 'm')],
    } as Graph);
    await whenWaiting(runId, 3);
    await send('b.came', 2);
    await whenWaiting(runId, 2);
    await send('a.came', null);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toMatchObject({ m: [{ name: 'a.came' }, { data: 2 }, { name: 'a.came' }] });
  });

  test('continues beside a gate, which pauses the run', async () => {
    const runId = await engine.start(
      {
        nodes: [{ id: 'g', kind: 'human_gate', prompt: '?' }, wait(paid), echo('b', 'w.data.n')],
        edges: [edge('w', 'b')],
      } as Graph,
      { invoice: 'D-1' },
    );
    await engine.until(runId, ['paused']);
    await send('invoice.paid', { invoice: 'D-1', n: 7 });
    await eventually(async () => {
      const run = await engine.until(runId, ['paused']);
      return run.steps.some(({ step_key: key, status }) => key === 'b' && status === 'success');
    });
    await engine.decide(runId, { approved: true });
    expect((await engine.until(runId, ['success'])).state).toMatchObject({ b: 7 });
  });

  test('waits again after a cancel and a resume, for what came in the meantime too', async () => {
    const runId = await engine.start(chain(wait(paid)), { invoice: 'E-1' });
    await whenWaiting(runId);
    await engine.cancel(runId);
    await engine.until(runId, ['failed']);
    expect(await openWaits(runId)).toEqual([]);
    await send('invoice.paid', { invoice: 'E-1' });
    await engine.resume(runId);
    await engine.until(runId, ['success']);
  });

  test('an id stores an event once', async () => {
    const first = await send('invoice.paid', { invoice: 'F-1' }, 'once');
    const again = await send('invoice.paid', { invoice: 'F-1' }, 'once');
    expect([again.created, again.event.id]).toEqual([false, first.event.id]);
    await expect(send('invoice.paid', { invoice: 'F-2' }, 'once')).rejects.toMatchObject({
      code: 'idempotency_mismatch',
    });
  });
});
