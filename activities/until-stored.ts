/**
 * Retries a write while the database is unavailable, with pauses that double from `firstMs` to `longestMs`.
 * `beforeAgain` receives the error and the number of tries; if it throws, the retries end with its error.
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
