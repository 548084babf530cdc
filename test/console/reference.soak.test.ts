import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

/** Sections are opened as long as a page is read: some hold hundreds of fields. */
const OPENED_SCREENS = 12;
const SCREENS_PER_LOOK = 6;
const MOST_OPENED_AT_ONCE = 10;
const SETTLE_MS = 300;

/** Scrolls by a screen. False at the end of the page. */
const SCROLL = `(() => {
  const before = window.scrollY;
  window.scrollBy(0, window.innerHeight);
  return window.scrollY > before;
})()`;

/** Opens the closed sections on the screen, but not the package's own menus. Returns how many it opened. */
const OPEN = `(() => {
  const closed = [...document.querySelectorAll('button[aria-expanded="false"], .show-more')].filter((button) => {
    const { top } = button.getBoundingClientRect();
    const isMenu = button.ariaHasPopup !== null || /^headlessui-(?:popover|listbox|menu)/.test(button.id);
    return top > 0 && top < window.innerHeight && !isMenu;
  });
  const opened = closed.slice(0, ${MOST_OPENED_AT_ONCE});
  for (const button of opened) button.click();
  return opened.length;
})()`;

describeConsole('every part of the API reference', (stage) => {
  test.each([
    { source: 'operations', scheme: 'light', width: 1440 },
    { source: 'operations', scheme: 'dark', width: 390 },
    { source: 'data', scheme: 'dark', width: 1440 },
    { source: 'data', scheme: 'light', width: 390 },
  ] as const)(
    'has no obstacles, with its first sections open: $source, $scheme, $width px wide',
    async ({ source, scheme, width }) => {
      const { page, context, problems } = await stage().open(`/docs/#${source}`, { scheme, width });
      const found = new Set<string>();
      let opened = 0;
      for (let screen = 0, more = true; more; screen += 1) {
        // The package draws a part when it comes into view, and does not say when that is done.
        await page.waitForTimeout(SETTLE_MS);
        if (screen < OPENED_SCREENS) opened += await page.evaluate<number>(OPEN);
        if (screen % SCREENS_PER_LOOK === 0) {
          for (const obstacle of await obstacles(page)) found.add(obstacle);
        }
        more = await page.evaluate<boolean>(SCROLL);
      }
      expect([...found]).toEqual([]);
      expect(opened).toBeGreaterThan(20);
      expect(problems).toEqual([]);
      await context.close();
    },
  );
});
