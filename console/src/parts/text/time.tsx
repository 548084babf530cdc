import { Text, Tooltip } from '@mantine/core';
import { useNow } from './now.ts';

/** Tolerated clock skew of the service ahead of the browser. */
const AHEAD_MS = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** A time in the viewer's zone, with UTC on hover or focus. `ago` shows it relative to now, kept current. */
export function When({ at, ago = false }: { at: string; ago?: boolean }) {
  const now = useNow();
  const time = new Date(at);
  const shown = ago ? fromNow(time.getTime() - now) : absolute.format(time);
  const hint = ago ? `${absolute.format(time)} (${at})` : at;
  return (
    <Tooltip label={hint} events={{ hover: true, focus: true, touch: true }}>
      <Text component="time" dateTime={at} inherit tabIndex={0} span>
        {shown}
      </Text>
    </Tooltip>
  );
}

function fromNow(ms: number): string {
  const size = Math.abs(ms);
  // A recent time can be slightly after the last tick.
  if (size < MINUTE) return ms > AHEAD_MS ? 'in a moment' : 'just now';
  if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute');
  if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour');
  return relative.format(Math.trunc(ms / DAY), 'day');
}
