/**
 * Times at the edges of the service. Internally, times are `timestamptz`, or texts in the format of all responses:
 * `YYYY-MM-DDTHH:MM:SS.mmmZ`.
 */

/** A date, or a date-time with `Z` or an offset written `+01:00`, `+0100` or `+01`. */
const ISO_8601 =
  /^(\d{4})-(\d\d)-(\d\d)(?:T([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d+))?)?(?:Z|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?))?$/;

/** The years that four digits can express and Postgres can store. */
const EARLIEST = Date.parse('0001-01-01T00:00:00.000Z');
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

const MINUTE_MS = 60_000;

/**
 * Reads an ISO 8601 date (midnight UTC) or a date-time with a time zone. Postgres and `Date` both reject or misread
 * some of these, so neither parses the text. Digits beyond milliseconds are dropped. Returns the time as
 * `YYYY-MM-DDTHH:MM:SS.mmmZ`; `'syntax'` for any other text and for nonexistent days, `'range'` for a time outside the
 * years 0001 to 9999 in UTC.
 */
export function parseTime(text: string): { time: string } | { problem: 'syntax' | 'range' } {
  const parts = ISO_8601.exec(text);
  if (parts === null) return { problem: 'syntax' };
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = ''] = parts;
  const [sign, offsetHours = '0', offsetMinutes = '0'] = parts.slice(8);
  const date = new Date(0);
  // Date.UTC interprets the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  // Days beyond the end of the month roll over into the next one.
  if (date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day)) {
    return { problem: 'syntax' };
  }
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'));
  date.setUTCHours(Number(hour), Number(minute), Number(second), ms);
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MINUTE_MS;
  const at = date.getTime() + (sign === '-' ? offset : -offset);
  if (at < EARLIEST || at > LATEST) return { problem: 'range' };
  return { time: new Date(at).toISOString() };
}

/** The format of times in a Postgres session in UTC, as text or in JSON, with years of four digits. */
const STORED = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?\+00(?::00)?$/;

/**
 * Converts a time from Postgres to `YYYY-MM-DDTHH:MM:SS.mmmZ`. It rearranges the text instead of parsing it, because
 * pages and exports contain tens of thousands of times. Throws RangeError for an invalid time.
 */
export function storedTime(text: string): string {
  const [, day, time, fraction = ''] = STORED.exec(text) ?? [];
  if (day === undefined) return new Date(text).toISOString();
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

/** A time of a response in seconds since 1970. */
export const unixSeconds = (time: string): number => Math.floor(Date.parse(time) / 1_000);
