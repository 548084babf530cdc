import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

describeConsole('the API reference', (stage) => {
  test.each(['light', 'dark'] as const)(
    'has a language, the name of the product, a way back and no obstacles, %s',
    async (scheme) => {
      const { page, context, problems } = await stage().open('/docs', { scheme });
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.getByText('Create a workflow').first().waitFor();
      expect(await page.getAttribute('html', 'lang')).toBe('en');
      expect(await page.title()).toMatch(/Durable workflows/);
      expect(await obstacles(page)).toEqual([]);
      await page.getByRole('link', { name: 'Durable workflows' }).click();
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
      expect(problems).toEqual([]);
      await context.close();
    },
  );
});
