import { locale } from '#console/src/messages/en/locale.ts';
import { durations as text } from '#console/src/messages/en/times.ts';
import { countText } from './numbers.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const tenths = new Intl.NumberFormat(locale, {
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

/** Formats milliseconds: `850 ms`, `4.2 s`, `3 min 20 s`, `5 h 2 min`, `2 d 4 h`. */
export function durationText(ms: number): string {
  if (ms < SECOND) return text.milliseconds(countText(Math.max(0, Math.round(ms))));
  if (ms < MINUTE) return text.seconds(tenths.format(Math.floor(ms / 100) / 10));
  const [unit, smaller, names] =
    ms < HOUR
      ? ([MINUTE, SECOND, [text.minutes, text.seconds]] as const)
      : ms < DAY
        ? ([HOUR, MINUTE, [text.hours, text.minutes]] as const)
        : ([DAY, HOUR, [text.days, text.hours]] as const);
  const whole = names[0](countText(Math.floor(ms / unit)));
  const rest = Math.floor((ms % unit) / smaller);
  return rest > 0 ? text.both(whole, names[1](countText(rest))) : whole;
}
