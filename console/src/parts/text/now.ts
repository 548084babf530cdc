import { useEffect, useState, useSyncExternalStore } from 'react';

const RELATIVE_TICK_MS = 10_000;
const SECOND_MS = 1_000;

/** The current time as an external store. Updates all listeners together every `everyMs`; stops without listeners. */
export function createClock(everyMs: number, read: () => number = Date.now) {
  let current = read();
  let timer: ReturnType<typeof setInterval> | undefined;
  const listeners = new Set<() => void>();
  return {
    now: (): number => current,
    subscribe: (listener: () => void): (() => void) => {
      // Not updated without listeners.
      if (listeners.size === 0) current = read();
      listeners.add(listener);
      timer ??= setInterval(() => {
        current = read();
        for (const each of listeners) each();
      }, everyMs);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

const clock = createClock(RELATIVE_TICK_MS);

/** The current time for relative times. */
export const useNow = (): number => useSyncExternalStore(clock.subscribe, clock.now);

/** The current time, updated every second while `moving`. */
export function useMoment(moving: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!moving) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}
