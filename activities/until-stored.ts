/**
 * Repeats a write while the database is away, after pauses that double from `firstMs` to `longestMs`. `beforeAgain`
 * gets the error and how often the write was tried; what it throws ends the attempts.
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
