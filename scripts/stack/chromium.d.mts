/**
 * A Chromium or Chrome: `CHROMIUM_PATH`, else an installed one, preferably its headless shell unless it has to open a
 * window. Undefined if there is none.
 */
export function findChromium(
  env: NodeJS.ProcessEnv,
  options?: { headed?: boolean },
): string | undefined;
