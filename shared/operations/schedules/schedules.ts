import type { Actor } from '#shared/people/actor.ts';
import type { RunSummary } from '#shared/contract/runs/run.ts';
import type {
  Schedule,
  ScheduleInput,
  ScheduleUpdate,
} from '#shared/contract/schedules/schedule.ts';
import type { RunRequest } from '#shared/db/runs/run-request.ts';
import * as schedules from '#shared/db/schedules/schedules.ts';
import { AppError, messageOf } from '#shared/errors.ts';
import { nextDue, type Timing } from '#shared/values/cron.ts';
import { canonicalZone } from '#shared/values/time-zone.ts';
import { requireFittingInput } from '#shared/operations/workflows/workflow-input.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { type RunDeps, type Dispatched, triggerRun } from '#shared/operations/runs/runs.ts';
import { removeSchedules, syncSchedule } from './sync.ts';

/** The operations on schedules. Each commits first and syncs Temporal right after; a worker retries failed syncs. */
export interface ScheduleChange extends Dispatched {
  scheduleId: string;
}

/** Throws AppError `not_found`, `invalid`, `input_invalid`. */
export async function createSchedule(
  deps: DispatchDeps,
  actor: Actor,
  input: ScheduleInput,
): Promise<ScheduleChange & { schedule: Schedule }> {
  const timezone = requireZone(input.timezone);
  checkTiming({ cron: input.cron, timezone });
  const { workspaceId } = actor;
  await requireFittingInput(deps.db, { workspaceId, workflowId: input.workflow_id }, input.input);
  const schedule = await schedules.createSchedule(deps.db, actor, { ...input, timezone });
  const scheduleId = schedule.id;
  return { scheduleId, schedule, dispatched: syncSchedule(deps, scheduleId) };
}

/**
 * A new input, and the input of an enabled schedule, must be valid for the workflow's current version. Throws AppError
 * `not_found`, `invalid`, `input_invalid`.
 */
export async function updateSchedule(
  deps: DispatchDeps,
  actor: Actor,
  scheduleId: string,
  body: ScheduleUpdate,
): Promise<ScheduleChange> {
  const { timezone } = body;
  const change = timezone === undefined ? body : { ...body, timezone: requireZone(timezone) };
  if (body.input !== undefined || body.enabled === true) {
    const { workspaceId } = actor;
    const before = await schedules.readSchedule(deps.db, { workspaceId, scheduleId });
    const scope = { workspaceId, workflowId: before.workflow_id };
    await requireFittingInput(deps.db, scope, body.input ?? before.input);
  }
  await schedules.updateSchedule(deps.db, actor, scheduleId, change, checkTiming);
  return { scheduleId, dispatched: syncSchedule(deps, scheduleId) };
}

/** Throws AppError `not_found`. */
export async function deleteSchedule(
  deps: DispatchDeps,
  actor: Actor,
  scheduleId: string,
): Promise<ScheduleChange> {
  await schedules.deleteSchedule(deps.db, actor, scheduleId);
  return { scheduleId, dispatched: removeSchedules(deps, [scheduleId]) };
}

function requireZone(name: string): string {
  const zone = canonicalZone(name);
  if (zone === undefined) {
    throw new AppError('invalid', `Invalid body: timezone '${name}' is not an IANA time zone`);
  }
  return zone;
}

function checkTiming({ cron, timezone }: Timing): void {
  let next;
  try {
    next = nextDue({ cron, timezone }, Date.now());
  } catch (error) {
    throw new AppError('invalid', `Invalid body: cron ${messageOf(error)}`, { cause: error });
  }
  if (next === undefined) throw new AppError('invalid', 'Invalid body: cron is never due');
}

/** A newly admitted run of a schedule. */
export interface ScheduledRun extends Dispatched {
  admitted: RunSummary;
  schedule: Schedule;
}

/**
 * Starts a run of the schedule, enabled or not. `withinAct`: in the transaction of an act with a key. Throws AppError `not_found`, `quota_exceeded`, `budget_exceeded`,
 * `graph_invalid`, `input_invalid`, and `conflict` when one of its runs is active and its overlap is `skip`.
 */
export async function triggerSchedule(
  deps: RunDeps,
  actor: Actor,
  scheduleId: string,
  { withinAct }: Pick<RunRequest, 'withinAct'> = {},
): Promise<ScheduledRun> {
  const schedule = await schedules.readSchedule(deps.db, {
    workspaceId: actor.workspaceId,
    scheduleId,
  });
  const { admitted, dispatched } = await triggerRun(deps, {
    actor,
    workflowId: schedule.workflow_id,
    trigger: 'schedule',
    input: schedule.input,
    audit: {
      action: 'schedule_run',
      details: { schedule_id: scheduleId, cron: schedule.cron },
    },
    schedule: { id: scheduleId, dueAt: null },
    ...(withinAct === undefined ? {} : { withinAct }),
  });
  if (admitted === undefined) throw new Error('a run without an idempotency key was replayed');
  return { admitted, schedule, dispatched };
}
