import { type Browser, chromium, type Page } from 'playwright-core';
import { atMost, type Bound, compare, figure, type Result } from '#bench/result.ts';
import { findChromium } from '#scripts/stack/chromium.mjs';

/** How long a page may take until the measured part has appeared. */
export const SHOWN_WITHIN_MS = 30_000;

/** Runs `work` with a browser. Throws if the machine has none. */
export async function inBrowser<T>(work: (browser: Browser) => Promise<T>): Promise<T> {
  const executablePath = findChromium(process.env);
  if (executablePath === undefined) {
    throw new Error('there is no Chromium or Chrome on this machine: set CHROMIUM_PATH');
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    return await work(browser);
  } finally {
    await browser.close();
  }
}

/** Runs `work` with a page whose caches are empty. */
export async function inNewProfile<T>(
  browser: Browser,
  work: (page: Page) => Promise<T>,
): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(SHOWN_WITHIN_MS);
    return await work(page);
  } finally {
    await context.close();
  }
}

/**
 * In the page: `frame()` is the next frame, `until(what)` the frame in which `what` returns something. Throws if that does
 * not appear.
 */
export const FRAMES = `
  const frame = () => new Promise(requestAnimationFrame);
  const until = async (what) => {
    const end = performance.now() + ${SHOWN_WITHIN_MS};
    while (performance.now() < end) {
      const found = what();
      if (found) return found;
      await frame();
    }
    throw new Error('not shown: ' + what);
  };
`;

/** In the page: records the duration of each frame in ms from now on, in `window.frames`. */
export const RECORD_FRAMES = `
  window.frames = [];
  {
    let before = performance.now();
    const tick = (now) => {
      window.frames.push(now - before);
      before = now;
      requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }
`;

/** The result of durations of frames in ms: at p95, two frames of 60 a second. */
export function framesResult(measure: string, frames: readonly number[]): Result {
  const longest = Math.round(Math.max(...frames));
  return compareP95(measure, frames, atMost(34), [
    `two frames of 60 a second; longest ${longest} ms`,
  ]);
}

/** The result of samples in ms with a bound on their p95. */
export function compareP95(
  measure: string,
  samples: readonly number[],
  bound: Bound,
  notes: readonly string[],
): Result {
  const ours = figure(samples);
  const value = ours.p95 ?? Number.NaN;
  return compare({
    measure,
    unit: 'ms',
    ours,
    value,
    bound,
    notes: ['the bound is on p95', ...notes],
  });
}
