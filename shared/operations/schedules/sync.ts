import { randomUUID } from 'node:crypto';
import { isGrpcServiceError, ScheduleNotFoundError } from '@temporalio/client';
import {
  compareSchedules,
  type KnownSchedule,
  markSynced,
  takeOutdated,
  type OutdatedSchedule,
} from '#shared/db/schedules/schedules.ts';
import { messageOf } from '#shared/errors.ts';
import type { DispatchDeps } from '#shared/operations/runs/executions.ts';
import { type Loop, startLoop } from '#shared/operations/loop.ts';
import { eachOf } from '#shared/operations/each-of.ts';
import { temporalSchedule } from './temporal-schedule.ts';

/**
 * Schedules are rows. Each has a Temporal Schedule, which is created from its row and synced after every change. The
 * row wins: a comparison reverts changes made in Temporal.
 */

/** Schedules synced per iteration, and how many of them concurrently. */
const BATCH = 50;
const SYNCED_AT_ONCE = 10;
const COMPARE_EVERY_MS = 300_000;
/** Temporal's copies of repeated times, and rejected schedules, are renewed after this time. */
const RENEW_DAYS = 90;
const LIST_PAGE = 500;

const INVALID_ARGUMENT = 3;
const ALREADY_EXISTS = 6;

/** The release of the time zone rules of this process. Schedules that were synced with an older one are synced again. */
const zoneRelease = process.versions['tz'] ?? '';
/** Several installations can share a namespace, but not the names of their task queues. */
const temporalId = (taskQueuePrefix: string, scheduleId: string): string =>
  `${taskQueuePrefix}-schedule-${scheduleId}`;

/** Syncs a changed schedule to Temporal. Never rejects: returns false when a worker has to do it. */
export async function syncSchedule(deps: DispatchDeps, scheduleId: string): Promise<boolean> {
  try {
    const [outdated] = await takeOutdated(deps.db, { only: scheduleId, limit: 1 });
    return outdated !== undefined && (await sync(deps, outdated));
  } catch (error) {
    deps.log.warn({ err: error, scheduleId }, 'could not read a schedule');
    return false;
  }
}

/** Deletes Temporal's copies of deleted schedules. Never rejects: returns false when a worker has to do it. */
export async function removeSchedules(
  deps: DispatchDeps,
  scheduleIds: readonly string[],
): Promise<boolean> {
  const forgotten = await eachOf(scheduleIds, SYNCED_AT_ONCE, (scheduleId) =>
    forget(deps, scheduleId),
  );
  return forgotten.every(Boolean);
}

async function sync(deps: DispatchDeps, schedule: OutdatedSchedule): Promise<boolean> {
  const refusal = await refusalOf(deps, schedule);
  if (refusal === 'unknown') return false;
  try {
    // The schedule was deleted in the meantime, perhaps before Temporal had its copy.
    const exists = await markSynced(deps.db, { ...schedule, refusal, rules: zoneRelease });
    if (!exists || refusal !== undefined) await forget(deps, schedule.id);
    return true;
  } catch (error) {
    return later(deps, schedule, error);
  }
}

/**
 * Sends the schedule to Temporal. Returns why Temporal can never accept it, or 'unknown' if another try may succeed.
 */
async function refusalOf(
  deps: DispatchDeps,
  schedule: OutdatedSchedule,
): Promise<{ reason: string } | 'unknown' | undefined> {
  const id = temporalId(deps.config.temporal.taskQueuePrefix, schedule.id);
  const { queues } = deps.temporal;
  let copy;
  try {
    copy = temporalSchedule(schedule, { id, taskQueue: queues.control, now: Date.now() });
  } catch (error) {
    return { reason: messageOf(error) };
  }
  try {
    await put(deps, id, copy);
    return undefined;
  } catch (error) {
    if (codeOf(error) === INVALID_ARGUMENT && isGrpcServiceError(error)) {
      return { reason: `Temporal refuses the schedule: ${error.details}` };
    }
    later(deps, schedule, error);
    return 'unknown';
  }
}

/** The lease expires, and the next iteration syncs it. */
function later(deps: DispatchDeps, schedule: OutdatedSchedule, error: unknown): false {
  deps.log.warn(
    { err: error, scheduleId: schedule.id, workspaceId: schedule.workspace_id },
    'could not sync a schedule to Temporal; will try again',
  );
  return false;
}

const codeOf = (error: unknown): number | undefined =>
  isGrpcServiceError(error) ? error.code : undefined;

async function put(
  { temporal }: DispatchDeps,
  scheduleId: string,
  schedule: ReturnType<typeof temporalSchedule>,
): Promise<void> {
  const { workflowService } = temporal.client;
  const { namespace } = temporal;
  const request = { namespace, scheduleId, schedule, requestId: randomUUID() };
  try {
    await temporal.withTimeout(() => workflowService.createSchedule(request));
  } catch (error) {
    if (codeOf(error) !== ALREADY_EXISTS) throw error;
    await temporal.withTimeout(() => workflowService.updateSchedule(request));
  }
}

async function forget(deps: DispatchDeps, id: string): Promise<boolean> {
  const { temporal } = deps;
  const scheduleId = temporalId(deps.config.temporal.taskQueuePrefix, id);
  try {
    await temporal.withTimeout(() => temporal.client.schedule.getHandle(scheduleId).delete());
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return true;
    deps.log.warn({ err: error, scheduleId: id }, 'could not delete a schedule in Temporal');
    return false;
  }
}

/** Syncs outdated schedules to Temporal. Returns whether there are more. */
export async function syncOnce(deps: DispatchDeps): Promise<boolean> {
  const outdated = await takeOutdated(deps.db, { limit: BATCH });
  await eachOf(outdated, SYNCED_AT_ONCE, (schedule) => sync(deps, schedule));
  return outdated.length === BATCH;
}

/** Deletes Temporal's schedules without a row, and marks missing or different ones for a sync. */
export async function compareOnce(deps: DispatchDeps): Promise<void> {
  const known = await listKnown(deps);
  const strays = await compareSchedules(deps.db, known, {
    graceMs: deps.config.reconcile.graceMs,
    renewDays: RENEW_DAYS,
    rules: zoneRelease,
  });
  if (strays.length > 0) {
    deps.log.info({ schedules: strays.length }, 'deleting schedules without a row');
  }
  await removeSchedules(deps, strays);
}

async function listKnown({ temporal, config }: DispatchDeps): Promise<KnownSchedule[]> {
  const prefix = temporalId(config.temporal.taskQueuePrefix, '');
  const known: KnownSchedule[] = [];
  for await (const summary of temporal.client.schedule.list({ pageSize: LIST_PAGE })) {
    const id = summary.scheduleId.slice(prefix.length);
    // Another installation's prefix may start with this one's.
    if (!summary.scheduleId.startsWith(prefix) || !/^sch_[0-9a-z]+$/.test(id)) continue;
    known.push({ id, paused: summary.state.paused });
  }
  return known;
}

/** Keeps Temporal's schedules in sync with the rows, until stopped. */
export function startScheduleSync(deps: DispatchDeps): Loop {
  const loops = [
    startLoop({ name: 'schedule sync', ...deps }, () => syncOnce(deps)),
    startLoop({ name: 'schedule comparison', ...deps, everyMs: COMPARE_EVERY_MS }, async () => {
      await compareOnce(deps);
      return false;
    }),
  ];
  return {
    stop: async () => {
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
