const WINDOW_MS = 60_000;
/** Keys counted at a time; past that the one whose window began first is forgotten. */
const MAX_KEYS = 10_000;

/** How many requests each key has sent in the last minute that began with one of them, in this process. */
export interface KeyRates {
  /** Counts a request. Returns after how many seconds to come back when it is one too many. */
  take(keyId: string): number | undefined;
}

/** At most `perMinute` requests a minute and key; 0: as many as they like. */
export function createKeyRates(perMinute: number): KeyRates {
  const windows = new Map<string, { count: number; ends: number }>();
  return {
    take: (keyId) => {
      if (perMinute === 0) return undefined;
      const now = performance.now();
      let window = windows.get(keyId);
      if (window === undefined || window.ends <= now) {
        window = { count: 0, ends: now + WINDOW_MS };
        // Deleted and set again, the key stands last: a Map forgets in the order of insertion.
        windows.delete(keyId);
        windows.set(keyId, window);
        const [oldest = keyId] = windows.keys();
        if (windows.size > MAX_KEYS) windows.delete(oldest);
      }
      window.count += 1;
      return window.count > perMinute ? Math.ceil((window.ends - now) / 1000) : undefined;
    },
  };
}
