import { type CronFields, parseCron } from './cron-fields.ts';
import { changeBetween, DAY_MS, instantsOf, offsetAt } from './time-zone.ts';

/**
 * When a schedule is due: five cron fields (minute, hour, day of month, month, day of week) in the local time of a zone.
 * A local time that a clock change skips is skipped; one that occurs twice is due twice.
 */
export interface Timing {
  cron: string;
  /** IANA name. */
  timezone: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** More than any clock is ever set back (Antarctica/Troll: two hours). */
const MAX_OVERLAP_MS = 3 * HOUR_MS;
/** February 29 falls on a given day of the week once in 40 years at most. */
const MAX_YEARS = 50;

const isDueOn = (cron: CronFields, date: Date): boolean => {
  const day = cron.day.includes(date.getUTCDate());
  const weekday = cron.weekday.includes(date.getUTCDay());
  return cron.days === 'both' ? day && weekday : day || weekday;
};

/** The first local time after `wall` that matches, both in ms as if they were UTC; undefined if there is none. */
function nextMatch(cron: CronFields, wall: number): number | undefined {
  const from = new Date(Math.floor(wall / MINUTE_MS) * MINUTE_MS + MINUTE_MS);
  const sinceMidnight = from.getUTCHours() * 60 + from.getUTCMinutes();
  const midnight = from.getTime() - sinceMidnight * MINUTE_MS;
  const last = from.getUTCFullYear() + MAX_YEARS;
  let date = new Date(midnight);
  while (date.getUTCFullYear() <= last) {
    if (!cron.month.includes(date.getUTCMonth() + 1)) {
      date = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1));
      continue;
    }
    const minute = isDueOn(cron, date)
      ? minuteOfDay(cron, date.getTime() === midnight ? sinceMidnight : 0)
      : undefined;
    if (minute !== undefined) return date.getTime() + minute * MINUTE_MS;
    date = new Date(date.getTime() + DAY_MS);
  }
  return undefined;
}

/** The first minute of a day, from `least` on, that matches hour and minute. */
function minuteOfDay({ hour, minute }: CronFields, least: number): number | undefined {
  for (const each of hour) {
    const found = minute.find((at) => each * 60 + at >= least);
    if (found !== undefined) return each * 60 + found;
  }
  return undefined;
}

/** Whether the timing is due at this instant, in ms since 1970. */
export const isDue = (timing: Timing, at: number): boolean => nextDue(timing, at - 1) === at;

/**
 * Whether to act on a tick at this instant, in ms since 1970: the timing is due, or someone triggered the schedule in
 * Temporal, at any second. Around a clock change, the server (1.29) also ticks at whole minutes that are not due; with
 * zone rules other than ours (`sameRules` false), it does so at any time. Those ticks are ignored.
 */
export function isIntended(timing: Timing, at: number, sameRules: boolean): boolean {
  if (at % MINUTE_MS !== 0 || isDue(timing, at)) return true;
  const { timezone } = timing;
  return sameRules && offsetAt(timezone, at - DAY_MS) === offsetAt(timezone, at + DAY_MS);
}

/**
 * The first time after `after` at which the timing is due, both in ms since 1970; undefined when there is none. Throws
 * Error when the cron is invalid.
 *
 * Finds local times as if they were UTC, then converts them to the zone. They are in the same order as the instants,
 * except where the clock is set back: there the search starts earlier and ends later.
 */
export function nextDue({ cron: text, timezone: zone }: Timing, after: number): number | undefined {
  const cron = parseCron(text);
  const offset = offsetAt(zone, after);
  const near = [after - MAX_OVERLAP_MS, after + MAX_OVERLAP_MS].map((at) => offsetAt(zone, at));
  const steady = near.every((each) => each === offset);
  const latestOffset = Math.max(offset, ...near);
  let best: number | undefined;
  let wall: number | undefined = after + offset - (steady ? 0 : MAX_OVERLAP_MS);
  for (;;) {
    wall = nextMatch(cron, wall);
    if (wall === undefined) return best;
    if (best !== undefined && wall - latestOffset >= best) return best;
    for (const instant of instantsOf(zone, wall)) {
      if (instant > after && (best === undefined || instant < best)) best = instant;
    }
    if (steady && best !== undefined) return best;
  }
}

/**
 * The due times during a backward clock change, within `days` after `after`. East of Greenwich, Temporal's server (1.29)
 * misses some of them, so that an hourly schedule would pause for two hours; each of them is scheduled separately.
 */
export function dueTwice(timing: Timing, after: number, days: number): number[] {
  const { timezone } = timing;
  const cron = parseCron(timing.cron);
  const times = new Set<number>();
  let offset = offsetAt(timezone, after);
  for (let at = after; at < after + days * DAY_MS; at += DAY_MS) {
    const before = offset;
    offset = offsetAt(timezone, at + DAY_MS);
    if (offset >= before) continue;
    // Between this time minus the change and this time, each local time occurs twice.
    const end = changeBetween(timezone, at, at + DAY_MS) + before;
    for (let wall = end - (before - offset) - 1; ;) {
      const next = nextMatch(cron, wall);
      if (next === undefined || next >= end) break;
      for (const instant of instantsOf(timezone, next)) if (instant > after) times.add(instant);
      wall = next;
    }
  }
  return [...times].sort((a, b) => a - b);
}

/**
 * How far back, in ms, the latest due time can be: the longest pause between two due times in the next eight days, plus
 * an hour. Ten years for a timing that is due less often, since it has few due times.
 */
export function longestPause(timing: Timing, after: number): number {
  let longest = 0;
  for (let at = after; at < after + 8 * DAY_MS;) {
    const next = nextDue(timing, at);
    if (next === undefined || next - at > 8 * DAY_MS) return 3_653 * DAY_MS;
    longest = Math.max(longest, next - at);
    at = Math.max(next, at + HOUR_MS);
  }
  return longest + HOUR_MS;
}
