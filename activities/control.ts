import { activityInfo, ApplicationFailure } from '@temporalio/activity';
import { loadLedger } from '../shared/db/runs/restart.ts';
import { checkGate } from '../shared/db/gates/clock.ts';
import { pauseAtGates } from '../shared/db/gates/openings.ts';
import { abandonRun, reportFailure } from '../shared/db/runs/ends.ts';
import { settleRun } from '../shared/db/runs/settlements.ts';
import { recordControl } from '../shared/db/runs/log.ts';
import type { Pool } from '../shared/db/pool.ts';
import type { ControlActivities } from '../shared/execution.ts';
import { toDollars } from '../shared/money.ts';
import { recordRunSpan } from '../shared/operations/runs/run-span.ts';
import { evaluateChecksUntrusted } from '../shared/platform/threads/untrusted.ts';
import type { Logger } from '../shared/platform/logger.ts';
import type { FrameNotifier } from './frame-notifier.ts';

/**
 * The bookkeeping between steps, as local activities. Each may run twice: after a crash between its commit and the
 * completion of the workflow task, it finds its own earlier write and returns the same result.
 */
export function createControlActivities(deps: {
  db: Pool;
  log: Logger;
  frames: FrameNotifier;
  /** Whether alert channels are configured for failures and open gates. */
  alerts: boolean;
  /** The public address of the console, for links to gates. */
  publicUrl: string;
}): ControlActivities {
  const { db, frames, alerts, publicUrl } = deps;
  const execution = (): string => {
    const { workflowExecution } = activityInfo();
    if (workflowExecution === undefined) {
      throw ApplicationFailure.nonRetryable('Only a workflow may call this activity');
    }
    return workflowExecution.runId;
  };
  return {
    pauseAtGates: async (call) => {
      const notice = { execution: execution(), alerts, publicUrl };
      const decisions = await pauseAtGates(db, { ...call, ...notice });
      frames.wakeNow(call.run_id);
      return { decisions };
    },
    checkGate: async (call) => {
      const result = await checkGate(db, { ...call, execution: execution(), alerts });
      if (result.decision !== undefined) frames.wakeNow(call.run_id);
      return result;
    },
    onFailure: async (call) => {
      const { ended, ...verdict } = await reportFailure(db, {
        ...call,
        execution: execution(),
        alerts,
      });
      frames.wakeNow(call.run_id);
      if (ended === true) await recordRunSpan(deps, call.run_id);
      return verdict;
    },
    settleRun: async (call) => {
      const { status, costMicros, settled } = await settleRun(
        db,
        { ...call, execution: execution() },
        evaluateChecksUntrusted,
      );
      frames.wakeNow(call.run_id);
      if (settled) await recordRunSpan(deps, call.run_id);
      return { status, cost_usd: toDollars(costMicros) };
    },
    recordControlSteps: async (call) => {
      await recordControl(db, { ...call, execution: execution() });
      frames.wake(call.run_id);
    },
    abandonRun: async (call) => {
      const end = { ...call, runId: call.run_id, execution: execution(), alerts };
      const ended = await abandonRun(db, end);
      frames.wakeNow(call.run_id);
      if (ended) await recordRunSpan(deps, call.run_id);
    },
    loadLedger: (call) => loadLedger(db, call.run_id),
  };
}
