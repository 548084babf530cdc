import { takeDue } from '../db/outbox.ts';
import { abandonRun } from '../db/run-ends.ts';
import { notifyFrames } from '../db/frames.ts';
import { markLost, type SilentRun, takeSilentRuns } from '../db/silent-runs.ts';
import { finishFromLedger } from './finish-from-ledger.ts';
import { dispatch } from './dispatch.ts';
import {
  type CurrentExecution,
  describeCurrent,
  type DispatchDeps,
  terminate,
} from './executions.ts';
import { type Loop, startLoop } from './loop.ts';
import { lookAtTask, type TaskTrouble } from './stuck-tasks.ts';

/** Outbox rows carried out per look, and open runs compared with Temporal per look. */
const BATCH = 50;
const CHECK_BATCH = 50;
/** How often a silent run is compared with Temporal, unless the grace period is shorter. */
const LOOK_EVERY_MS = 3_000;

/** What the reconciler tells its metrics. */
export interface ReconcilerMetrics {
  /** A run was settled because its execution was gone. */
  settled(): void;
  /** The workflow task of an execution was found to fail again and again. */
  stuck(trouble: TaskTrouble): void;
}

/** One look: carries out what is due, then settles runs whose execution is gone. Returns how many of each. */
export async function reconcileOnce(
  deps: DispatchDeps,
  metrics?: ReconcilerMetrics,
): Promise<{ dispatched: number; settled: number }> {
  const due = await takeDue(deps.db, BATCH);
  const results = await Promise.all(due.map((row) => dispatch(deps, row)));
  const { graceMs } = deps.config.reconcile;
  const silent = await takeSilentRuns(deps.db, {
    lookMs: Math.min(LOOK_EVERY_MS, graceMs),
    graceMs,
    limit: CHECK_BATCH,
  });
  const checks = await Promise.allSettled(silent.map((run) => checkRun(deps, run, metrics)));
  const failed = checks.filter((check) => check.status === 'rejected');
  if (failed.length > 0) {
    // One line for all of them: with Temporal out of reach they fail alike, and are looked at again.
    deps.log.warn({ err: failed[0]?.reason, runs: failed.length }, 'could not compare open runs');
  }
  const settled = checks.filter((check) => check.status === 'fulfilled' && check.value).length;
  for (let run = 0; run < settled; run += 1) metrics?.settled();
  return { dispatched: results.filter(Boolean).length, settled };
}

/**
 * Compares one open run with Temporal. Only what `describe` finds without a live execution twice, a grace period
 * apart, is settled as failed; a resume can take it up again.
 */
async function checkRun(
  deps: DispatchDeps,
  run: SilentRun,
  metrics: ReconcilerMetrics | undefined,
): Promise<boolean> {
  const current = await deps.temporal.withTimeout(() => describeCurrent(deps, run.id));
  if (current?.open === true) {
    if (run.lost_for_ms !== null) await markLost(deps.db, run.id, false);
    const { unreplayable, trouble } = await deps.temporal.withTimeout(() =>
      lookAtTask(deps, run.id, current),
    );
    if (trouble !== undefined) metrics?.stuck(trouble);
    return unreplayable && endUnreplayable(deps, run.id, current);
  }
  if (run.lost_for_ms === null) {
    await markLost(deps.db, run.id, true);
    return false;
  }
  if (run.lost_for_ms < deps.config.reconcile.graceMs) return false;
  if (await finishFromLedger(deps.db, run.id)) {
    await notifyFrames(deps.db, [run.id]);
    return true;
  }
  const ended = await abandonRun(deps.db, {
    runId: run.id,
    kind: 'crash',
    error:
      current === undefined
        ? 'The execution of this run is gone'
        : `The execution of this run ended as ${current.status.toLowerCase()}`,
    whileLost: true,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (ended) {
    deps.log.warn({ runId: run.id, execution: current?.runId }, 'settled a run without execution');
    await notifyFrames(deps.db, [run.id]);
  }
  return ended;
}

/** Workflow code that cannot replay this history: the run fails and can go on from the ledger. */
async function endUnreplayable(
  deps: DispatchDeps,
  runId: string,
  current: CurrentExecution,
): Promise<boolean> {
  const ended = await abandonRun(deps.db, {
    runId,
    kind: 'crash',
    error: 'The execution of this run cannot be replayed; resume goes on from the finished steps',
    execution: current.runId,
    fromLedger: true,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (!ended) return false;
  // A process that dies here leaves the execution open: the resume of the run ends it.
  await deps.temporal.withTimeout(() => terminate(deps, runId, current.runId));
  deps.log.error({ runId, execution: current.runId }, 'ended an execution that cannot be replayed');
  await notifyFrames(deps.db, [runId]);
  return true;
}

/** Looks again and again until stopped. */
export function startReconciler(deps: DispatchDeps, metrics?: ReconcilerMetrics): Loop {
  return startLoop({ name: 'reconciler', ...deps }, async () => {
    const { dispatched } = await reconcileOnce(deps, metrics);
    return dispatched === BATCH;
  });
}
