import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Run } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, echo, edge, eventually, mock } from '#test/support/engine.ts';
import { logPlaces, mostInFlight, placeLog } from '#test/support/place-log.ts';

const { engine, call } = useEngineApi();
beforeAll(() => logPlaces(engine.db));

const gate = { id: 'ok', kind: 'human_gate', prompt: 'Continue?' };
const hold = { id: 'hold', kind: 'wait', event: { name: 'let.go' } };

/** With `hold` in its input, a run waits for an event, and so holds its slot. Otherwise it executes the graph. */
const orHold = (
  first: string,
  { nodes = [], edges = [] }: { nodes?: object[]; edges?: object[] },
) => ({
  nodes: [{ id: 'which', kind: 'condition', expression: 'hold' }, hold, ...nodes],
  edges: [edge('which', 'hold', 'true'), edge('which', first, 'false'), ...edges],
});
const asked = orHold('ok', chain(gate, echo('after')));

const workflow = async (graph: object = asked, concurrency: object = {}, rest: object = {}) => {
  const { body } = await call('POST', '/api/workflows', { name: 'paused', graph });
  const limits = { concurrency: { limit: 1, hold_while_paused: false, ...concurrency }, ...rest };
  const set = await call('PUT', `/api/workflows/${body.id}/limits`, limits);
  expect([set.status, set.body.detail]).toEqual([200, undefined]);
  return body.id as string;
};
const trigger = async (id: string, input: object = {}): Promise<string> =>
  (await call('POST', `/api/workflows/${id}/runs`, { hold: false, ...input })).body.id;
const holder = async (id: string): Promise<string> => {
  const run = await trigger(id, { hold: true });
  await eventually(async () => (await runOf(run)).waiting?.length === 1);
  return run;
};
const runOf = async (id: string): Promise<Run> => (await call('GET', `/api/runs/${id}`)).body;
const decide = async (id: string, body: object = {}) =>
  expect((await call('POST', `/api/runs/${id}/approve`, body)).status).toBe(200);
const cancel = async (id: string) =>
  expect((await call('POST', `/api/runs/${id}/cancel`)).status).toBe(200);
const queued = async (id: string, position = 1): Promise<void> =>
  eventually(async () => {
    const run = await runOf(id);
    return run.status === 'running' && run.queued?.position === position;
  });

describe('a run that gives up its slot while it is paused', () => {
  test('lets others run, and continues by its place in the order of the triggers', async () => {
    const id = await workflow();
    const first = await trigger(id);
    await engine.until(first, ['paused']);
    const second = await trigger(id);
    await engine.until(second, ['paused']);
    const holds = await holder(id);
    const newer = await trigger(id);
    expect((await runOf(newer)).queued).toMatchObject({ position: 1, length: 1 });
    await decide(second);
    await decide(first);
    await queued(first, 1);
    await queued(second, 2);
    expect((await runOf(newer)).queued).toMatchObject({ position: 3, length: 3 });
    const [queue] = (await call('GET', `/api/queues?workflow_id=${id}`)).body;
    expect(queue.in_flight).toMatchObject([{ run_id: holds }]);
    expect(queue.waiting).toMatchObject([
      { run_id: first, status: 'running' },
      { run_id: second, status: 'running' },
      { run_id: newer, status: 'pending' },
    ]);
    // Longer than the time after which a run without an execution is settled.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await runOf(first)).steps.map(({ node_id }) => node_id)).not.toContain('after');
    await cancel(holds);
    for (const run of [first, second]) {
      expect(await engine.ended(run)).toMatchObject({ status: 'success', queued: null });
    }
    await engine.until(newer, ['paused']);
    const log = await placeLog(engine.db, id);
    expect(mostInFlight(log)).toBe(1);
    const took = log.filter(({ state }) => state === 'holding').map(({ run_id }) => run_id);
    expect(took).toEqual([first, second, holds, first, second, newer]);
  });

  test('keeps it by default, and a run with only waits always does', async () => {
    const id = await workflow(asked, { hold_while_paused: true });
    const first = await trigger(id);
    await engine.until(first, ['paused']);
    const second = await trigger(id);
    expect((await runOf(second)).queued).toMatchObject({ position: 1 });
    await decide(first);
    await engine.until(second, ['paused']);
    const waits = await workflow();
    await holder(waits);
    expect((await runOf(await trigger(waits))).queued).toMatchObject({ position: 1 });
  });

  test('continues with all decisions that came in the meantime', async () => {
    const other = { id: 'too', kind: 'human_gate', prompt: 'This, too?' };
    const graph = {
      nodes: [echo('start'), gate, other, echo('after'), echo('last')],
      edges: [edge('start', 'ok'), edge('start', 'too'), edge('ok', 'after'), edge('too', 'last')],
    };
    const id = await workflow(orHold('start', graph));
    const run = await trigger(id);
    await engine.until(run, ['paused']);
    const holds = await holder(id);
    await decide(run, { node_id: 'ok' });
    await queued(run);
    await decide(run, { node_id: 'too' });
    await queued(run);
    await cancel(holds);
    expect(await engine.ended(run)).toMatchObject({ status: 'success' });
  });

  test('pauses again with the other gates, while its slot goes to the next', async () => {
    const other = { id: 'too', kind: 'human_gate', prompt: 'This, too?' };
    const graph = {
      nodes: [echo('start'), gate, other, echo('after')],
      edges: [edge('start', 'ok'), edge('start', 'too'), edge('ok', 'after')],
    };
    const id = await workflow(orHold('start', graph));
    const run = await trigger(id);
    await engine.until(run, ['paused']);
    const holds = await holder(id);
    const next = await trigger(id);
    await decide(run, { node_id: 'ok' });
    await queued(run);
    await cancel(holds);
    await engine.until(next, ['paused']);
    const again = await engine.until(run, ['paused']);
    expect(again.steps.find(({ node_id }) => node_id === 'after')).toMatchObject({
      status: 'success',
    });
  });

  test('needs one after a deadline, a wait and the end of a child as well', async () => {
    const child = (
      await call('POST', '/api/workflows', { name: 'asked child', graph: chain(gate) })
    ).body.id;
    const timed = { ...gate, timeout_seconds: 1, on_timeout: 'approve' };
    const apart = { id: 'apart', kind: 'human_gate', prompt: 'Later?' };
    const wait = { id: 'w', kind: 'wait', event: { name: 'came.true' } };
    const calls = { id: 'sub', kind: 'workflow', workflow: child };
    const beside = (node: object & { id: string }) => ({
      nodes: [echo('start'), apart, node, echo('after')],
      edges: [edge('start', 'apart'), edge('start', node.id), edge(node.id, 'after')],
    });
    const runs: Record<string, string> = {};
    const holders: string[] = [];
    for (const node of [timed, wait, calls]) {
      const id = await workflow(orHold('start', beside(node)));
      const run = await trigger(id);
      runs[node.id] = run;
      await engine.until(run, ['paused']);
      holders.push(await holder(id));
    }
    await queued(runs['ok']!);
    await call('POST', '/api/events', { name: 'came.true' });
    await queued(runs['w']!);
    const sub = (await runOf(runs['sub']!)).steps.find(({ node_id }) => node_id === 'sub');
    await decide(sub!.child_run_id!);
    await queued(runs['sub']!);
    for (const run of Object.values(runs)) {
      const { steps } = await runOf(run);
      expect(steps.map(({ node_id }) => node_id)).not.toContain('after');
    }
    for (const run of holders) await cancel(run);
    for (const run of Object.values(runs)) {
      const { steps } = await engine.until(run, ['paused']);
      expect(steps.find(({ node_id }) => node_id === 'after')).toMatchObject({ status: 'success' });
    }
  });

  test('needs one for a step and an agent’s call that were approved', async () => {
    const step = {
      ...{ id: 'after', kind: 'tool', tool_name: 'http_request', approval: 'always' },
      params: { method: 'GET', url: `${engine.url}/api/health` },
    };
    const turns = [
      { calls: [{ tool: 'json_transform', arguments: { expression: '1' } }] },
      { output: 'done' },
    ];
    const agent = {
      ...{ id: 'agent', kind: 'agent', mock: { turns } },
      tools: [{ name: 'json_transform', approval: 'always' }],
    };
    for (const node of [step, agent]) {
      const id = await workflow(orHold(node.id, chain(node)));
      const run = await trigger(id);
      const { pending_gate: pending } = await engine.until(run, ['paused']);
      const holds = await holder(id);
      await decide(run, { digest: pending!.tool_call!.digest });
      await queued(run);
      await cancel(holds);
      expect(await engine.ended(run)).toMatchObject({ status: 'success' });
      expect(mostInFlight(await placeLog(engine.db, id))).toBe(1);
    }
  });

  test('can be cancelled while it waits for a slot, and resumed', async () => {
    const id = await workflow();
    const run = await trigger(id);
    await engine.until(run, ['paused']);
    const holds = await holder(id);
    await decide(run);
    await queued(run);
    await cancel(run);
    expect(await runOf(run)).toMatchObject({ status: 'failed', queued: null });
    expect((await call('POST', `/api/runs/${run}/resume`)).body).toMatchObject({
      status: 'running',
      queued: { position: 1 },
    });
    await cancel(holds);
    expect(await engine.ended(run)).toMatchObject({ status: 'success' });
    // A paused run without a slot can be cancelled, too, and leaves nothing behind.
    const paused = await trigger(id);
    await engine.until(paused, ['paused']);
    await cancel(paused);
    await eventually(
      async () =>
        !(await engine.db.exists(sql.type(z.object({}))`
          SELECT FROM run_places WHERE workflow_id = ${id}`)),
    );
  });

  test('keeps it if a run above it has the same key, which would wait for it', async () => {
    const { body } = await call('POST', '/api/workflows', { name: 'self', graph: chain(gate) });
    const graph = chain({ id: 'sub', kind: 'workflow', workflow: body.id, version: 1 });
    expect((await call('PUT', `/api/workflows/${body.id}`, { graph })).status).toBe(200);
    const concurrency = { limit: 2, hold_while_paused: false };
    await call('PUT', `/api/workflows/${body.id}/limits`, { concurrency });
    const top = await trigger(body.id);
    let child: string | null | undefined;
    await eventually(async () => {
      child = (await runOf(top)).steps.find(({ node_id }) => node_id === 'sub')?.child_run_id;
      return child != null && (await runOf(child)).status === 'paused';
    });
    const next = await trigger(body.id);
    expect((await runOf(next)).queued).toMatchObject({ position: 1 });
    await decide(child!);
    expect(await engine.ended(top)).toMatchObject({ status: 'success' });
    await eventually(async () => (await runOf(next)).queued === null);
  });
});

test('never more runs than the limit have work in flight, however they pause and continue', async () => {
  const { db } = engine;
  const KEYS = ['a', 'b'];
  const LIMIT = 2;
  const RUNS = 24;
  const work = (step: string) => mock(step, { delay_ms: 20 });
  const id = await workflow(
    chain(work('a'), gate, work('b'), { ...gate, id: 'again' }, work('c')),
    {
      ...{ limit: LIMIT, key: '{k}' },
    },
  );
  // Each beginning of a step is logged with how many runs of its key then have a step with a claim.
  await db.query(sql.type(z.object({}))`
    CREATE TABLE work_log (run_id text, key text, working integer, holds boolean)`);
  await db.query(sql.type(z.object({}))`
    CREATE FUNCTION log_work() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      of record;
    BEGIN
      SELECT r.workflow_id, r.limits ->> 'key' AS key INTO of FROM runs r WHERE r.id = NEW.run_id;
      IF of.key IS NOT NULL THEN
        INSERT INTO work_log
        SELECT NEW.run_id, of.workflow_id || of.key, count(DISTINCT s.run_id),
               EXISTS (SELECT FROM run_places p WHERE p.run_id = NEW.run_id AND p.state = 'holding')
        FROM runs r JOIN steps s ON s.run_id = r.id
        WHERE r.workflow_id = of.workflow_id AND r.limits ->> 'key' = of.key AND s.status = 'running' AND s.claim_until > clock_timestamp();
      END IF;
      RETURN NULL;
    END $$`);
  await db.query(sql.type(z.object({}))`
    CREATE TRIGGER log_work AFTER INSERT OR UPDATE OF claim ON steps FOR EACH ROW
    WHEN (NEW.claim IS NOT NULL) EXECUTE FUNCTION log_work()`);
  const runs: string[] = [];
  for (let n = 0; n < RUNS; n += 1) runs.push(await trigger(id, { k: KEYS[n % KEYS.length] }));
  const another = await engine.startWorker();
  let stopped: Promise<void> | undefined;
  // Each question is answered at once.
  let answered = 0;
  await eventually(async () => {
    const { runs: paused } = (await call('GET', `/api/runs?workflow_id=${id}&status=paused`)).body;
    for (const run of paused as Run[]) {
      if ((await call('POST', `/api/runs/${run.id}/approve`, {})).status === 200) answered += 1;
    }
    if (answered > RUNS / 2) stopped ??= another.stop();
    return answered >= 2 * RUNS;
  }, 90_000);
  await stopped;
  for (const run of runs) expect((await engine.ended(run)).status).toBe('success');
  const worked = await db.one(
    sql.type(
      z.object({ most: z.number(), held: z.boolean(), count: z.number() }),
    )`SELECT max(working)::int AS most, bool_and(holds) AS held, count(*)::int AS count FROM work_log`,
  );
  expect(worked).toMatchObject({ held: true });
  expect(worked.most).toBeLessThanOrEqual(LIMIT);
  expect(worked.count).toBeGreaterThanOrEqual(3 * RUNS);
  expect(mostInFlight(await placeLog(db, id))).toBe(LIMIT);
}, 120_000);
