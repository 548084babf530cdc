const AT_LATEST_MS = 1_000;

/** Resolves once what the page shows has been drawn, or a second later. Not every browser tells. */
export function pageAtRest(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) {
      requestIdleCallback(() => resolve(), { timeout: AT_LATEST_MS });
    } else {
      setTimeout(resolve, 0);
    }
  });
}
