import { Cron } from 'croner';
import { createBoundedCache } from './bounded-cache.ts';

/**
 * When a schedule is due: five cron fields (minute, hour, day of month, month, day of week) in the local time of a zone.
 * A local time that a clock change skips is skipped; one that occurs twice is due twice.
 */
export interface Timing {
  cron: string;
  /** IANA name. */
  timezone: string;
}

const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};
const NAMES = {
  month: /jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/gi,
  weekday: /sun|mon|tue|wed|thu|fri|sat/gi,
};
const PLAIN = /^[\d*,/-]+$/;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** More than any clock is set back (Antarctica/Troll: two hours). */
const MAX_OVERLAP_MS = 3 * HOUR_MS;

/**
 * The cron as one or two expressions in which all fields must match, in the syntax that our library and Temporal share.
 * If both day of month and day of week are given, cron matches either of them: that gives two expressions. Throws Error
 * with the reason when the cron is invalid.
 */
export function cronExpressions(cron: string): string[] {
  const fields = (MACROS[cron.trim().toLowerCase()] ?? cron).trim().split(/\s+/);
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = fields;
  if (fields.length !== 5) {
    throw new Error('must have five fields: minute, hour, day of month, month, day of week');
  }
  const bare = [
    ...[minute, hour, day],
    month.replace(NAMES.month, '1'),
    weekday.replace(NAMES.weekday, '1'),
  ];
  const strange = fields.find((_field, at) => !PLAIN.test(bare[at] ?? ''));
  if (strange !== undefined) throw new Error(`has a field that is not understood: '${strange}'`);
  const either = day !== '*' && weekday !== '*';
  return either
    ? [`${minute} ${hour} ${day} ${month} *`, `${minute} ${hour} * ${month} ${weekday}`]
    : [fields.join(' ')];
}

/** Ho_Chi_Minh, Port-au-Prince, Isle_of_Man. */
const USUAL_PART = /^[A-Z][a-z]+(?:[_-](?:[A-Z][a-z]+|of|au|es))*$/;

/** The zone's name in the case that Temporal's server requires. Undefined for an unknown zone. */
export function canonicalZone(name: string): string | undefined {
  // Node accepts offsets as zones; the server does not.
  if (!/^[A-Za-z]/.test(name)) return undefined;
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
    // Node only reports the target of an alias (Asia/Calcutta for Asia/Kolkata), not its spelling.
    const isWrittenAsUsual = name.split('/').every((part) => USUAL_PART.test(part));
    return timeZone.toLowerCase() !== name.toLowerCase() && isWrittenAsUsual ? name : timeZone;
  } catch {
    return undefined;
  }
}

/**
 * The first time after `after` at which the timing is due, both in ms since 1970; undefined when there is none. Throws
 * Error when the cron is invalid.
 */
export function nextDue(timing: Timing, after: number): number | undefined {
  const times = cronExpressions(timing.cron)
    .map((expression) => nextOf(expression, timing.timezone, after))
    .filter((time) => time !== undefined);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** Whether the timing is due at this instant, in ms since 1970. */
export const isDue = (timing: Timing, at: number): boolean => nextDue(timing, at - 1) === at;

/**
 * Whether to act on a tick at this instant, in ms since 1970: the timing is due, or someone triggered the schedule in
 * Temporal. Around a clock change, the server (1.29) also ticks at whole minutes that are not due; those are ignored.
 */
export function isIntended(timing: Timing, at: number): boolean {
  if (at % MINUTE_MS !== 0 || isDue(timing, at)) return true;
  return offsetAt(timing.timezone, at - DAY_MS) === offsetAt(timing.timezone, at + DAY_MS);
}

/**
 * Finds local times as if they were UTC, then converts them to the zone. They have the order of the instants, except
 * where the clock is set back; there the search starts earlier and ends later.
 */
function nextOf(expression: string, zone: string, after: number): number | undefined {
  const pattern = parse(expression);
  const offset = offsetAt(zone, after);
  const near = [after - MAX_OVERLAP_MS, after + MAX_OVERLAP_MS].map((at) => offsetAt(zone, at));
  const steady = near.every((each) => each === offset);
  const latestOffset = Math.max(offset, ...near);
  let best: number | undefined;
  let wall: number | undefined = after + offset - (steady ? 0 : MAX_OVERLAP_MS);
  for (;;) {
    wall = pattern.nextRun(new Date(wall))?.getTime();
    if (wall === undefined) return best;
    if (best !== undefined && wall - latestOffset >= best) return best;
    for (const instant of instantsOf(zone, wall)) {
      if (instant > after && (best === undefined || instant < best)) best = instant;
    }
    if (steady && best !== undefined) return best;
  }
}

/** The instants at which the zone has this local time: none, one or two, in order. */
function instantsOf(zone: string, wall: number): number[] {
  const offsets = new Set([offsetAt(zone, wall - DAY_MS), offsetAt(zone, wall + DAY_MS)]);
  return [...offsets]
    .map((offset) => wall - offset)
    .filter((instant) => instant + offsetAt(zone, instant) === wall)
    .sort((a, b) => a - b);
}

/**
 * The due times during a backward clock change, within `days` after `after`. East of Greenwich, Temporal's server (1.29)
 * misses some of them, so that an hourly schedule would pause for two hours; each of them is scheduled separately.
 */
export function dueTwice(timing: Timing, after: number, days: number): number[] {
  const { timezone } = timing;
  const patterns = cronExpressions(timing.cron).map(parse);
  const times = new Set<number>();
  let offset = offsetAt(timezone, after);
  for (let at = after; at < after + days * DAY_MS; at += DAY_MS) {
    const before = offset;
    offset = offsetAt(timezone, at + DAY_MS);
    if (offset >= before) continue;
    // Between this time less the change and this time, each local time occurs twice.
    const end = changeBetween(timezone, at, at + DAY_MS) + before;
    for (const pattern of patterns) {
      for (let wall = end - (before - offset) - 1; ;) {
        const next = pattern.nextRun(new Date(wall))?.getTime();
        if (next === undefined || next >= end) break;
        for (const instant of instantsOf(timezone, next)) if (instant > after) times.add(instant);
        wall = next;
      }
    }
  }
  return [...times].sort((a, b) => a - b);
}

/** The instant at which the zone's offset changes, to the second. */
function changeBetween(zone: string, from: number, to: number): number {
  const old = offsetAt(zone, from);
  let [low, high] = [from, to];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle) === old) low = middle;
    else high = middle;
  }
  return high;
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

const MAX_REMEMBERED = 500;

const parsed = createBoundedCache<string, Cron>(MAX_REMEMBERED);

function parse(expression: string): Cron {
  return parsed(expression, () => {
    try {
      return new Cron(expression, { mode: '5-part', utcOffset: 0 });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      throw new Error(text.replace(/^CronPattern: /, 'is not understood: '), { cause: error });
    }
  });
}

const clocks = createBoundedCache<string, Intl.DateTimeFormat>(MAX_REMEMBERED);

/** How far the zone's clock is ahead of UTC at an instant, in ms. */
function offsetAt(zone: string, instant: number): number {
  if (zone === 'UTC') return 0;
  const clock = clocks(
    zone,
    () =>
      new Intl.DateTimeFormat('en-US', {
        timeZone: zone,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      }),
  );
  const shown = Object.fromEntries(
    clock.formatToParts(instant).map((part) => [part.type, Number(part.value)]),
  );
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(instant / 1_000) * 1_000;
}
