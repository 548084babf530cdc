import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';
import { siteAddresses } from './site-pages.ts';

describeConsole('every page of the documentation site', (stage) => {
  test.each(siteAddresses())('%s has no obstacles, light and dark', async (address) => {
    for (const [scheme, width] of [
      ['light', 1440],
      ['dark', 390],
    ] as const) {
      const { page, context, problems } = await stage().open(address, { scheme, width });
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(problems).toEqual([]);
      await context.close();
    }
  });
});
