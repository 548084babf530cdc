import { connectDatabase } from '#shared/db/pool.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { chain, echo, type Engine, startEngine } from '#test/support/engine.ts';
import { createWorkerMetrics } from '#worker/metrics.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';

let engine: Engine;
let worker: TestProcess;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  worker = await startWorkerProcess(engine.env);
});
afterAll(async () => {
  await worker.stop();
  await engine.close();
});

const scrape = async (): Promise<string> => {
  const answer = await fetch(`http://127.0.0.1:${String(worker.ready['metricsPort'])}/metrics`);
  expect(answer.status).toBe(200);
  return answer.text();
};

describe('the worker’s /metrics', () => {
  test('reports steps, open runs, the outbox and the metrics of the SDK', async () => {
    const workflowId = await engine.define(chain(echo('a'), { id: 'gate', kind: 'human_gate' }));
    await engine.until(await engine.trigger(workflowId), ['paused']);
    const text = await scrape();
    expect(text).toMatch(
      /^workflow_step_duration_seconds_count\{kind="tool",outcome="success"\} 1$/m,
    );
    expect(text).toMatch(/^workflow_runs_open\{status="paused"\} 1$/m);
    expect(text).toMatch(/^workflow_runs_queued 0$/m);
    expect(text).toMatch(/^workflow_slots_in_use 0$/m);
    expect(text).toMatch(/^workflow_waits_due 0$/m);
    expect(text).toMatch(/^workflow_queue_wait_seconds_count 0$/m);
    expect(text).toMatch(/^outbox_rows \d+$/m);
    expect(text).toMatch(/^workflow_limited_calls\{state="in_flight"\} 0$/m);
    expect(text).toMatch(/^workflow_limited_calls\{state="waiting"\} 0$/m);
    expect(text).toMatch(/^workflow_call_wait_seconds_count 0$/m);
    expect(text).toMatch(/^temporal_/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  });

  test('has its counters from the start, at 0', async () => {
    const text = await scrape();
    for (const cause of ['replay', 'failure', 'timeout']) {
      expect(text).toContain(`workflow_tasks_stuck_total{cause="${cause}"} 0`);
    }
    expect(text).toContain(
      'workflow_step_duration_seconds_count{kind="agent",outcome="retried"} 0',
    );
    expect(text).toMatch(/^workflow_runs_settled_without_execution_total 0$/m);
    expect(text).toMatch(/^workflow_approval_mismatches_total 0$/m);
  });

  test('counts how long waits took, and code that used up its time or memory', async () => {
    const graph = chain(
      { id: 'rest', kind: 'wait', seconds: 1 },
      {
        id: 'never',
        kind: 'wait',
        event: { name: 'x' },
        timeout_seconds: 1,
        on_timeout: 'continue',
      },
    );
    await engine.until(await engine.start(graph), ['success'], 30_000);
    const sources = [
      ['export default () => { for (;;); };', 0.2],
      ['export default () => { const all = []; for (;;) all.push(new Array(1e6).fill(1)); };', 10],
    ] as const;
    for (const [source, timeout_seconds] of sources) {
      const code = { id: 'c', kind: 'code', source, timeout_seconds, retry: { max_attempts: 1 } };
      await engine.until(await engine.start(chain(code)), ['failed'], 60_000);
    }
    const text = await scrape();
    for (const [kind, outcome] of [
      ['time', 'came'],
      ['event', 'late'],
    ]) {
      const labels = `kind="${kind}",outcome="${outcome}"`;
      expect(text).toContain(`workflow_wait_seconds_bucket{le="15",${labels}} 1`);
      expect(
        Number(new RegExp(`wait_seconds_sum{${labels}} (.*)`).exec(text)?.[1]),
      ).toBeGreaterThan(0.9);
    }
    expect(text).toContain('workflow_wait_seconds_count{kind="callback",outcome="came"} 0');
    expect(text).toContain('workflow_code_exceeded_total{resource="time"} 1');
    expect(text).toContain('workflow_code_exceeded_total{resource="memory"} 1');
  }, 120_000);

  test('serves a health check that depends on nothing else', async () => {
    const answer = await fetch(`http://127.0.0.1:${String(worker.ready['metricsPort'])}/health`);
    expect([answer.status, await answer.json()]).toEqual([200, { status: 'ok' }]);
  });

  test('serves nothing else', async () => {
    const answer = await fetch(`http://127.0.0.1:${String(worker.ready['metricsPort'])}/`);
    expect(answer.status).toBe(404);
  });
});

test('without the database, the metrics are served without its figures', async () => {
  const db = await connectDatabase(engine.databaseUrl, { maxPoolSize: 1 });
  await db.end();
  const text = await createWorkerMetrics(
    db,
    createLogger({ name: 'test', level: 'silent' }),
  ).read();
  expect(text).toMatch(/^database_reachable 0$/m);
  expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  expect(text).not.toMatch(/^workflow_runs_open\{/m);
});
