import { BoundedMap } from '#shared/values/bounded-cache.ts';

const WINDOW_MS = 60_000;
/** The maximum number of subjects that are counted; beyond it, the one with the oldest window is dropped. */
const MAX_SUBJECTS = 10_000;

/** How often each subject (a key, an address) has acted in its current minute, in this process. */
export interface MinuteRates {
  /** Counts one call. Returns the seconds to wait if it exceeds the limit. */
  take(subject: string): number | undefined;
}

/** At most `perMinute` per minute and subject; 0: unlimited. */
export function createMinuteRates(perMinute: number): MinuteRates {
  const windows = new BoundedMap<string, { count: number; ends: number }>(MAX_SUBJECTS);
  return {
    take: (subject) => {
      if (perMinute === 0) return undefined;
      const now = performance.now();
      let window = windows.get(subject);
      if (window === undefined || window.ends <= now) {
        window = { count: 0, ends: now + WINDOW_MS };
        windows.set(subject, window);
      }
      window.count += 1;
      return window.count > perMinute ? Math.ceil((window.ends - now) / 1000) : undefined;
    },
  };
}
