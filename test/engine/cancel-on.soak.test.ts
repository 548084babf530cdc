import { afterEach, expect } from '@jest/globals';
import { z } from 'zod';
import { insertEvent } from '#shared/db/events/events.ts';
import { replaceLimits } from '#shared/db/limits/limits.ts';
import { sql } from '#shared/db/pool.ts';
import { limitsInput } from '#shared/contract/limits/limits.ts';
import { chain, eventually, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';

const RUNS = 150;
const engine = useEngine({ worker: false });
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

soakTest(
  'every event cancels its run once, while workers are killed between the steps',
  240_000,
  async () => {
    const workflowId = await engine.define(chain({ id: 'ok', kind: 'human_gate' }));
    const match = 'event.data.n == n';
    const limits = limitsInput.parse({ cancel_on: [{ event: 'order.cancelled', match }] });
    await replaceLimits(engine.db, engine.actor, workflowId, limits);
    for (let n = 0; n < RUNS; n += 1) await engine.trigger(workflowId, { n });
    const { workspaceId } = engine.actor;
    for (let n = 0; n < RUNS; n += 1) {
      await insertEvent(engine.db, {
        ...{ workspaceId, name: 'order.cancelled', data: { n }, givenId: undefined, source: 'api' },
        by: { id: null, name: 'test' },
      });
    }
    const count = async () =>
      engine.db.one(sql.type(z.object({ runs: z.number(), entries: z.number(), due: z.number() }))`
      SELECT (SELECT count(*)::int FROM runs WHERE workflow_id = ${workflowId} AND failure ->> 'kind' = 'cancelled') AS runs,
             (SELECT count(*)::int FROM audit_log WHERE action = 'cancel') AS entries,
             (SELECT count(*)::int FROM event_cancels WHERE cancelled_at IS NULL) AS due`);
    for (const kill of [1, 40, 90]) {
      const worker = await startWorkerProcess(engine.env);
      workers.push(worker);
      await eventually(async () => (await count()).runs >= kill, 60_000);
      await worker.kill();
    }
    workers.push(await startWorkerProcess(engine.env));
    await eventually(async () => (await count()).runs === RUNS, 120_000);
    await eventually(async () => (await count()).due === 0, 60_000);
    expect(await count()).toEqual({ runs: RUNS, entries: RUNS, due: 0 });
    const wrong = await engine.db.any(sql.type(z.object({ id: z.string() }))`
      SELECT r.id FROM runs r JOIN events e ON e.id = r.failure ->> 'event_id'
      WHERE r.workflow_id = ${workflowId} AND r.input ->> 'n' <> e.data ->> 'n'`);
    expect(wrong).toEqual([]);
    await eventually(
      async () => !(await engine.db.exists(sql.type(z.object({}))`SELECT FROM outbox`)),
      60_000,
    );
  },
);
