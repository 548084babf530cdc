import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Worker } from '@temporalio/worker';
import pg from 'pg';
import { SIGNAL_RESUMED } from '#shared/execution.ts';
import { chain, echo, quietRuntime, startEngine } from '#test/support/engine.ts';
import { setting } from '#test/support/settings.ts';
import { fetchHistory, outlineOf } from './histories.ts';

quietRuntime();

/** Longer than several workflow tasks of the test engine. */
const HELD_MS = 8_000;

test(
  'a write that waits for a lock does not outlast its workflow task, and signals in the meantime can be replayed',
  async () => {
    const engine = await startEngine();
    const holder = new pg.Client({ connectionString: engine.databaseUrl });
    await holder.connect();
    try {
      const workflowId = await engine.define(
        chain(echo('draft'), { id: 'sign', kind: 'human_gate', prompt: 'Sign?' }, echo('send')),
      );
      const runId = await engine.trigger(workflowId, {});
      await engine.until(runId, ['paused']);
      const handle = engine.deps.temporal.client.workflow.getHandle(runId);
      await holder.query('BEGIN');
      await holder.query('SELECT FROM runs WHERE id = $1 FOR UPDATE', [runId]);
      // After each of these the run writes its position again, and waits for the lock.
      for (const ms of [HELD_MS / 2, HELD_MS / 2]) {
        await handle.signal(SIGNAL_RESUMED, { decisions: [] });
        await sleep(ms);
      }
      await holder.query('COMMIT');
      await engine.approve(runId);
      await engine.until(runId, ['success'], 60_000);
      const history = await fetchHistory(engine, runId);
      const outline = outlineOf(history);
      // Of the SDK's heartbeat: the task ended without a command.
      expect(outline).not.toMatch(
        /WORKFLOW_TASK_COMPLETED\n\d+ EVENT_TYPE_WORKFLOW_TASK_SCHEDULED/,
      );
      expect(outline.match(/EVENT_TYPE_TIMER_FIRED/g)?.length).toBeGreaterThan(1);
      await Worker.runReplayHistory(
        { workflowBundle: { codePath: setting('WORKFLOW_BUNDLE') } },
        history,
        runId,
      );
    } finally {
      await holder.end();
      await engine.close();
    }
  },
  HELD_MS + 90_000,
);
