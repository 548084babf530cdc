const WINDOW_MS = 60_000;
/** Subjects counted at a time; past that the one whose window began first is forgotten. */
const MAX_SUBJECTS = 10_000;

/** How often each subject (a key, an address) has done something in the minute since it began, in this process. */
export interface MinuteRates {
  /** Counts one more. Returns after how many seconds to come back when it is one too many. */
  take(subject: string): number | undefined;
}

/** At most `perMinute` a minute and subject; 0: as many as they like. */
export function createMinuteRates(perMinute: number): MinuteRates {
  const windows = new Map<string, { count: number; ends: number }>();
  return {
    take: (subject) => {
      if (perMinute === 0) return undefined;
      const now = performance.now();
      let window = windows.get(subject);
      if (window === undefined || window.ends <= now) {
        window = { count: 0, ends: now + WINDOW_MS };
        // Deleted and set again, the subject stands last: a Map forgets in the order of insertion.
        windows.delete(subject);
        windows.set(subject, window);
        const [oldest = subject] = windows.keys();
        if (windows.size > MAX_SUBJECTS) windows.delete(oldest);
      }
      window.count += 1;
      return window.count > perMinute ? Math.ceil((window.ends - now) / 1000) : undefined;
    },
  };
}
