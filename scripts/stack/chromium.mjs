// Finds a browser for the tests. It has no dependencies, since the setup uses it.
import { findOnPath, isExecutable } from './temporal-binary.mjs';

// The headless shell renders pages like the browser, but without windows, toolbars or extensions, which saves a third
// of the work.
const shells = ['chromium-headless-shell'];
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * A Chromium or Chrome: `CHROMIUM_PATH`, or else an installed one. Undefined if there is none.
 * @param {NodeJS.ProcessEnv} env
 * @param {{ headed?: boolean }} [options] `headed`: one that can open a window
 * @returns {string | undefined}
 */
export function findChromium(env, { headed = false } = {}) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH;
  const wanted = headed ? names : [...shells, ...names];
  return wanted.map((name) => findOnPath(name, env)).find(Boolean) ?? places.find(isExecutable);
}
