const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Formats milliseconds: `850 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `2 d 4 h`. */
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
