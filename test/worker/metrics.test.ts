import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { echo, edge, type Engine, startEngine } from '../support/engine.ts';
import { startWorkerProcess, type TestProcess } from '../support/processes.ts';

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
    const workflowId = await engine.define({
      nodes: [echo('a'), { id: 'gate', kind: 'human_gate' }],
      edges: [edge('a', 'gate')],
    });
    await engine.until(await engine.trigger(workflowId), ['paused']);
    const text = await scrape();
    expect(text).toMatch(
      /^workflow_step_duration_seconds_count\{kind="tool",outcome="success"\} 1$/m,
    );
    expect(text).toMatch(/^workflow_runs_open\{status="paused"\} 1$/m);
    expect(text).toMatch(/^outbox_rows \d+$/m);
    expect(text).toMatch(/^temporal_/m);
    expect(text).toMatch(/^process_resident_memory_bytes \d+/m);
  });

  test('serves nothing else', async () => {
    const answer = await fetch(`http://127.0.0.1:${String(worker.ready['metricsPort'])}/`);
    expect(answer.status).toBe(404);
  });
});
