import { deleteExpiredMetering } from '#shared/db/data/metering-retention.ts';
import { deleteOldEvents } from '#shared/db/events/events.ts';
import { deleteOldCalls } from '#shared/db/steps/call-limits.ts';
import { deleteExpiredAnswers } from '#shared/db/idempotency.ts';
import { deleteExpiredEvents } from '#shared/db/inbound/events.ts';
import { deleteExpiredJobs } from '#shared/db/jobs/jobs.ts';
import { notifyFrames } from '#shared/db/runs/frames.ts';
import { deleteIdleListeners } from '#shared/db/webhooks/endpoints.ts';
import * as retention from '#shared/db/audit/retention.ts';
import type { SweepPart } from '#shared/values/sweep.ts';
import { type PlanName, plans } from '#shared/people/plans.ts';
import { eachOf } from './each-of.ts';
import { dispatchInOrder } from './runs/dispatch.ts';
import { describeCurrent, type DispatchDeps } from './runs/executions.ts';
import { recordRunSpan } from './runs/run-span.ts';

const WORKSPACES_PER_LOOK = 100;
/** Active runs cancelled per batch, and runs or closing executions handled concurrently. */
const LIVE_BATCH = 50;
/** The number of recently ended runs whose executions one part asks Temporal about. */
const ENDING_BATCH = 200;
const HANDLED_AT_ONCE = 10;
/**
 * Batches of runs deleted concurrently. Deleting uses a whole processor of the database server, so more lanes would use
 * them all.
 */
const LANES = 2;
/**
 * After this many batches, a lane starts at the oldest run again. Reading the index entries of deleted runs marks them,
 * so that later statements skip them; if this is left to the last statement, a million of them take it more than a
 * second.
 */
const REWIND_AFTER = 50;
/** Retention of outbound events and of background jobs, for all plans. */
const OUTBOUND_KEPT_DAYS = 30;
const JOBS_KEPT_DAYS = 30;
/**
 * The retention of inbound events. If runs are kept for less time, events are too, because runs have the same content
 * as input.
 */
const INBOUND_KEPT_DAYS = 30;
/** Events are kept as long as runs, within these limits: an id stores an event once for at least the shorter time. */
const EVENTS_KEPT_DAYS = { least: 7, most: 90 };

export interface SweepOptions {
  /** The last completed workspace; absent: start with the first. */
  after?: string;
  /** A part ends after the batch during which this time is exceeded. */
  budgetMs?: number;
  /** Called after every batch; throws to stop the sweep there. */
  onBatch?: () => void;
}

const BUDGET_MS = 60_000;

type Progress = Omit<SweepPart, 'after'>;

/**
 * Part of a retention sweep: removes unused payloads, then per workspace the runs, audit entries, outbound events,
 * inbound events, events and jobs past their windows, listeners that no one reads, answers to idempotency keys, and calls that no limit counts any more, until nothing is left or the time budget is used up; then `after` says
 * where to continue. A workspace that cannot be swept is counted in `failed`, and does not block the others.
 */
export async function sweepPart(
  deps: DispatchDeps,
  options: SweepOptions = {},
): Promise<SweepPart> {
  const { onBatch = () => undefined, budgetMs = BUDGET_MS } = options;
  const progress: Progress = {
    cancelled: 0,
    runs: 0,
    audit: 0,
    payloads: 0,
    waiting: 0,
    failed: 0,
  };
  const end = performance.now() + budgetMs;
  const part: Part = { deps, progress, onBatch, isOver: () => performance.now() >= end };
  // Payloads first: those of runs that this sweep ends and deletes are left for the next sweep, so that an execution
  // that is being cancelled can still read them.
  if (options.after === undefined) await sweepPayloads(part);

  let after = options.after ?? '';
  for (;;) {
    const workspaces = await retention.workspacesAfter(deps.db, after, WORKSPACES_PER_LOOK);
    for (const workspace of workspaces) {
      try {
        if (!(await sweepWorkspace(part, workspace))) return { ...progress, after };
      } catch (error) {
        onBatch();
        deps.log.error({ err: error, workspaceId: workspace.id }, 'could not sweep a workspace');
        progress.failed += 1;
      }
      after = workspace.id;
    }
    if (workspaces.length < WORKSPACES_PER_LOOK) return progress;
    if (part.isOver()) return { ...progress, after };
  }
}

interface Part {
  deps: DispatchDeps;
  progress: Progress;
  onBatch: () => void;
  isOver: () => boolean;
}

/** Returns false if the time ran out before the workspace was completed. */
async function sweepWorkspace(
  part: Part,
  workspace: { id: string; plan: PlanName },
): Promise<boolean> {
  const { deps, progress } = part;
  const { runsKeptDays, auditKeptDays } = plans[workspace.plan];
  let finished = true;
  if (runsKeptDays !== null) {
    finished = await sweepRuns(part, { workspaceId: workspace.id, days: runsKeptDays });
  }
  if (finished && auditKeptDays !== null) {
    const window = { workspaceId: workspace.id, days: auditKeptDays };
    finished = await untilNothingIsLeft(part, async () => {
      const removed = await retention.deleteExpiredAudit(deps.db, window);
      progress.audit += removed;
      return removed;
    });
    finished &&= await untilNothingIsLeft(part, () =>
      retention.deleteExpiredGovernance(deps.db, window),
    );
  }
  if (finished) {
    const window = { workspaceId: workspace.id, days: OUTBOUND_KEPT_DAYS };
    finished = await untilNothingIsLeft(part, () =>
      retention.deleteExpiredOutbound(deps.db, window),
    );
    finished &&= await untilNothingIsLeft(part, () => deleteIdleListeners(deps.db, workspace.id));
  }
  if (finished) {
    const window = { workspaceId: workspace.id, days: JOBS_KEPT_DAYS };
    finished = await untilNothingIsLeft(part, () => deleteExpiredJobs(deps.db, window));
  }
  if (finished) {
    const days = Math.min(runsKeptDays ?? INBOUND_KEPT_DAYS, INBOUND_KEPT_DAYS);
    const window = { workspaceId: workspace.id, days };
    finished = await untilNothingIsLeft(part, () => deleteExpiredEvents(deps.db, window));
  }
  if (finished) {
    const { least, most } = EVENTS_KEPT_DAYS;
    const days = Math.max(least, Math.min(runsKeptDays ?? most, most));
    finished = await untilNothingIsLeft(part, () =>
      deleteOldEvents(deps.db, { workspaceId: workspace.id, days }),
    );
  }
  finished &&= await untilNothingIsLeft(part, () => deleteExpiredMetering(deps.db, workspace.id));
  finished &&= await untilNothingIsLeft(part, () => deleteExpiredAnswers(deps.db, workspace.id));
  finished &&= await untilNothingIsLeft(part, () => deleteOldCalls(deps.db, workspace.id));
  // One entry per sweep: a workspace that continues in the next part gets its entry at the end.
  if (finished) await retention.recordRemovals(deps.db, workspace.id);
  return finished;
}

/**
 * Deletes ended runs first: then few rows past the window are left, and active runs are found quickly. A later
 * iteration deletes cancelled runs once their execution has closed.
 */
async function sweepRuns(part: Part, window: retention.Window): Promise<boolean> {
  const { deps, progress } = part;
  const closed = await closedAmongEnding(part, window);
  if (!(await deleteRuns(part, window, closed))) return false;
  const cancelled = await untilNothingIsLeft(part, () => cancelLive(part, window));
  if (!cancelled) return false;
  progress.waiting += await retention.countExpired(deps.db, window, LIVE_BATCH);
  return true;
}

/** Returns false if the time ran out before all runs were deleted. */
async function deleteRuns(
  part: Part,
  window: retention.Window,
  closed: readonly string[],
): Promise<boolean> {
  const { deps, progress } = part;
  const lane = (): (() => Promise<number>) => {
    let from: string = retention.BEGINNING;
    let batches = 0;
    return async () => {
      const { runs, until } = await retention.deleteExpiredRuns(deps.db, window, { closed, from });
      progress.runs += runs;
      batches += 1;
      from = batches % REWIND_AFTER === 0 ? retention.BEGINNING : until;
      return runs;
    };
  };
  // First a single batch, because most sweeps delete no more.
  const first = await lane()();
  part.onBatch();
  if (first === 0) return true;
  if (part.isOver()) return false;
  const ends = await Promise.allSettled(
    Array.from({ length: LANES }, () => untilNothingIsLeft(part, lane())),
  );
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return ends.every((end) => end.status === 'fulfilled' && end.value);
}

/** Repeats a batch until it finds nothing. Returns false if the time ran out first. */
async function untilNothingIsLeft(part: Part, batch: () => Promise<number>): Promise<boolean> {
  for (;;) {
    const done = await batch();
    part.onBatch();
    if (done === 0) return true;
    if (part.isOver()) return false;
  }
}

async function cancelLive(part: Part, window: retention.Window): Promise<number> {
  const { deps, progress } = part;
  const promises = await retention.cancelExpiredRuns(deps.db, window, {
    limit: LIVE_BATCH,
    alerts: deps.config.alerts.channels.length > 0,
  });
  progress.cancelled += promises.length;
  await eachOf(promises, HANDLED_AT_ONCE, (row) => dispatchInOrder(deps, row));
  const runIds = promises.map((row) => row.run_id);
  if (runIds.length > 0) await notifyFrames(deps.db, runIds);
  await eachOf(runIds, HANDLED_AT_ONCE, (runId) => recordRunSpan(deps, runId));
  return promises.length;
}

/** Those of the expired and recently ended runs that have no open execution. */
async function closedAmongEnding(part: Part, window: retention.Window): Promise<string[]> {
  const { deps } = part;
  const ending = await retention.expiredAndEnding(deps.db, window, ENDING_BATCH);
  const closed: string[] = [];
  await eachOf(ending, HANDLED_AT_ONCE, async (runId) => {
    const current = await deps.temporal.withTimeout(() => describeCurrent(deps, runId));
    if (current?.open !== true) closed.push(runId);
  });
  return closed;
}

async function sweepPayloads(part: Part): Promise<void> {
  const { deps, progress } = part;
  const historyDays = await historyDaysOf(deps);
  await untilNothingIsLeft(part, async () => {
    const removed = await retention.deleteUnusedPayloads(deps.db, historyDays);
    progress.payloads += removed;
    return removed;
  });
}

/** Temporal's retention of closed executions, in whole days, rounded up. */
async function historyDaysOf(deps: DispatchDeps): Promise<number> {
  const { temporal } = deps;
  const { config } = await temporal.withTimeout(() =>
    temporal.client.workflowService.describeNamespace({ namespace: temporal.namespace }),
  );
  const seconds = config?.workflowExecutionRetentionTtl?.seconds;
  if (seconds === undefined || seconds === null) {
    throw new Error('the namespace has no retention period');
  }
  return Math.ceil(Number(seconds) / 86_400);
}
