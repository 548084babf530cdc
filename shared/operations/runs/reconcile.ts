import { setTimeout as sleep } from 'node:timers/promises';
import { takeStarts } from '#shared/db/children/starts.ts';
import { takeDue } from '#shared/db/runs/outbox.ts';
import { abandonRun } from '#shared/db/runs/ends.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { markLost, type SilentRun, takeSilentRuns } from '#shared/db/runs/silent.ts';
import { finishFromLedger } from './finish-from-ledger.ts';
import { dispatch } from './dispatch.ts';
import {
  type CurrentExecution,
  describeCurrent,
  type DispatchDeps,
  listTerminated,
  terminate,
} from './executions.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { recordRunSpan } from './run-span.ts';
import { lookAtTask, type TaskFailure } from './stuck-tasks.ts';

/** Outbox rows dispatched per iteration. */
const BATCH = 50;
/** The number of open runs of each kind that one iteration compares with Temporal: silent, suspected, lost. */
const CHECK_BATCH = 50;
/** How often a silent run is compared with Temporal, unless the grace period is shorter. */
const LOOK_EVERY_MS = 2_000;
/** How often a run is compared if Temporal lists its execution as terminated. */
const LOOK_AT_SUSPECTS_EVERY_MS = 1_000;
/**
 * Earlier terminations are found like any silent run. This covers a difference between the clocks of the two servers.
 */
const TERMINATED_WITHIN_MS = 120_000;

/** The reconciler's metrics. */
export interface ReconcilerMetrics {
  /** A run was settled because its execution was missing. */
  settled(): void;
  /** The workflow task of an execution fails repeatedly. */
  stuck(trouble: TaskFailure): void;
}

/** One iteration: dispatches due rows, and settles runs whose execution is missing. Returns the number of each. */
export async function reconcileOnce(
  deps: DispatchDeps,
  metrics?: ReconcilerMetrics,
): Promise<{ dispatched: number; settled: number }> {
  // Concurrent, so that slow calls to Temporal do not delay the checks, which have a guaranteed interval.
  const [dispatched, settled] = await Promise.all([dispatchDue(deps), settleLost(deps, metrics)]);
  return { dispatched, settled };
}

async function dispatchDue(deps: DispatchDeps): Promise<number> {
  const due = await takeDue(deps.db, BATCH);
  const results = await Promise.all(due.map((row) => dispatch(deps, row)));
  return results.filter(Boolean).length;
}

/** At most one list call and `CHECK_BATCH` describe calls per kind of run. */
async function settleLost(
  deps: DispatchDeps,
  metrics: ReconcilerMetrics | undefined,
): Promise<number> {
  const { graceMs } = deps.config.reconcile;
  const silent = await takeSilentRuns(deps.db, {
    lookMs: Math.min(LOOK_EVERY_MS, graceMs),
    suspectMs: Math.min(LOOK_AT_SUSPECTS_EVERY_MS, graceMs),
    graceMs,
    suspects: await findSuspects(deps),
    limit: CHECK_BATCH,
  });
  const checks = await Promise.allSettled(silent.map((run) => checkRun(deps, run, metrics)));
  const failed = checks.filter((check) => check.status === 'rejected');
  if (failed.length > 0) {
    // One line for all of them, because with Temporal unavailable they all fail, and are checked again.
    deps.log.warn({ err: failed[0]?.reason, runs: failed.length }, 'could not compare open runs');
  }
  const settled = checks.filter((check) => check.status === 'fulfilled' && check.value).length;
  for (let run = 0; run < settled; run += 1) metrics?.settled();
  return settled;
}

/** Runs whose execution Temporal lists as terminated. If the list fails, silent runs are still checked in order. */
async function findSuspects(deps: DispatchDeps): Promise<readonly string[]> {
  try {
    return await deps.temporal.withTimeout(() =>
      listTerminated(deps, { withinMs: TERMINATED_WITHIN_MS, limit: CHECK_BATCH }),
    );
  } catch (error) {
    deps.log.warn({ err: error }, 'could not list terminated executions');
    return [];
  }
}

/**
 * Compares one open run with Temporal. Only a run that `describe` finds without a live execution twice, a grace period
 * apart, is settled as failed; a resume can continue it.
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
    await recordRunSpan(deps, run.id);
    return true;
  }
  const ended = await abandonRun(deps.db, {
    runId: run.id,
    kind: 'crash',
    error:
      current === undefined
        ? 'The execution of this run is missing'
        : `The execution of this run ended as ${current.status.toLowerCase()}`,
    whileLost: true,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (ended !== undefined) {
    deps.log.warn(
      { runId: run.id, execution: current?.runId },
      'settled a run without an execution',
    );
    await notifyFrames(deps.db, [run.id]);
    await recordRunSpan(deps, run.id);
  }
  return ended !== undefined;
}

/** The workflow code cannot replay this history: the run fails, and can continue from the ledger. */
async function endUnreplayable(
  deps: DispatchDeps,
  runId: string,
  current: CurrentExecution,
): Promise<boolean> {
  const ended = await abandonRun(deps.db, {
    runId,
    kind: 'crash',
    error:
      'The execution of this run cannot be replayed; a resume continues after the finished steps',
    execution: current.runId,
    fromLedger: true,
    alerts: deps.config.alerts.channels.length > 0,
  });
  if (ended === undefined) return false;
  await recordRunSpan(deps, runId);
  // If the process dies here, the execution stays open, and is ended when the run is resumed.
  await deps.temporal.withTimeout(() => terminate(deps, runId, current.runId));
  deps.log.error({ runId, execution: current.runId }, 'ended an execution that cannot be replayed');
  await notifyFrames(deps.db, [runId]);
  return true;
}

/** Iterates until stopped. */
export function startReconciler(deps: DispatchDeps, metrics?: ReconcilerMetrics): Loop {
  return startLoop({ name: 'reconciler', ...deps }, async () => {
    const { dispatched } = await reconcileOnce(deps, metrics);
    return dispatched === BATCH;
  });
}

/** How often the starts of children are checked: while none waits, and while some do. */
const IDLE_LOOKS_EVERY_MS = 250;
const LOOKS_EVERY_MS = 100;
/**
 * How many starts per workspace are sent in any case at every tenth check: earlier children may be waiting for free
 * slots, or for a worker that can execute them, and later ones need not wait for that.
 */
const LEAST_STARTS = 2;

/**
 * Sends the waiting starts of children that can be sent now, including at least the `least` oldest of each workspace.
 * Returns whether it sent any.
 */
export async function sendStarts(deps: DispatchDeps, least: number): Promise<boolean> {
  const rows = await takeStarts(deps.db, least);
  await Promise.all(rows.map((row) => dispatch(deps, row)));
  return rows.length > 0;
}

/**
 * Sends the starts of children that wait for other children to begin. It makes at most ten statements a second,
 * regardless of how many are waiting.
 */
export function startChildStarts(deps: DispatchDeps): Loop {
  return startLoop(
    { name: 'starts of children', ...deps, everyMs: IDLE_LOOKS_EVERY_MS },
    async () => {
      if (!(await sendStarts(deps, LEAST_STARTS))) return false;
      for (let look = 1; look < 10; look += 1) {
        await sleep(LOOKS_EVERY_MS);
        await sendStarts(deps, 0);
      }
      return true;
    },
  );
}
