import type { Browser } from 'playwright-core';
import { fanOut } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median } from '#bench/statistics.ts';
import { FRAMES, framesResult, inNewProfile, SHOWN_WITHIN_MS } from './browser.ts';

const steps = 1_000;
const rounds = 7;
/** Pixels scrolled per frame: a continuous flick of the wheel. */
const SCROLLED_PER_FRAME = 120;

/** Runs in the page before its own scripts and records long tasks of the main thread, in ms since navigation. */
const WATCH = `
  window.longTasks = [];
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) window.longTasks.push({ startTime, duration });
  }).observe({ type: 'longtask', buffered: true });
`;

/**
 * Returns, in ms since navigation, when the run's data had arrived, when the first steps were shown, when a clicked step
 * was selected, when the view of the graph was chosen, and when the graph was drawn. The steps are shown again at the end.
 */
const opened = (runId: string): string => `
  (async () => {
    ${FRAMES}
    const row = '.trace-grid [role="row"].trace-row';
    const step = await until(() => document.querySelector(row));
    await frame();
    const shown = performance.now();
    step.click();
    await until(() => document.querySelector(row + '[aria-selected="true"]'));
    await frame();
    const usable = performance.now();
    const choose = (name) =>
      [...document.querySelectorAll('[role="tab"]')].find((tab) => tab.textContent === name).click();
    choose('Graph');
    const chosen = performance.now();
    await until(() => document.querySelector('.react-flow__node'));
    await frame();
    const drawn = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { responseEnd: data } = performance
      .getEntriesByType('resource')
      .find(({ name }) => new URL(name).pathname === '/api/runs/${runId}');
    choose('Steps');
    await until(() => document.querySelector('.trace-grid')?.clientHeight);
    return { data, shown, usable, chosen, drawn, tasks: window.longTasks };
  })()
`;

/** Scrolls through all steps, a little per frame, and returns the duration of each frame in ms. */
const SCROLL = `
  (async () => {
    const list = document.querySelector('.trace-grid');
    const frames = [];
    let before = await new Promise(requestAnimationFrame);
    while (list.scrollTop + list.clientHeight < list.scrollHeight - 1) {
      list.scrollTop += ${SCROLLED_PER_FRAME};
      const now = await new Promise(requestAnimationFrame);
      frames.push(now - before);
      before = now;
    }
    return frames;
  })()
`;

interface Opening {
  data: number;
  shown: number;
  usable: number;
  chosen: number;
  drawn: number;
  tasks: { startTime: number; duration: number }[];
}

/** The page of a run with a thousand steps. */
export async function runPage(browser: Browser, { apiUrl, service }: Stack): Promise<Result[]> {
  const workflow = await service.define('A thousand tools', fanOut(steps));
  const runId = await service.run(workflow);
  const openings: Opening[] = [];
  const frames: number[] = [];
  // The first iteration is not counted: it warms the caches of both processes, like the stack's warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    await inNewProfile(browser, async (page) => {
      await page.addInitScript({ content: WATCH });
      await page.goto(`${apiUrl}/runs/${runId}`, { timeout: SHOWN_WITHIN_MS });
      const opening = await page.evaluate<Opening>(opened(runId));
      const scrolled = await page.evaluate<number[]>(SCROLL);
      if (round === 0) return;
      openings.push(opening);
      frames.push(...scrolled);
    });
  }
  await service.remove(workflow);
  if (frames.length === 0) throw new Error('the steps could not be scrolled');
  return results(openings, frames);
}

function results(openings: readonly Opening[], frames: readonly number[]): Result[] {
  const between = (start: 'data' | 'chosen', end: 'shown' | 'usable' | 'drawn') =>
    openings.map((each) => each[end] - each[start]);
  const longest = openings.map(({ data, tasks }) =>
    Math.max(
      0,
      ...tasks
        .filter(({ startTime, duration }) => startTime + duration >= data)
        .map(({ duration }) => duration),
    ),
  );
  return [
    compare({
      measure: `run page with ${steps} steps, from its data until the trace is shown`,
      unit: 'ms',
      ours: figure(between('data', 'shown')),
      bound: atMost(500),
      notes: [
        `a clicked step is selected after ${Math.round(median(between('data', 'usable')))} ms; the graph is drawn ${Math.round(median(between('chosen', 'drawn')))} ms after its view was chosen`,
      ],
    }),
    framesResult(`frame while scrolling ${steps} steps`, frames),
    compare({
      measure: `longest main-thread task while ${steps} nodes are laid out and drawn`,
      unit: 'ms',
      ours: figure(longest),
      bound: atMost(200),
      notes: [
        'tasks below 50 ms are not reported and count as 0; the layout itself is in a worker',
      ],
    }),
  ];
}
