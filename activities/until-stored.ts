import type { Attempt } from './attempt.ts';

/**
 * Retries a write while the database is unavailable, with pauses that double from `firstMs` to `longestMs`.
 * `beforeAgain` gets the error and the number of tries; if it throws, the retries end with its error.
 */
export async function untilStored<T>(
  store: () => Promise<T>,
  { firstMs, longestMs }: { firstMs: number; longestMs: number },
  beforeAgain: (error: unknown, tries: number) => void,
): Promise<T> {
  for (let tries = 1, pause = firstMs; ; tries += 1, pause = Math.min(pause * 2, longestMs)) {
    try {
      return await store();
    } catch (error) {
      beforeAgain(error, tries);
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
}

/** Like `untilStored`, for an attempt at a step, until it is stopped. */
export const whileAlive = <T>(attempt: Attempt, store: () => Promise<T>): Promise<T> =>
  untilStored(store, { firstMs: 100, longestMs: 2_000 }, (error) => {
    if (attempt.signal.aborted) throw error;
    attempt.heartbeat();
  });
