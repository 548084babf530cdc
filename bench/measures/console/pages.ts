import type { Browser, Page } from 'playwright-core';
import { chain } from '#bench/graphs.ts';
import { atMost, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median } from '#bench/statistics.ts';
import { compareP95, FRAMES, inNewProfile } from './browser.ts';

/** The sidebar's entries with the titles of their first pages, except for the one that is open initially. */
const titles = {
  Runs: 'Runs',
  Approvals: 'Approvals',
  Workflows: 'Workflows',
  Tools: 'Tools',
  Spend: 'Budgets',
  Governance: 'Policies',
  Data: 'Feeds',
} as const;
type Entry = keyof typeof titles;
const entries = Object.keys(titles) as Entry[];
const rounds = 7;
const RUNS = 20;

/** Opens an entry of the sidebar. Returns the ms until its title shows and nothing is a placeholder any more. */
const opened = (entry: string, title: string): string => `
  (async () => {
    ${FRAMES}
    const link = [...document.querySelectorAll('nav a')].find((each) => each.textContent.startsWith('${entry}'));
    const begun = performance.now();
    link.click();
    await until(() => document.querySelector('main h1')?.textContent === '${title}'
      && document.querySelector('main .mantine-Skeleton-root') === null);
    await frame();
    return performance.now() - begun;
  })()
`;

interface Change {
  entry: Entry;
  ms: number;
}

/** How long a change of page takes, with its code and data in the cache and without. */
export async function pages(browser: Browser, { apiUrl, service }: Stack): Promise<Result[]> {
  const workflow = await service.define('Pages', chain(3));
  for (let run = 0; run < RUNS; run += 1) await service.run(workflow);
  const first: Change[] = [];
  const again: Change[] = [];
  const through = async (page: Page, into: Change[]): Promise<void> => {
    for (const entry of entries) {
      into.push({ entry, ms: await page.evaluate<number>(opened(entry, titles[entry])) });
      await page.waitForLoadState('networkidle');
    }
    await page.evaluate(opened('Overview', 'Overview'));
    await page.waitForLoadState('networkidle');
  };
  for (let round = 0; round <= rounds; round += 1) {
    await inNewProfile(browser, async (page) => {
      await page.goto(apiUrl);
      await page.getByText('Success rate').first().waitFor();
      await page.waitForLoadState('networkidle');
      await through(page, round === 0 ? [] : first);
      await through(page, round === 0 ? [] : again);
    });
  }
  await service.remove(workflow);
  return [
    resultOf('change of page, code and data not in the cache', first, 500),
    resultOf('change of page, data in the cache', again, 200),
  ];
}

function resultOf(measure: string, changes: readonly Change[], most: number): Result {
  const medians = entries.map((entry) => ({
    entry,
    ms: median(changes.filter((change) => change.entry === entry).map(({ ms }) => ms)),
  }));
  const slowest = medians.reduce((one, other) => (other.ms > one.ms ? other : one));
  const samples = changes.map(({ ms }) => ms);
  return compareP95(measure, samples, atMost(most), [
    `the slowest is ${slowest.entry}, ${Math.round(slowest.ms)} ms`,
  ]);
}
