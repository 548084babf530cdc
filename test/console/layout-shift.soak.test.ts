import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { eventually } from '#test/support/engine.ts';
import { describeConsole } from './browser.ts';

/** Above this, people notice that the page moves (the limit of the Core Web Vitals for "good"). */
const MOST_SHIFT = 0.1;
const SETTLE_MS = 700;

const paths = [
  '/',
  '/runs',
  '/approvals',
  '/approvals/decided',
  '/workflows',
  '/templates',
  '/schedules',
  '/events',
  '/queues',
  '/tools',
  '/budgets',
  '/usage',
  '/policies',
  '/audit',
  '/data',
  '/data/keys',
  '/settings',
  '/members',
  '/keys',
];

/** Sums the shifts of the page that no input of the user caused. */
const WATCH = `
  window.shift = { sum: 0, moved: [] };
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries().filter((each) => !each.hadRecentInput)) {
      window.shift.sum += entry.value;
      window.shift.moved.push(...entry.sources.map(({ node }) => node?.className ?? ''));
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

describeConsole('while a page loads', (stage) => {
  let runId: string;
  beforeAll(async () => {
    const { call, engine } = stage();
    const graph = { nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x' } }], edges: [] };
    const { body } = await call('POST', '/api/workflows', { name: 'Letters', graph });
    const { body: run } = await call('POST', `/api/workflows/${body.id}/runs`, {});
    await engine.until(run.id, ['success']);
    runId = run.id;
  });

  test.each([390, 1280])(
    'nothing moves, with or without a cache, at a width of %d',
    async (width) => {
      const { page, context, problems } = await stage().open('/no-such-page', { width });
      await context.addInitScript(WATCH);
      const found: string[] = [];
      // The second time, scripts and styles come from the cache of the browser.
      for (const cache of ['empty', 'full']) {
        for (const path of [...paths, `/runs/${runId}`, `/runs/${runId}?tab=graph&step=a`]) {
          await page.goto(stage().url + path);
          found.push(...(await shiftsOf(page)).map((each) => `${path}, cache ${cache}: ${each}`));
        }
      }
      expect(found).toEqual([]);
      expect(problems).toEqual([]);
      await context.close();
    },
    240_000,
  );
});

async function shiftsOf(page: Page): Promise<string[]> {
  await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
  await eventually(async () => (await page.getByText('Loading').count()) === 0);
  await page.waitForTimeout(SETTLE_MS);
  const shift = await page.evaluate<{ sum: number; moved: string[] }>('window.shift');
  return shift.sum <= MOST_SHIFT ? [] : [`${shift.sum.toFixed(3)} of ${shift.moved.join(' ')}`];
}
