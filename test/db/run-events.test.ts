import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { pauseAtGates } from '#shared/db/gates/openings.ts';
import { deleteEndpoint } from '#shared/db/webhooks/endpoints.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { abandonRun, cancelRun, reportFailure } from '#shared/db/runs/ends.ts';
import { recordControl } from '#shared/db/runs/log.ts';
import { readCaught } from '#shared/db/runs/restart.ts';
import { settleRun } from '#shared/db/runs/settlements.ts';
import { newId } from '#shared/crypto/ids.ts';
import { echo, type Engine, startEngine } from '#test/support/engine.ts';
import { subscribeToAll } from '#test/support/outbound-events.ts';
import { type PostgresWire, startPostgresWire } from '#test/support/postgres-wire.ts';
import { raceRounds } from '#test/support/soak.ts';

// The events of runs are written in the transactions of the changes: one for each change, in any race.

let engine: Engine;
let workflowId: string;
let wire: PostgresWire;
let wired: Pool;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  wire = await startPostgresWire(engine.databaseUrl);
  wired = await connectDatabase(wire.url, { maxPoolSize: 1 });
});
afterAll(async () => {
  await wired.end();
  wire.close();
  await engine.close();
});
afterEach(() => engine.db.query(sql.unsafe`DELETE FROM data_endpoints`));

const subscribe = () => subscribeToAll({ db: engine.db, workspaceId: engine.actor.workspaceId });
const execution = 'e1';
const settle = (db: Pool, runId: string) =>
  settleRun(db, { run_id: runId, control: [], observed: [], output: '{}', state: '{}', execution });
const pause = (db: Pool, runId: string) =>
  pauseAtGates(db, {
    run_id: runId,
    control: [],
    observed: [],
    gates: [
      {
        step_key: 'g',
        round: 1,
        node_id: 'g',
        label: 'g',
        iteration: [],
        prompt: '?',
        fails_on_reject: true,
      },
    ],
    execution,
    alerts: false,
    publicUrl: 'https://ops.example.com',
  });
const fail = (db: Pool, runId: string) =>
  reportFailure(db, {
    run_id: runId,
    n: 1,
    failed: [
      {
        step_key: 'a',
        node_id: 'a',
        label: 'a',
        kind: 'tool',
        iteration: [],
        error: 'broken',
        reason: 'node',
      },
    ],
    control: [],
    observed: [],
    execution,
    alerts: false,
  });
const abandon = (runId: string) =>
  abandonRun(engine.db, { runId, kind: 'crash', error: 'gone', alerts: false });
const cancel = (runId: string) =>
  cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });

test('a failure that is finished in the ledger keeps the errors that were caught', async () => {
  const runId = await engine.trigger(workflowId);
  const step = (step_key: string) => ({
    ...{ step_key, node_id: step_key, label: step_key, kind: 'tool' as const, iteration: [] },
    ...{ output_key: step_key },
  });
  const control = [{ ...step('a'), status: 'success' as const, output: 1 }];
  await recordControl(engine.db, { run_id: runId, control, observed: [], execution });
  const { iteration: _, output_key: __, ...failed } = step('a');
  const report = await reportFailure(engine.db, {
    ...{ run_id: runId, n: 1, observed: [], execution, alerts: false },
    failed: [{ ...failed, iteration: [], error: 'lost', reason: 'node' }],
    control: [
      {
        ...step('b'),
        ...{ status: 'failed', error: 'broken' },
        caught: { message: 'broken', kind: 'node', attempts: 1 },
      },
    ],
  });
  expect(report).toEqual({ verdict: 'finished', outputs: { a: 1 } });
  expect(await readCaught(engine.db, runId)).toEqual({
    b: { message: 'broken', kind: 'node', attempts: 1 },
  });
});

/** The events of a run with the number of their deliveries. */
const eventsOf = (runId: string) =>
  engine.db.any(sql.type(
    z.object({ type: z.string(), status: z.string(), deliveries: z.number() }),
  )`
    SELECT e.type, e.data -> 'run' ->> 'status' AS status,
           (SELECT count(*) FROM data_deliveries d WHERE d.event_id = e.id) AS deliveries
    FROM outbound_events e WHERE e.data -> 'run' ->> 'id' = ${runId} ORDER BY e.type
  `);

describe('a change of a run', () => {
  test('has one event, no matter how many processes report it', async () => {
    await subscribe();
    for (let round = 0; round < raceRounds(10); round += 1) {
      const runId = await engine.trigger(workflowId);
      await Promise.all([1, 2, 3].map(() => pause(engine.db, runId)));
      expect(await eventsOf(runId)).toEqual([
        { type: 'approval.requested', status: 'paused', deliveries: 2 },
        { type: 'run.paused', status: 'paused', deliveries: 2 },
      ]);
      await Promise.allSettled([
        abandon(runId),
        settle(engine.db, runId),
        cancel(runId),
        fail(engine.db, runId),
        settle(engine.db, runId),
        abandon(runId),
      ]);
      const { status } = await engine.run(runId);
      const type = status === 'success' ? 'run.completed' : 'run.failed';
      expect((await eventsOf(runId)).filter((event) => event.status !== 'paused')).toEqual([
        { type, status, deliveries: 2 },
      ]);
    }
  }, 60_000);

  test('that is rolled back has none', async () => {
    await subscribe();
    const runId = await engine.trigger(workflowId);
    for (const at of ['INSERT INTO run_frames', 'COMMIT']) {
      wire.breakAt({ at, when: 'sent' });
      await expect(fail(wired, runId)).rejects.toThrow();
      expect(await eventsOf(runId)).toEqual([]);
    }
    await fail(wired, runId);
    expect(await eventsOf(runId)).toMatchObject([{ type: 'run.failed', deliveries: 2 }]);
  });

  test('has none for an endpoint that is deleted in the meantime, or belongs to another workspace', async () => {
    const other = newId('workspace');
    await engine.db.query(sql.unsafe`INSERT INTO workspaces (id, name) VALUES (${other}, 'Other')`);
    await subscribeToAll({ db: engine.db, workspaceId: other });
    const runId = await engine.trigger(workflowId);
    await settle(engine.db, runId);
    expect(await eventsOf(runId)).toEqual([]);
    await engine.db.query(sql.unsafe`DELETE FROM data_endpoints`);
    for (let round = 0; round < raceRounds(10); round += 1) {
      await subscribe();
      const next = await engine.trigger(workflowId);
      const endpoints = ['end_true', 'end_false'];
      await Promise.all([
        settle(engine.db, next),
        ...endpoints.map((id) => deleteEndpoint(engine.db, engine.actor, id)),
      ]);
      const left = await engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*) AS n FROM data_deliveries WHERE status = 'pending'`);
      expect(left).toBe(0);
    }
  });
});

/** The statements of a change, without the names of new rows. */
async function statementsOf(change: (db: Pool, runId: string) => Promise<unknown>) {
  const runId = await engine.trigger(workflowId);
  wire.takeStatements();
  await change(wired, runId);
  return wire.takeStatements().map(({ text }) => text);
}

test.each([
  ['success', settle, 1],
  ['a failure', fail, undefined],
  ['a pause', pause, undefined],
] as const)(
  '%s takes the same statements with and without endpoints',
  async (_name, change, count) => {
    // Prepares them on the connection.
    await statementsOf(change);
    const without = await statementsOf(change);
    await subscribe();
    const subscribed = await statementsOf(change);
    expect(subscribed).toEqual(without);
    if (count !== undefined) expect(without).toHaveLength(count);
    // None of them is about events alone.
    const queues = /settle_run_\d|announce_end_\d|queue_events_\d/;
    expect(without.filter((statement) => queues.test(statement))).toHaveLength(1);
  },
);
