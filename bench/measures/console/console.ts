import type { Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { inBrowser } from './browser.ts';
import { editor } from './editor.ts';
import { firstLoad } from './first-load.ts';
import { pages } from './pages.ts';
import { runPage } from './run-page.ts';

/** The console in a real browser: the first load, the change of pages, a run with many steps and a large graph. */
export const consoleMeasure = (stack: Stack): Promise<Result[]> =>
  inBrowser(async (browser) => [
    ...(await firstLoad(browser, stack)),
    ...(await pages(browser, stack)),
    ...(await runPage(browser, stack)),
    ...(await editor(browser, stack)),
  ]);
