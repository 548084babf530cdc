import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { startHttpServer, sendJson } from '#test/fakes/http-server.ts';
import { killWorkersAt } from '#test/support/crashes.ts';
import { edge, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { useStage } from '#test/support/stage.ts';

const engine = useEngine({ worker: false, env: { HEARTBEAT_TIMEOUT_SECONDS: '3' } });

/** Counts the calls that are open at the same time. A call of a worker that was killed is closed. */
const server = useStage(async () => {
  const open = { now: 0, most: 0 };
  const started = await startHttpServer(async (_request, response) => {
    open.now += 1;
    open.most = Math.max(open.most, open.now);
    response.once('close', () => (open.now -= 1));
    await sleep(100);
    if (!response.destroyed) sendJson(response, 200, {});
  });
  return { ...started, open };
});

const ITEMS = 20;
const RUNS = 3;

test('killed workers leave no call taken, and never more than the limit in flight', async () => {
  const limits = [{ tools: ['http_request'], concurrency: 3 }];
  await replacePolicies(engine.db, engine.actor, { ...unrestricted, limits });
  const workflowId = await engine.define({
    nodes: [
      { id: 'map', kind: 'map', items: 'items', concurrency: 10 },
      { id: 'call', kind: 'tool', tool_name: 'http_request', params: { url: server.url } },
    ],
    edges: [edge('map', 'call', 'true'), edge('call', 'map')],
  } as never);
  const items = Array.from({ length: ITEMS }, (_, n) => n);
  const runs = await Promise.all(
    Array.from({ length: RUNS }, () => engine.trigger(workflowId, { items })),
  );
  const calls = () => server.seen.length;
  const other = killWorkersAt(engine.env, [9, 21], calls);
  await killWorkersAt(engine.env, [5, 15, 30], calls);
  await other;
  const workers = await Promise.all([1, 2].map(() => startWorkerProcess(engine.env)));
  try {
    for (const runId of runs) await engine.until(runId, ['success'], 120_000);
  } finally {
    await Promise.all(workers.map((worker) => worker.kill()));
  }
  expect(server.open.most).toBeLessThanOrEqual(3);
  expect(calls()).toBeGreaterThanOrEqual(ITEMS * RUNS);
  const left = await engine.db.one(sql.type(z.object({ calls: z.number(), waits: z.number() }))`
    SELECT (SELECT count(*) FROM call_waits) AS waits,
           (SELECT count(*) FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
            WHERE s.claim = c.claim) AS calls`);
  expect(left).toEqual({ calls: 0, waits: 0 });
}, 300_000);
