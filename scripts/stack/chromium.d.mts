/**
 * A Chromium or Chrome: `CHROMIUM_PATH`, else one that is installed, its headless shell first unless it has to open a
 * window. Undefined when there is none.
 */
export function findChromium(
  env: NodeJS.ProcessEnv,
  options?: { headed?: boolean },
): string | undefined;
