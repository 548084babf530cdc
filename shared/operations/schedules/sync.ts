import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import {
  compareSchedules,
  type KnownSchedule,
  markSynced,
  takeOutdated,
  type OutdatedSchedule,
} from '../../db/workflows/schedules.ts';
import { SCHEDULE_WORKFLOW, type ScheduledTriggerInput } from '../../execution.ts';
import { dueTwice, longestPause, cronExpressions } from '../../values/cron.ts';
import type { DispatchDeps } from '../runs/executions.ts';
import { type Loop, startLoop } from '../loop.ts';

/**
 * Schedules are rows; each has a Temporal Schedule, created from its row and synced with every change. The row wins: a
 * comparison resets changes made in Temporal.
 */

/** Schedules synced per iteration, and how many of them concurrently. */
const BATCH = 50;
const SYNCED_AT_ONCE = 10;
const COMPARE_EVERY_MS = 300_000;
/** Repeated times of a clock change are sent this many days ahead, and renewed before they end. */
const DOUBLED_DAYS = 400;
const RENEW_DAYS = 90;
const LIST_PAGE = 500;
/** How many schedules may start in the same second. */
const STARTS_PER_SECOND = 15;
const MAX_SPREAD_SECONDS = 20;

/**
 * Schedules start within this time after their minute, each always with the same offset: a second, and longer only for
 * many schedules. 300 concurrent starts overload an embedded server on two cores: requests past its deadlines wait for
 * a minute (118 s until the last one had its run; spread over 20 s, 26 to 45 s under the same load).
 */
export const spreadSeconds = (enabledSchedules: number): number =>
  Math.min(MAX_SPREAD_SECONDS, Math.max(1, Math.ceil(enabledSchedules / STARTS_PER_SECOND)));

/** Several installations may share a namespace, but not the names of their task queues. */
const temporalId = (taskQueuePrefix: string, scheduleId: string): string =>
  `${taskQueuePrefix}-schedule-${scheduleId}`;

/** Syncs a changed schedule to Temporal. Never rejects: false when a worker has to do it. */
export async function syncSchedule(deps: DispatchDeps, scheduleId: string): Promise<boolean> {
  try {
    const [outdated] = await takeOutdated(deps.db, { only: scheduleId, limit: 1 });
    return outdated !== undefined && (await sync(deps, outdated));
  } catch (error) {
    deps.log.warn({ err: error, scheduleId }, 'could not read a schedule');
    return false;
  }
}

/** Deletes Temporal's copies of deleted schedules. Never rejects: false when a worker has to do it. */
export async function removeSchedules(
  deps: DispatchDeps,
  scheduleIds: readonly string[],
): Promise<boolean> {
  const forgotten = await eachOf(scheduleIds, (scheduleId) => forget(deps, scheduleId));
  return forgotten.every(Boolean);
}

async function sync(deps: DispatchDeps, schedule: OutdatedSchedule): Promise<boolean> {
  try {
    await put(deps, schedule);
    // The schedule was deleted in the meantime, perhaps before Temporal had its copy.
    if (!(await markSynced(deps.db, schedule))) await forget(deps, schedule.id);
    return true;
  } catch (error) {
    // The lease expires, and the next iteration syncs it.
    deps.log.warn(
      { err: error, scheduleId: schedule.id, workspaceId: schedule.workspace_id },
      'could not sync a schedule to Temporal; will try again',
    );
    return false;
  }
}

async function put(deps: DispatchDeps, schedule: OutdatedSchedule): Promise<void> {
  const { temporal } = deps;
  const { schedule: client } = temporal.client;
  const options = optionsOf(deps, schedule);
  try {
    await temporal.withTimeout(() => client.create(options));
  } catch (error) {
    if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    const { scheduleId, ...wanted } = options;
    await temporal.withTimeout(() => client.getHandle(scheduleId).update(() => wanted));
  }
}

function optionsOf({ temporal, config }: DispatchDeps, schedule: OutdatedSchedule) {
  const { id, workspace_id, cron, timezone, enabled, name } = schedule;
  const scheduleId = temporalId(config.temporal.taskQueuePrefix, id);
  const now = Date.now();
  const input: ScheduledTriggerInput = { workspace_id, schedule_id: id, cron, timezone };
  return {
    scheduleId,
    spec: {
      cronExpressions: cronExpressions(cron),
      timezone,
      jitter: `${spreadSeconds(schedule.enabled_schedules)} seconds`,
      intervals: dueTwice(schedule, now, DOUBLED_DAYS).map(once),
    },
    policies: {
      // A tick ends as soon as it has admitted its run: the overlap of runs is decided there.
      overlap: ScheduleOverlapPolicy.ALLOW_ALL,
      // Covers the latest missed tick; the other caught-up ticks are rejected.
      catchupWindow: longestPause(schedule, now),
    },
    state: { paused: !enabled, note: name ?? undefined },
    action: {
      type: 'startWorkflow',
      workflowType: SCHEDULE_WORKFLOW,
      // The due time is appended.
      workflowId: scheduleId,
      taskQueue: temporal.queues.control,
      args: [input],
    },
  } satisfies ScheduleOptions;
}

const FORTY_YEARS_MS = 14_610 * 86_400_000;

/**
 * One instant, in ms since 1970, as an interval: it occurred before 2010 and will occur again in forty years. The
 * server skips the first occurrence, so a longer interval would not work.
 */
export const once = (at: number) => ({ every: FORTY_YEARS_MS, offset: at - FORTY_YEARS_MS });

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
  await eachOf(outdated, (schedule) => sync(deps, schedule));
  return outdated.length === BATCH;
}

/** Deletes Temporal's schedules without a row, and marks missing or different ones for a sync. */
export async function compareOnce(deps: DispatchDeps): Promise<void> {
  const known = await listKnown(deps);
  const strays = await compareSchedules(deps.db, known, {
    graceMs: deps.config.reconcile.graceMs,
    renewDays: RENEW_DAYS,
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

/** Processes a few items at a time. */
async function eachOf<T>(
  items: readonly T[],
  act: (item: T) => Promise<boolean>,
): Promise<boolean[]> {
  const results: boolean[] = [];
  for (let at = 0; at < items.length; at += SYNCED_AT_ONCE) {
    results.push(...(await Promise.all(items.slice(at, at + SYNCED_AT_ONCE).map(act))));
  }
  return results;
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
