// Where a browser for the tests is. Without a dependency, since set-up asks it.
import { findOnPath, isExecutable } from './temporal-binary.mjs';

// The shell draws pages as the browser does and has no windows, toolbars or extensions to keep up: a third less work.
const shells = ['chromium-headless-shell'];
const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * A Chromium or Chrome: `CHROMIUM_PATH`, else one that is installed. Undefined when there is none.
 * @param {NodeJS.ProcessEnv} env
 * @param {{ headed?: boolean }} [options] `headed`: one that can open a window
 * @returns {string | undefined}
 */
export function findChromium(env, { headed = false } = {}) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH;
  const wanted = headed ? names : [...shells, ...names];
  return wanted.map((name) => findOnPath(name, env)).find(Boolean) ?? places.find(isExecutable);
}
