import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { bundleWorkflowCode } from '@temporalio/worker';
import { resumeRun } from '../../shared/operations/runs.ts';
import { createWorker } from '../../worker/create-worker.ts';
import { startToolServer, type ToolServer } from '../fakes/tool-server.ts';
import { type Engine, eventually, startEngine } from '../support/engine.ts';

let engine: Engine;
let tools: ToolServer;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
});
afterAll(() => engine.close());
beforeEach(async () => {
  tools = await startToolServer();
});
afterEach(() => tools.close());

describe('a history that the workflow of today cannot replay', () => {
  test('fails the run with that reason, and a resume goes on from the ledger', async () => {
    const bundle = await bundleWorkflowCode({
      workflowsPath: join(import.meta.dirname, '../fixtures/other-workflow.ts'),
      logger: {
        ...console,
        log: () => undefined,
        trace: () => undefined,
        info: () => undefined,
      } as never,
    });
    const other = await createWorker({ ...engine.deps, bundle });
    const workflowId = await engine.define({ nodes: [tools.node('a')], edges: [] });
    const runId = await engine.trigger(workflowId);
    await eventually(async () => {
      const handle = engine.deps.temporal.client.workflow.getHandle(runId);
      return (await handle.describe()).historyLength >= 8;
    });
    await other.stop();

    await engine.startWorker();
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    await handle.signal('decision', { step_key: 'x', round: 1, approved: true });
    const failed = await engine.until(runId, ['failed'], 60_000);
    expect(failed.error).toMatch(/cannot be replayed/);
    expect(failed.failure).toEqual({ kind: 'crash' });
    await resumeRun(engine.deps, { actor: engine.actor, runId });
    await engine.until(runId, ['success'], 30_000);
    expect(tools.calls('a')).toHaveLength(1);
  }, 120_000);
});
