import type { Browser } from 'playwright-core';
import { request } from 'undici';
import { atMost, compare, figure, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { FRAMES, inNewProfile } from './browser.ts';

const rounds = 7;

/** Runs before the scripts of the page and keeps its largest contentful paint, in ms since navigation. */
const WATCH = `
  window.largestPaint = 0;
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) window.largestPaint = startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
`;

/** Resolves when the overview shows its figures, in ms since navigation. */
const FIGURES = `
  (async () => {
    ${FRAMES}
    await until(() => [...document.querySelectorAll('h1')].some((title) => title.textContent === 'Overview')
      && document.body.innerText.includes('Success rate'));
    return performance.now();
  })()
`;

interface LoadedFile {
  url: string;
  /** Requested before the overview showed its figures. */
  early: boolean;
}

/** The scripts and fonts that the overview needs, and when its largest part is painted. */
export async function firstLoad(browser: Browser, { apiUrl }: Stack): Promise<Result[]> {
  const paints: number[] = [];
  let files: LoadedFile[] = [];
  // The first round warms the caches of the service.
  for (let round = 0; round <= rounds; round += 1) {
    const { paint, loaded } = await inNewProfile(browser, async (page) => {
      await page.addInitScript({ content: WATCH });
      await page.goto(apiUrl, { waitUntil: 'commit' });
      const shown = await page.evaluate<number>(FIGURES);
      await page.waitForLoadState('networkidle');
      const resources = await page.evaluate<{ name: string; startTime: number }[]>(
        `performance.getEntriesByType('resource').map(({ name, startTime }) => ({ name, startTime }))`,
      );
      return {
        paint: await page.evaluate<number>('window.largestPaint'),
        loaded: resources
          .filter(({ name }) => /\.(js|woff2)$/.test(name))
          .map(({ name, startTime }) => ({ url: name, early: startTime <= shown })),
      };
    });
    files = loaded;
    if (round > 0) paints.push(paint);
  }
  return [
    ...(await fileSizes(files)),
    compare({
      measure: 'largest contentful paint of the overview, empty cache',
      unit: 'ms',
      ours: figure(paints),
      bound: atMost(1_500),
    }),
  ];
}

async function fileSizes(files: readonly LoadedFile[]): Promise<Result[]> {
  const sizes = await Promise.all(
    files.map(async ({ early, url }) => ({ early, url, size: await sentSize(url) })),
  );
  const sum = (of: { size: number }[]): number =>
    of.reduce((total, { size }) => total + size, 0) / 1_000;
  const scripts = sizes.filter(({ url }) => url.endsWith('.js'));
  return [
    compare({
      measure: 'script until the overview shows, gzip',
      unit: 'kB',
      ours: single(sum(scripts.filter(({ early }) => early))),
      bound: atMost(260),
      notes: [
        `${scripts.length} files and ${Math.round(sum(scripts))} kB with the charts, which come after it`,
      ],
    }),
    compare({
      measure: 'fonts of the overview',
      unit: 'kB',
      ours: single(sum(sizes.filter(({ url }) => url.endsWith('.woff2')))),
      bound: atMost(120),
    }),
  ];
}

/** In bytes. Scripts are sent as gzip; fonts are compressed already. */
async function sentSize(url: string): Promise<number> {
  const { headers, body } = await request(url, { headers: { 'accept-encoding': 'gzip' } });
  if (url.endsWith('.js') && headers['content-encoding'] !== 'gzip') {
    throw new Error(`${url} did not come as gzip`);
  }
  return (await body.arrayBuffer()).byteLength;
}
