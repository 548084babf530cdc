import { createHash } from 'node:crypto';
import { defaultPayloadConverter, toPayloads } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { OutdatedSchedule } from '#shared/db/schedules/schedules.ts';
import { SCHEDULE_WORKFLOW, type ScheduledTriggerInput } from '#shared/execution.ts';
import { dueTwice, longestPause, type Timing } from '#shared/values/cron.ts';
import { parseCron } from '#shared/values/cron-fields.ts';
import { zoneFile } from '#shared/values/time-zone.ts';

/**
 * Temporal's copy of a schedule, as a protobuf message. The SDK's client has no field for the rules of a time zone, and
 * cannot express times other than those that the server computes with its own rules.
 */

const { Schedule, ScheduleSpec } = proto.temporal.api.schedule.v1;

/** The repeated times of a clock change are sent this many days ahead, and renewed before they run out. */
const DOUBLED_DAYS = 400;
/** How many schedules may start in the same second. */
const STARTS_PER_SECOND = 15;
const MAX_SPREAD_SECONDS = 20;
const FORTY_YEARS_SECONDS = 14_610 * 86_400;

/**
 * Schedules start within this time after their minute, each always with the same offset: a second, or longer if there
 * are many schedules. 300 concurrent starts overload an embedded server on two cores: requests past its deadlines wait
 * for a minute (118 s until the last one had its run; spread over 20 s, 26 to 45 s under the same load).
 */
export const spreadSeconds = (enabledSchedules: number): number =>
  Math.min(MAX_SPREAD_SECONDS, Math.max(1, Math.ceil(enabledSchedules / STARTS_PER_SECOND)));

/**
 * Identifies the rules of a zone in this process; undefined for UTC, which has none. Throws RangeError for an unknown
 * zone.
 */
export const zoneRules = (timezone: string): string | undefined =>
  timezone === 'UTC'
    ? undefined
    : createHash('sha256').update(zoneFile(timezone)).digest('base64url').slice(0, 16);

const MONTHS = { from: 1, to: 12 };
const DAYS = { from: 1, to: 31 };
const WEEKDAYS = { from: 0, to: 6 };

/** Converts ordered values to ranges. No range begins after its end. */
function rangesOf(values: readonly number[]): { start: number; end: number; step: number }[] {
  const ranges: { start: number; end: number; step: number }[] = [];
  for (const value of values) {
    const last = ranges.at(-1);
    if (last?.end === value - 1) last.end = value;
    else ranges.push({ start: value, end: value, step: 1 });
  }
  return ranges;
}

const allOf = ({ from, to }: { from: number; to: number }) => [{ start: from, end: to, step: 1 }];

/** Calendars for the days on which all fields match; two calendars if one matching day field is enough. */
function calendarsOf(cron: string) {
  const fields = parseCron(cron);
  const base = {
    second: [{ start: 0, end: 0, step: 1 }],
    minute: rangesOf(fields.minute),
    hour: rangesOf(fields.hour),
    month: fields.month.length === MONTHS.to ? allOf(MONTHS) : rangesOf(fields.month),
  };
  const dayOfMonth = rangesOf(fields.day);
  const dayOfWeek = rangesOf(fields.weekday);
  return fields.days === 'both'
    ? [{ ...base, dayOfMonth, dayOfWeek }]
    : [
        { ...base, dayOfMonth, dayOfWeek: allOf(WEEKDAYS) },
        { ...base, dayOfMonth: allOf(DAYS), dayOfWeek },
      ];
}

/**
 * One instant, in ms since 1970, as an interval that occurred before 2010 and will occur again in forty years. The
 * server skips the first occurrence, so a longer interval would not work.
 */
const once = (at: number) => ({
  interval: { seconds: FORTY_YEARS_SECONDS },
  phase: { seconds: at / 1_000 - FORTY_YEARS_SECONDS },
});

/**
 * When the server must act, computed from the parsed cron and this process's zone rules. `after` is in ms since 1970.
 * Throws Error for an invalid cron, and RangeError for an unknown zone.
 */
export const specOf = (timing: Timing, after: number) =>
  ScheduleSpec.fromObject({
    structuredCalendar: calendarsOf(timing.cron),
    interval: dueTwice(timing, after, DOUBLED_DAYS).map(once),
    timezoneName: timing.timezone,
    ...(timing.timezone === 'UTC' ? {} : { timezoneData: zoneFile(timing.timezone) }),
  });

/** The whole schedule as the server stores it. Throws like `specOf`. */
export function temporalSchedule(
  schedule: OutdatedSchedule,
  { id, taskQueue, now }: { id: string; taskQueue: string; now: number },
) {
  const { workspace_id, cron, timezone } = schedule;
  const input: ScheduledTriggerInput = {
    workspace_id,
    schedule_id: schedule.id,
    cron,
    timezone,
    zone_rules: zoneRules(timezone),
  };
  const spec = specOf(schedule, now);
  spec.jitter = proto.google.protobuf.Duration.fromObject({
    seconds: spreadSeconds(schedule.enabled_schedules),
  });
  return Schedule.fromObject({
    spec,
    policies: {
      // A tick ends as soon as it has admitted its run: the overlap of runs is checked there.
      overlapPolicy: 'SCHEDULE_OVERLAP_POLICY_ALLOW_ALL',
      // Covers the latest missed tick. Other ticks that Temporal catches up on are rejected.
      catchupWindow: { seconds: Math.ceil(longestPause(schedule, now) / 1_000) },
    },
    state: { paused: !schedule.enabled, notes: schedule.name ?? '' },
    action: {
      startWorkflow: {
        // Temporal appends the due time.
        workflowId: id,
        workflowType: { name: SCHEDULE_WORKFLOW },
        taskQueue: { name: taskQueue },
        input: { payloads: toPayloads(defaultPayloadConverter, input) },
      },
    },
  });
}
