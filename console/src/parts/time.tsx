import { Text, Tooltip } from '@mantine/core';
import { useSyncExternalStore } from 'react';

const TICK_MS = 10_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** A time in the viewer's zone, with UTC on hover or focus. `ago`: how long it is from now, kept true. */
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

/** Milliseconds as people say them: `850 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `2 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  const [unit, smaller, names] =
    ms < HOUR
      ? ([MINUTE, 1_000, ['min', 's']] as const)
      : ms < DAY
        ? ([HOUR, MINUTE, ['h', 'min']] as const)
        : ([DAY, HOUR, ['d', 'h']] as const);
  const rest = Math.floor((ms % unit) / smaller);
  return `${Math.floor(ms / unit)} ${names[0]}${rest > 0 ? ` ${rest} ${names[1]}` : ''}`;
}

/** The time by which relative ones are told: moves every ten seconds, for all of them at once. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => current);

let current = Date.now();
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    current = Date.now();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function fromNow(ms: number): string {
  const size = Math.abs(ms);
  // What has just happened may lie a little after the last tick.
  if (size < MINUTE) return ms > TICK_MS ? 'in a moment' : 'just now';
  if (size < HOUR) return relative.format(Math.trunc(ms / MINUTE), 'minute');
  if (size < DAY) return relative.format(Math.trunc(ms / HOUR), 'hour');
  return relative.format(Math.trunc(ms / DAY), 'day');
}
