import { afterEach, expect } from '@jest/globals';
import { z } from 'zod';
import { insertEvent } from '#shared/db/events/events.ts';
import { sql } from '#shared/db/pool.ts';
import { createTrigger } from '#shared/operations/events/triggers.ts';
import { chain, echo, eventually, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';

const EVENTS = 150;
const engine = useEngine({ worker: false });
const workers: TestProcess[] = [];
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
});

soakTest(
  'every event starts one run, while workers are killed between the steps',
  240_000,
  async () => {
    const workflowId = await engine.define(chain(echo('a', 'n')));
    await createTrigger(engine.db, engine.actor, {
      ...{
        workflowId,
        event: 'box.packed',
        match: 'event.data.n >= 0',
        input: null,
        enabled: true,
      },
    });
    const { workspaceId } = engine.actor;
    for (let n = 0; n < EVENTS; n += 1) {
      await insertEvent(engine.db, {
        ...{ workspaceId, name: 'box.packed', data: { n }, givenId: undefined, source: 'api' },
        by: { id: null, name: 'test' },
      });
    }
    const count = async () =>
      engine.db.one(sql.type(z.object({ runs: z.number(), events: z.number(), due: z.number() }))`
      SELECT count(*)::int AS runs, count(DISTINCT event_id)::int AS events,
             (SELECT count(*)::int FROM event_starts WHERE run_id IS NULL) AS due
      FROM runs WHERE workflow_id = ${workflowId}`);
    for (const kill of [1, 40, 90]) {
      const worker = await startWorkerProcess(engine.env);
      workers.push(worker);
      await eventually(async () => (await count()).runs >= kill, 60_000);
      await worker.kill();
    }
    workers.push(await startWorkerProcess(engine.env));
    await eventually(async () => (await count()).events === EVENTS, 120_000);
    await eventually(async () => (await count()).due === 0, 60_000);
    expect(await count()).toEqual({ runs: EVENTS, events: EVENTS, due: 0 });
    const inputs = await engine.db.manyFirst(sql.type(z.object({ n: z.number() }))`
    SELECT (input ->> 'n')::int AS n FROM runs WHERE workflow_id = ${workflowId} ORDER BY 1`);
    expect(inputs).toEqual(Array.from({ length: EVENTS }, (_, n) => n));
  },
);
