import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import {
  CONNECTION_ENV,
  type ConnectionWorld,
  startConnectionWorld,
  withToken,
} from '#test/support/connection-world.ts';
import { eventually } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';

const env = { ...CONNECTION_ENV, HEARTBEAT_TIMEOUT_SECONDS: '3' };
const { engine, call } = useEngineApi({ worker: false, env });

let world: ConnectionWorld;
beforeAll(async () => {
  world = await startConnectionWorld(call);
}, 60_000);
afterAll(() => world.close());

const STEPS = 50;

test('a sign-in while no worker runs wakes all steps that waited, and each request is sent once', async () => {
  const id = await world.connect('MAIL', { owner: 'member' });
  const nodes = Array.from({ length: STEPS }, (_, n) =>
    withToken('MAIL', `${world.target.url}/${n}`, { id: `ask${n}` }),
  );
  const workflowId = await engine.define({ nodes, edges: [] });
  const waiting = async (runId: string) => (await engine.run(runId)).waiting.length;
  const first = await startWorkerProcess(engine.env);
  const runs = [await engine.trigger(workflowId), await engine.trigger(workflowId)];
  await eventually(async () => (await waiting(runs[0]!)) >= 20, 60_000);
  await first.kill();
  expect(await world.signIn(id)).toContain('result=connected');
  const second = await startWorkerProcess(engine.env);
  try {
    for (const runId of runs) {
      const run = await engine.until(runId, ['success', 'failed'], 120_000);
      expect([run.status, run.error]).toEqual(['success', null]);
    }
  } finally {
    await second.kill();
  }
  expect(world.tokens()).toHaveLength(STEPS * runs.length);
  expect(
    await engine.db.exists(
      sql.unsafe`SELECT FROM run_waits WHERE status = 'open' OR wake_at IS NOT NULL`,
    ),
  ).toBe(false);
}, 200_000);
