import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole } from './browser.ts';

describeConsole('the API reference', (stage) => {
  const looks = (['light', 'dark'] as const).flatMap((scheme) =>
    [390, 1440].map((width) => ({ scheme, width })),
  );
  test.each(looks)(
    'has a language, the name of the product, a way back and no obstacles, $scheme, $width px wide',
    async ({ scheme, width }) => {
      const { page, context, problems } = await stage().open('/docs', { scheme, width });
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await page.getByText('Create a workflow').first().waitFor({ state: 'attached' });
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
