// Where a browser for the tests is. Without a dependency, since set-up asks it.
import { findOnPath, isExecutable } from './temporal-binary.mjs';

const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const places = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** A Chromium or Chrome: `CHROMIUM_PATH`, else one that is installed. Undefined when there is none. @param {NodeJS.ProcessEnv} env */
export function findChromium(env) {
  if (env.CHROMIUM_PATH) return env.CHROMIUM_PATH;
  return names.map((name) => findOnPath(name, env)).find(Boolean) ?? places.find(isExecutable);
}
