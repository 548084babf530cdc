import { type Browser, chromium, type Page } from 'playwright-core';
import { request } from 'undici';
import { findChromium } from '../../scripts/stack/chromium.mjs';
import { fanOut } from '../graphs.ts';
import { atMost, compare, figure, type Result, single } from '../result.ts';
import type { Stack } from '../stack.ts';
import { median } from '../statistics.ts';

const steps = 1_000;
const rounds = 7;
const SHOWN_WITHIN_MS = 30_000;
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
 * Clicks the first step as soon as it appears. Returns, in ms since navigation, when the run's data had arrived, when
 * the step was shown as selected, and when the graph was drawn.
 */
const opened = (runId: string): string => `
  (async () => {
    const frame = () => new Promise(requestAnimationFrame);
    const until = async (what) => {
      for (;;) {
        const found = what();
        if (found) return found;
        await frame();
      }
    };
    const step = await until(() => document.querySelector('table[aria-label="Steps"] tbody button'));
    step.click();
    await until(() => document.querySelector('table[aria-label="Steps"] tbody [aria-pressed="true"]'));
    await frame();
    const usable = performance.now();
    await until(() => document.querySelector('.react-flow__node'));
    await frame();
    const drawn = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { responseEnd: data } = performance
      .getEntriesByType('resource')
      .find(({ name }) => new URL(name).pathname === '/api/runs/${runId}');
    return { data, usable, drawn, tasks: window.longTasks };
  })()
`;

/** Scrolls through all steps, a little per frame, and returns the duration of each frame in ms. */
const SCROLL = `
  (async () => {
    const list = document.querySelector('[aria-label="Steps, scrollable"]');
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
  usable: number;
  drawn: number;
  tasks: { startTime: number; duration: number }[];
}

/** The cost of the console in the browser: the first load, and the page of a run with a thousand steps. */
export async function consoleMeasure(stack: Stack): Promise<Result[]> {
  const executablePath = findChromium(process.env);
  if (executablePath === undefined) {
    throw new Error('there is no Chromium or Chrome on this machine: set CHROMIUM_PATH');
  }
  const workflow = await stack.service.define('A thousand tools', fanOut(steps));
  const runId = await stack.service.run(workflow);
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    return [
      await firstLoad(browser, stack.apiUrl),
      ...(await bigRun(browser, stack.apiUrl, runId)),
    ];
  } finally {
    await browser.close();
    await stack.service.remove(workflow);
  }
}

/** Resolves when the overview shows its figures, in ms since navigation. */
const FIGURES = `
  new Promise((resolve) => {
    const look = () => {
      const shown = [...document.querySelectorAll('h1')].some((title) => title.textContent === 'Overview')
        && document.body.innerText.includes('Success rate');
      if (shown) resolve(performance.now());
      else requestAnimationFrame(look);
    };
    look();
  })
`;

/** The scripts requested before the overview showed its figures, in gzip size. */
async function firstLoad(browser: Browser, url: string): Promise<Result> {
  const scripts = await inNewProfile(browser, async (page) => {
    await page.goto(url, { waitUntil: 'commit' });
    const shown = await page.evaluate<number>(FIGURES);
    await page.getByText('Show as a table').first().waitFor();
    await page.waitForLoadState('networkidle');
    const loaded = await page.evaluate<{ name: string; startTime: number }[]>(
      `performance.getEntriesByType('resource').map(({ name, startTime }) => ({ name, startTime }))`,
    );
    return loaded
      .filter(({ name }) => name.endsWith('.js'))
      .map(({ name, startTime }) => ({ url: name, early: startTime <= shown }));
  });
  const sizes = await Promise.all(
    scripts.map(async ({ early, url: script }) => ({ early, size: await gzipSize(script) })),
  );
  const sum = (of: { size: number }[]): number => of.reduce((total, { size }) => total + size, 0);
  return compare({
    measure: 'script until the overview shows, gzip',
    unit: 'kB',
    ours: single(sum(sizes.filter(({ early }) => early)) / 1_000),
    bound: atMost(300),
    notes: [
      `${sizes.length} files and ${Math.round(sum(sizes) / 1_000)} kB with the charts, which come after it`,
    ],
  });
}

async function gzipSize(url: string): Promise<number> {
  const { headers, body } = await request(url, { headers: { 'accept-encoding': 'gzip' } });
  if (headers['content-encoding'] !== 'gzip') throw new Error(`${url} did not come as gzip`);
  return (await body.arrayBuffer()).byteLength;
}

async function bigRun(browser: Browser, url: string, runId: string): Promise<Result[]> {
  const openings: Opening[] = [];
  const frames: number[] = [];
  // The first iteration is not counted: it warms the caches of both processes, like the stack's warm-up.
  for (let round = 0; round <= rounds; round += 1) {
    await inNewProfile(browser, async (page) => {
      await page.addInitScript({ content: WATCH });
      await page.goto(`${url}/runs/${runId}`, { timeout: SHOWN_WITHIN_MS });
      const opening = await page.evaluate<Opening>(opened(runId));
      const scrolled = await page.evaluate<number[]>(SCROLL);
      if (round === 0) return;
      openings.push(opening);
      frames.push(...scrolled);
    });
  }
  const sinceData = (end: 'usable' | 'drawn') => openings.map((each) => each[end] - each.data);
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
      measure: `run page with ${steps} steps, from its data until a clicked step is shown`,
      unit: 'ms',
      ours: figure(sinceData('usable')),
      bound: atMost(1_000),
      notes: [`its graph is drawn after ${Math.round(median(sinceData('drawn')))} ms`],
    }),
    compare({
      measure: `frame while scrolling ${steps} steps`,
      unit: 'ms',
      ours: figure(frames),
      value: figure(frames).p95 ?? Number.NaN,
      bound: atMost(34),
      notes: [
        `the bound is on p95, two frames of 60 a second; longest ${Math.round(Math.max(...frames))} ms`,
      ],
    }),
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

async function inNewProfile<T>(browser: Browser, work: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(SHOWN_WITHIN_MS);
    return await work(page);
  } finally {
    await context.close();
  }
}
