import { markOutdated, readForTick, recordSkip } from '#shared/db/schedules/schedules.ts';
import { AppError, type ErrorCode } from '#shared/errors.ts';
import type { TickCall, TickResult } from '#shared/execution.ts';
import { isIntended, nextDue } from '#shared/values/cron.ts';
import { type RunDeps, triggerRun } from '#shared/operations/runs/runs.ts';
import { removeSchedules } from './sync.ts';
import { zoneRules } from './temporal-schedule.ts';

/** Refusals that end a tick: it is neither retried nor stored for later. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'conflict',
  'quota_exceeded',
  'budget_exceeded',
  'graph_invalid',
  'input_invalid',
]);

/**
 * Starts the run of one tick, or finds the run that it has already started. A refused tick is stored as the schedule's
 * last skip, with the reason. Rejects only with errors that a retry may fix.
 */
export async function runTick(deps: RunDeps, tick: TickCall): Promise<TickResult> {
  const scope = {
    workspaceId: tick.workspace_id,
    scheduleId: tick.schedule_id,
    dueAt: tick.due_at,
  };
  const schedule = await readForTick(deps.db, scope);
  if (schedule === undefined) {
    await removeSchedules(deps, [tick.schedule_id]);
    return { skipped: 'the schedule was deleted' };
  }
  if (schedule.run_id !== null) return { run_id: schedule.run_id };
  if (schedule.cron !== tick.cron || schedule.timezone !== tick.timezone) {
    await markOutdated(deps.db, scope);
    return { skipped: "the schedule's times have changed" };
  }
  if (!schedule.counts) return { skipped: 'the schedule was disabled then' };
  const due = Date.parse(tick.due_at);
  const sameRules = tick.zone_rules === zoneRules(schedule.timezone);
  if (!isIntended(schedule, due, sameRules)) {
    if (!sameRules) await markOutdated(deps.db, scope);
    return { skipped: 'the schedule is not due' };
  }
  const next = nextDue(schedule, due);
  if (next !== undefined && next <= Date.now()) {
    return skip(deps, scope, 'Missed: a later time was also due before this one was processed');
  }
  try {
    const { runId, dispatched } = await triggerRun(deps, {
      actor: { workspaceId: scope.workspaceId, id: null, name: schedule.name ?? scope.scheduleId },
      workflowId: schedule.workflow_id,
      trigger: 'schedule',
      input: schedule.input,
      audit: {
        action: 'schedule_run',
        details: { schedule_id: scope.scheduleId, cron: schedule.cron },
      },
      schedule: { id: scope.scheduleId, dueAt: tick.due_at },
    });
    await dispatched;
    return { run_id: runId };
  } catch (error) {
    // Another attempt at the same tick may have come first, and its run may cause this refusal.
    const now = await readForTick(deps.db, scope);
    if (now?.run_id != null) return { run_id: now.run_id };
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'not_found') return { skipped: error.message };
    if (!REFUSALS.has(error.code)) throw error;
    return skip(deps, scope, error.message);
  }
}

async function skip(
  deps: RunDeps,
  scope: { workspaceId: string; scheduleId: string; dueAt: string },
  reason: string,
): Promise<TickResult> {
  await recordSkip(deps.db, { ...scope, reason });
  deps.log.info({ ...scope, reason }, 'skipped a scheduled run');
  return { skipped: reason };
}
