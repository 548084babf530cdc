const AT_LATEST_MS = 1_000;

/** Resolves when the page is idle, or after a second. Browsers without `requestIdleCallback` do not wait. */
export function pageAtRest(): Promise<void> {
  return new Promise((resolve) => {
    if ('requestIdleCallback' in window) {
      requestIdleCallback(() => resolve(), { timeout: AT_LATEST_MS });
    } else {
      setTimeout(resolve, 0);
    }
  });
}
