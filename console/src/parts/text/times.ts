import { locale } from '#console/src/messages/en/locale.ts';
import { closeTimes as text } from '#console/src/messages/en/times.ts';

/** Tolerated clock skew of the service ahead of the browser. */
const AHEAD_MS = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const absolute = new Intl.DateTimeFormat(locale, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
});
/** The zone of this browser, such as `Europe/Berlin`. */
export const ownZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

// With "yesterday", a time 47 hours ago would seem to be on the wrong date.
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'always' });

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', hourCycle: 'h23' });

/** A time of today in the viewer's zone, such as `17:04`. On other days with the date. */
export const clockText = (at: number): string =>
  new Date(at).toDateString() === new Date().toDateString() ? clock.format(at) : timeText(at);

/** A time in the viewer's zone: `Nov 25, 2026, 17:04:09 GMT+1`. */
export const timeText = (at: string | number): string => absolute.format(new Date(at));

const short = new Intl.DateTimeFormat(locale, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** A recent time in the viewer's zone, where space is limited: `Nov 25, 17:04:09`. */
export const shortTimeText = (at: string): string => short.format(new Date(at));

/** A time relative to now, in whole units that have passed: `just now`, `5 minutes ago`, `in 2 days`. */
export function agoText(ms: number): string {
  const size = Math.abs(ms);
  // A recent time can be slightly after the last tick.
  if (size < MINUTE) return ms > AHEAD_MS ? text.soon : text.justNow;
  if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute');
  if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour');
  return relative.format(Math.trunc(ms / DAY), 'day');
}

/** A time in the format of a `datetime-local` input, in the browser's zone. */
export const localTime = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * MINUTE).toISOString().slice(0, 16);
