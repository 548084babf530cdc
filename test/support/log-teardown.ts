import { afterAll } from '@jest/globals';

// Slonik's logger listens to the standard output from when it is loaded, and each test file loads it anew in one process.
afterAll(() => {
  const { ROARR: logger } = globalThis as { ROARR?: { teardown?: () => void } };
  logger?.teardown?.();
});
